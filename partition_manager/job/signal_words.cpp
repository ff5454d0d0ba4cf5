// See signal_words.hpp.
#include "partition_manager/job/signal_words.hpp"

#include <cstring>

namespace poe::pm {

std::string signal_name(int signal) {
    const char* short_name = ::sigabbrev_np(signal);
    return short_name != nullptr ? std::string("SIG") + short_name
                                 : "signal " + std::to_string(signal);
}

std::string signal_in_words(int signal) {
    const char* description = ::sigdescr_np(signal);
    return description != nullptr ? signal_name(signal) + " (" + description + ")"
                                  : signal_name(signal);
}

}  // namespace poe::pm
