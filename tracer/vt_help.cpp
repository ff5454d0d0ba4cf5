// The text of vt -h.
#include "tracer/vt_options.hpp"

namespace poe::trace {

std::string vt_help_text() {
    return "Usage: vt trace\n"
           "       vt -summary [-json] trace\n"
           "       vt -diff before after\n"
           "       vt -view NAME [-from T] [-to T] [-at T] [-size 100x30] [-o FILE] trace\n"
           "       vt -merge FOLDER [-o FILE]\n"
           "       vt -export csv|chrome|perfetto|otf2 [-from T] [-to T] [-tasks LIST] [-o FILE] "
           "trace\n"
           "\n"
           "Plays the trace of a parallel job (poe -tracelevel), forwards and backwards, in many\n"
           "views. A trace is a file, or the folder of its parts, also that of a job that runs;\n"
           "or an archive of OTF2 (NAME.otf2).\n"
           "What is damaged or cut off is left out, and named. On the screen, ? shows all keys.\n"
           "\n"
           "  -summary      where the time went, who waited for whom, which messages there were\n"
           "  -json         the same as JSON\n"
           "  -diff         what is different in the second trace\n"
           "  -merge        make one file of the parts in a folder, as poe does at the end\n"
           "  -view NAME    one view as text, or as a figure: timeline, stream, matrix,\n"
           "                connections, messages, balance, utilization, calls, markers, system,\n"
           "                source\n"
           "  -export NAME  all events for other tools: csv, chrome, perfetto, otf2\n"
           "  -from, -to T  the stretch: 1.2s, 300ms, 2:05, or 40% of all\n"
           "  -at T         the moment of a view; its end if not given\n"
           "  -tasks LIST   as in 0-3,7: events of these tasks only; a view begins with the first\n"
           "  -norepair     leaves clocks as they were measured, though messages arrive before\n"
           "                they were sent\n"
           "  -size CxL     columns and lines of a view\n"
           "  -lines        lines of messages in the time line\n"
           "  -o FILE       where to: .svg or .png at the end of it makes a figure of a view\n"
           "  -h, -version  this text; the version\n"
           "\n"
           "Exit status: 0, 2 an error, 128 and its number after a signal. See also man vt.\n";
}

}  // namespace poe::trace
