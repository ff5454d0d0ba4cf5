// Region: a call of the library or a section of the program, and what its name implies: the state
// of a task in the region, and what the call may wait for. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/data_flow.hpp"
#include "tracer/probe/format.hpp"

namespace poe::trace {

// The state of a task, for colours and sums.
enum class State : std::uint8_t {
    kOff,  // not started, ended, or not traced
    kComputing,
    kSending,
    kReceiving,   // or waits for a message
    kCollective,  // in a collective call
    kOther,       // in another call of the library
    kPolling,     // polls whether a message has arrived or an operation has ended
};
inline constexpr std::size_t kStates = 7;
// Returns "computing", "sending" ...
std::string_view state_word(State state);

struct Region {
    std::string name;
    State state = State::kComputing;
    bool of_user = false;          // a section of the program, not a call
    bool awaits_sender = false;    // the call may wait for a message to arrive
    bool awaits_receiver = false;  // the call may wait until a message is received
    bool starts_only = false;      // the call starts a message that a later call ends
    // The call waits for messages of the library that synchronise a window.
    bool synchronises_window = false;
    // The call takes or gives back locks of a window.
    bool locks_window = false;
    DataFlow flow = DataFlow::kNone;
    bool operator==(const Region&) const = default;
};

// Returns the region of that name. `what`: 0 a call, 1 a collective call, 2 a section of the
// program.
Region region_of(std::string name, std::uint64_t what);
// Returns the data flow of a collective operation. `call`: the region around the kCollective.
inline DataFlow flow_of(const Record& collective, const Region& call) {
    const DataFlow flow = flow_of_collective(collective.detail);
    return flow != DataFlow::kNone ? flow : call.flow;
}
// Returns the region of an id that the trace uses without defining it.
Region undefined_region(std::uint32_t id);

}  // namespace poe::trace
