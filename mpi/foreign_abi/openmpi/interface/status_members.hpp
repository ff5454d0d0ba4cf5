// The members of a status of Open MPI that the standard's interface has in another form.
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
    return {static_cast<std::int64_t>(status.bytes), status.cancelled != 0};
}

inline void set_received(Status& status, const Received& received) noexcept {
    status.bytes = static_cast<std::size_t>(received.bytes);
    status.cancelled = received.cancelled ? 1 : 0;
}

}  // namespace poe::mpi::foreign
