// What a planned call is given, and how it ends: for the data movements of both kinds of lines, in
// phases (planned_exchange.hpp) and in combined messages (combined_exchange.hpp).
#pragma once

#include "base/types.hpp"
#include "comm/matching/buffer_view.hpp"
#include "comm/matching/request.hpp"

namespace poe::collectives {

// What a member sends to another one and receives from it.
struct PlannedBlock {
    comm::BufferView out;
    comm::BufferView in;
};

// How the exchange ended: with kDone if all went well. If `came` and `expected` differ, `culprit` has
// sent a message of the wrong length.
struct ExchangeEnd {
    comm::Outcome outcome = comm::Outcome::kDone;
    TaskId culprit = -1;
    Bytes came = 0;
    Bytes expected = 0;

    bool ok() const noexcept { return outcome == comm::Outcome::kDone && came == expected; }
};

}  // namespace poe::collectives
