// How fast the network takes what this task sends, found out from the system's records of its
// connections.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "base/types.hpp"

namespace poe::comm {

// What a connection has sent since it was made.
struct ConnectionUse {
    TaskId peer = 0;
    std::uint64_t acknowledged = 0;  // bytes
    std::uint64_t segments = 0;      // with data, sent
    std::uint64_t repeated = 0;      // segments
    std::uint64_t segment_bytes = 0;
    std::chrono::microseconds round_trip{0};  // the shortest one
    // How long it had data to send or to be acknowledged, without the time for which the receiver
    // had no room.
    std::chrono::microseconds busy{0};
};

// Reads the system's record of a connected socket. All zero if the system keeps none.
ConnectionUse use_of_connection(int fd, TaskId peer) noexcept;

// Returns the microseconds that a byte took between two looks at the connections of a task; 0 if
// that cannot be told: too little was sent, in small pieces, segments were lost, or most of the
// time may have been that of late acknowledgements. Connections that send at the same time share a
// cable, so the time is that of the busiest one, in the middle between its busy time with and
// without acknowledgements that are as late as possible. `transfers`: the number of long transfers
// meanwhile. Pure.
double time_of_byte(const std::vector<ConnectionUse>& before,
                    const std::vector<ConnectionUse>& after, unsigned transfers) noexcept;

}  // namespace poe::comm
