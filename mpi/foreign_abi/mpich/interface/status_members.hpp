// The members of a status of MPICH that the standard's interface has in another form.
#pragma once

#include <cstddef>
#include <cstdint>

#include "interface/types.hpp"

namespace poe::mpi::foreign {

struct Received {
    std::int64_t bytes;
    bool cancelled;
};

inline Received received_of(const Status& status) noexcept {
    const auto high = static_cast<std::uint32_t>(status.count_high);
    return {static_cast<std::int64_t>(static_cast<std::uint64_t>(high >> 1) << 32 |
                                      static_cast<std::uint32_t>(status.count_low)),
            (high & 1) != 0};
}

inline void set_received(Status& status, const Received& received) noexcept {
    const auto bytes = static_cast<std::uint64_t>(received.bytes);
    status.count_low = static_cast<int>(static_cast<std::uint32_t>(bytes));
    status.count_high = static_cast<int>(static_cast<std::uint32_t>(bytes >> 32) << 1 |
                                         (received.cancelled ? 1u : 0u));
}

}  // namespace poe::mpi::foreign
