// Target: serves the operations of other tasks on this task's part of a window.
//
// An operation is carried out in three steps:
//   1. Its message is received. It begins with an Access.
//   2. When all earlier operations of the same origin have been carried out, data that did not fit
//      are received: those of a put into the window, those of an accumulate into a buffer.
//   3. The operation is carried out, and what it gives is sent to the origin.
//
// Invariants:
//   - Operations of one origin take effect in the order in which they were started. Therefore an
//     answer to kFlush or kUnlock means that all earlier ones have taken effect.
//   - An operation for which is_atomic() is true takes effect in one call of apply(), which holds
//     the accumulate lock of this part of the window if other tasks have mapped it
//     (shared_memory.hpp).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <vector>

#include "comm/bootstrap/runtime.hpp"
#include "mpi/object/fault.hpp"
#include "mpi/window/lock_queue.hpp"
#include "mpi/window/target_type.hpp"
#include "mpi/window/window.hpp"

namespace poe::mpi {

class Target {
  public:
    Target(comm::Runtime& runtime, Window& window) noexcept : runtime_(runtime), window_(window) {}

    // Continues all operations of others as far as possible. Never blocks.
    void serve(comm::MessageLayer& messages);
    // True if nothing that this task has sent as a target is still on its way.
    bool idle() const noexcept { return incoming_.empty() && outgoing_.empty(); }

    // For this task as its own origin.
    LockQueue& locks() noexcept { return locks_; }
    bool own_lock_granted() const noexcept { return own_lock_; }
    // Grants what can be granted.
    void grant_locks();
    void release_own_lock();
    // Releases the locks of members that have ended.
    void drop_locks_of_the_dead();

  private:
    // An operation that has not been carried out.
    struct Incoming {
        TaskId source = 0;
        comm::ReceiveRequest receive;  // of the message, then of the data
        std::vector<std::byte> message;
        std::vector<std::byte> data;
        Access access;
        TargetType type;
        TypedLayout layout;
        std::byte* memory = nullptr;  // null: refused
        enum class Step : std::uint8_t { kMessage, kTurn, kData, kDone } step = Step::kMessage;
    };
    // A message to an origin.
    struct Outgoing {
        comm::SendRequest send;
        TargetType type;
        TypedLayout layout;
        std::vector<std::byte> data;
    };

    void accept(comm::MessageLayer& messages);
    bool first_of_source(const Incoming& one) const noexcept;
    void advance(comm::MessageLayer& messages, Incoming& one);
    bool unpack(Incoming& one);
    std::span<const std::byte> inside(const Incoming& one) const noexcept;
    void begin_data(comm::MessageLayer& messages, Incoming& one);
    void apply(comm::MessageLayer& messages, Incoming& one);
    void synchronise(comm::MessageLayer& messages, const Incoming& one);
    void send_code(TaskId to, std::uint32_t number, std::int32_t code);
    void send(comm::MessageLayer& messages, std::unique_ptr<Outgoing> message, TaskId to,
              std::uint32_t number);

    comm::Runtime& runtime_;
    Window& window_;
    std::list<Incoming> incoming_;  // in the order of arrival
    std::list<std::unique_ptr<Outgoing>> outgoing_;
    std::map<TaskId, std::int32_t>
        refusals_;  // the errors of operations that were refused, by origin
    LockQueue locks_;
    bool own_lock_ = false;
    unsigned visits_ = 0;
    std::chrono::steady_clock::time_point last_drop_{};
};

// Returns the address in this task of an operation's first byte at `displacement`, if the whole of
// [lower, upper) lies in the window; null otherwise.
std::byte* address_in(const Window& window, const Access& access) noexcept;

}  // namespace poe::mpi
