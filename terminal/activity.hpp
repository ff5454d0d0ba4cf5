// Activity: what a task is doing, shown as one word, one glyph and one color.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace poe::terminal {

// In increasing order of severity: a display shows the most severe one of a group of tasks.
enum class Activity : std::uint8_t {
    kUnknown,  // no information about the task
    kNotStarted,
    kEnded,  // with code 0
    kComputing,
    kSending,
    kCollective,  // waits in a collective call
    kIdle,        // sleeps outside MPL
    kReceiving,   // waits for a message
    kStopped,
    kFailed,  // ended with another code, or by a signal
};
inline constexpr std::size_t kActivities = 10;

// Returns "computing", "sending" ...: the words used in filters and JSON.
std::string_view activity_word(Activity activity);

}  // namespace poe::terminal
