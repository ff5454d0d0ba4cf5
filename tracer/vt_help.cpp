// The text of vt -h.
#include "tracer/vt_options.hpp"

namespace poe::trace {

std::string vt_help_text() {
    return "Usage: vt -summary [-json] trace\n"
           "       vt -diff before after\n"
           "\n"
           "Looks at the trace of a parallel job (poe -tracelevel): a file, or the folder of its\n"
           "parts. What is damaged or cut off is left out, and named.\n"
           "\n"
           "  -summary      where the time went, who waited for whom, which messages there were\n"
           "  -json         the same as JSON\n"
           "  -diff         what is different in the second trace\n"
           "  -h, -version  this text; the version\n"
           "\n"
           "Exit status: 0, 2 an error. See also man vt.\n";
}

}  // namespace poe::trace
