// The text of vt -h.
#include <fmt/format.h>

#include "tracer/playback/vt_options.hpp"

namespace poe::trace {

std::string vt_help_text() {
    std::string views;
    for (const ViewName& view : view_names())
        views += fmt::format("    {:<14}{}\n", view.name, view.what);
    return "Usage: vt trace\n"
           "       vt -summary [-json] trace\n"
           "       vt -diff before after\n"
           "       vt -view NAME [-from T] [-to T] [-at T] [-size CxL] [-lines] [-o FILE] trace\n"
           "       vt -plan [-o FILE] trace\n"
           "       vt -merge FOLDER [-o FILE]\n"
           "       vt -export FORMAT [-from T] [-to T] [-tasks LIST] [-o FILE] trace\n"
           "\n"
           "Plays the trace of a parallel job (poe -tracelevel), forwards and backwards, in "
           "several "
           "views at once. A trace is a file, or the folder of its parts, also while the job runs; "
           "or an archive of OTF2 (NAME.otf2). What is damaged or cut off is left out and named. "
           "On "
           "the screen, ? shows all keys.\n"
           "\n"
           "  -summary      where the time went, who waited for whom and why, the critical\n"
           "                path, efficiencies, which messages there were\n"
           "  -json         the same as JSON\n"
           "  -diff         what is different in the second trace\n"
           "  -plan         communications whose pattern does not change, as a plan for poe -plan\n"
           "  -merge        make one file of the parts in a folder, as poe does at the end of a "
           "job\n"
           "  -view NAME    one view as text, or as a figure; the views are listed below\n"
           "  -export FORMAT\n"
           "                all events for other tools: csv, chrome, perfetto or otf2\n"
           "  -from, -to T  the stretch: 1.2s, 300ms, 2:05, or 40% of all\n"
           "  -at T         the moment of a view; the end of the stretch if not given\n"
           "  -tasks LIST   as in 0-3,7: events of these tasks only; a view begins with the first\n"
           "  -state WORD   with -view flame: only samples of this state, as computing\n"
           "  -phase NAME   with -view flame: only samples in this region of the program\n"
           "  -asleep       with -view flame: threads that sleep, instead of those that run\n"
           "  -norepair     leaves clocks as they were measured, though messages arrive before\n"
           "                they were sent\n"
           "  -size CxL     columns and lines of a view\n"
           "  -lines        messages in the time line: lines, or how many there are\n"
           "  -o FILE       where to write; .svg, .png or .pdf at its end makes a figure of a "
           "view,\n"
           "                .folded the call stacks of -view flame for other tools\n"
           "  -h, -help     this text\n"
           "  -version      the version\n"
           "\n"
           "Views:\n" +
           views +
           "\n"
           "Exit status: 0; 2 after an error; 128 and the number of a signal that ended it. See "
           "also man vt.\n";
}

}  // namespace poe::trace
