// Signals as messages name them. Here, not in poe/, because what is told of daemons needs it too.
#pragma once

#include <string>

namespace poe::pm {

// "SIGSEGV"; "signal 35" for one without a name.
std::string signal_name(int signal);

// "SIGSEGV (Segmentation fault)".
std::string signal_in_words(int signal);

}  // namespace poe::pm
