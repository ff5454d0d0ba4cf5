// Implementation of activity.hpp.
#include "terminal/activity.hpp"

#include <array>

namespace poe::terminal {

std::string_view activity_word(Activity activity) {
    constexpr std::array<std::string_view, kActivities> kWords{
        "unknown",    "unstarted", "ended",     "computing", "sending",
        "collective", "idle",      "receiving", "stopped",   "failed"};
    return kWords[static_cast<std::size_t>(activity)];
}

}  // namespace poe::terminal
