// The names of signals in messages. Not in poe/, because messages about daemons need them, too.
#pragma once

#include <string>

namespace poe::pm {

// "SIGSEGV"; "signal 35" if the signal has no name.
std::string signal_name(int signal);

// "SIGSEGV (Segmentation fault)".
std::string signal_in_words(int signal);

}  // namespace poe::pm
