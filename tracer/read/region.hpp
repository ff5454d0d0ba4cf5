// Region: a call of the library or a stretch of the program, and what its name says about it: which
// state a task is in meanwhile, and for what the call may wait. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace poe::trace {

// What a task does, as far as colours and sums go.
enum class State : std::uint8_t {
    kOff,  // not begun, ended, or not traced
    kComputing,
    kSending,
    kReceiving,   // or waits for a message
    kCollective,  // in a collective call
    kOther,       // in another call of the library
    kPolling,     // asks again and again whether something has come or ended
};
inline constexpr std::size_t kStates = 7;
// "computing", "sending" ...
std::string_view state_word(State state);

struct Region {
    std::string name;
    State state = State::kComputing;
    bool of_user = false;          // a stretch of the program, no call
    bool awaits_sender = false;    // the call may wait for a message to arrive
    bool awaits_receiver = false;  // the call may wait until a message has been taken
    bool starts_only = false;      // the call starts a message that a later call ends
    bool one_to_all = false;       // a collective call in which members need the root only
    bool operator==(const Region&) const = default;
};

// The region of that name; `what`: 0 a call, 1 a collective call, 2 a stretch of the program.
Region region_of(std::string name, std::uint64_t what);
// The region of an id that the trace uses without defining it.
Region undefined_region(std::uint32_t id);

}  // namespace poe::trace
