// Activity: what a task is doing, in one word, one glyph and one colour of a display.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace poe::terminal {

// The more alarming the later: of a group of tasks the last one is shown.
enum class Activity : std::uint8_t {
    kUnknown,  // nothing has been heard of it
    kNotStarted,
    kEnded,  // with code 0
    kComputing,
    kSending,
    kCollective,  // waits in a collective call
    kIdle,        // sleeps outside of MPL
    kReceiving,   // waits for a message
    kStopped,
    kFailed,  // ended with another code, or by a signal
};
inline constexpr std::size_t kActivities = 10;

// "computing", "sending" ...: the words of filters and of JSON.
std::string_view activity_word(Activity activity);

}  // namespace poe::terminal
