// The origin's side of operations on windows: how they are started, and how this task waits until
// they have taken effect.
//
// An operation on memory that this task sees is carried out before the call returns. Any other one
// becomes one to three messages: the Access with short data, longer data, and the answer of the
// target.
//
//   completion                     known when
//   the origin's buffers are free  the messages have been sent, and answers with data have arrived
//   the operation has taken effect in addition, the target has answered a later kFlush or kUnlock
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "comm/bootstrap/runtime.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/object/fault.hpp"
#include "mpi/point/request.hpp"
#include "mpi/window/window.hpp"

namespace poe::mpi {

// `count` elements of the datatype at the address, which is of this task.
struct OriginBuffer {
    const void* address = nullptr;
    std::int64_t count = 0;
    Datatype* type = nullptr;  // null: no buffer

    std::int64_t bytes() const noexcept { return type == nullptr ? 0 : count * type->size(); }
};

// The arguments of an operation. All datatypes are committed, counts are not negative, and the rank
// belongs to the group.
struct AccessArguments {
    AccessKind kind = AccessKind::kPut;
    OriginBuffer given;     // the data; of MPI_Compare_and_swap the new value
    OriginBuffer compared;  // MPI_Compare_and_swap
    OriginBuffer result;
    int rank = 0;
    std::int64_t displacement = 0;  // in units of the target
    std::int64_t count = 0;         // of the target's datatype
    Datatype* type = nullptr;       // the target's
    std::uint16_t operation = 0;
};

// An operation of which messages are on their way.
struct Pending {
    int rank = 0;
    std::vector<std::byte> message;
    comm::SendRequest head;
    comm::SendRequest data;
    comm::ReceiveRequest answer;
    TypedLayout data_layout;
    TypedLayout answer_layout;
    TypeReference data_type;
    TypeReference answer_type;
    std::int32_t code = 0;  // the answer to a synchronisation
    bool has_data = false;
    bool has_answer = false;

    bool over() const noexcept {
        constexpr auto kOpen = comm::Outcome::kPending;
        return head.outcome != kOpen && (!has_data || data.outcome != kOpen) &&
               (!has_answer || answer.outcome != kOpen);
    }
};

// Starts an operation. Never blocks for a message. `pending` receives what MPI_Rput and its
// relatives wait for; null if the operation has ended already as far as this task is concerned.
Fault start_access(comm::Runtime& runtime, Window& window, const AccessArguments& arguments,
                   std::shared_ptr<Pending>& pending);

// The activity of a request that stands for the operation.
WorkPtr make_access_work(comm::Runtime& runtime, Window& window, std::shared_ptr<Pending> pending);

// Sends a synchronisation to a member, which is not this task. With `answered`, the result has
// `code` after wait_for_pending().
std::shared_ptr<Pending> send_synchronisation(comm::Runtime& runtime, Window& window, int rank,
                                              AccessKind kind, bool answered);
// Blocks until the messages have ended. Returns their fault.
Fault wait_for_pending(comm::Runtime& runtime, Window& window, Pending& pending);

// True if an operation on the member may not have taken effect yet.
inline bool has_open_operations(const Window& window, const WindowMember& member) noexcept {
    return member.unflushed || !member.batch.empty() || !window.pending.empty() || window.fault;
}

// The same for all members.
inline bool has_open_operations(const Window& window) noexcept {
    for (const WindowMember& member : window.members)
        if (has_open_operations(window, member)) return true;
    return false;
}

// Serves other tasks now and then, for synchronisations that have nothing to wait for. Does not
// block for them.
//
// A program may wait for another task by a loop of operations that never wait here, so the loop
// serves the others, and gives the processor away if tasks share it. Not in each turn, because it
// costs as much as several short operations.
inline void look_at_others(comm::Runtime& runtime, Window& window) {
    constexpr unsigned kFlushesPerLook = 64;
    if (++window.idle_flushes % kFlushesPerLook != 0 || window.size() == 1) return;
    runtime.messages().progress();
    runtime.pause_between_looks();
}

// Blocks until the buffers of all operations on this member, or on all, are free.
Fault complete_locally(comm::Runtime& runtime, Window& window, int rank);
// Blocks until all operations on this member, or on all, have taken effect.
Fault complete_remotely(comm::Runtime& runtime, Window& window, int rank);

}  // namespace poe::mpi
