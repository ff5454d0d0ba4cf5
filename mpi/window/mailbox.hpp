// Mailbox: an origin hands operations to a target that is just waiting in a call of MPI, because
// two cache lines travel faster than a system call copies (single_copy.hpp). For created windows
// with all members on one node. Each member has a mailbox in the SharedMemory of the window;
// origins write it, its owner empties it.
//
//   word     value      stored by    meaning
//   claims   bit i      the origins  an origin uses slot i; in a line of its own, which the target does not read
//   state    kIdle      the origin   there is nothing to do
//            kPosted    the origin   the target may take the operation; the origin may withdraw it
//            kTaken     the target   the target carries the operation out; it cannot be withdrawn
//            kDone      the target   the operation has taken effect, and its result is in the slot
//
// An operation has these steps:
//   1. The origin claims a slot, writes the operation and its data, and stores kPosted (release).
//   2. The target looks at its slots whenever it polls for messages, and changes kPosted to kTaken.
//      It carries the operation out and stores kDone (release).
//   3. The origin copies the result and clears its claim.
// If the target does not take the operation within about the time of a system call, because it
// computes or sleeps, the origin changes kPosted to kIdle and accesses the target's memory by
// itself. Both changes are compare-and-swap, so exactly one of the two tasks carries the operation
// out.
//
// Long operations are cut into pieces, several of which are under way at the same time, so that
// origin and target copy in parallel.
//
// Invariant: hand_over() returns after the whole operation has taken effect. So operations of one
// origin take effect in their order, however they are carried out. If an origin dies, a slot may
// stay claimed; the others use the remaining slots, or none.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/types.hpp"
#include "mpi/object/fault.hpp"
#include "mpi/window/access.hpp"

namespace poe::mpi {

inline constexpr std::size_t kMailSlots = 4;
inline constexpr Bytes kMailPieceBytes = 16 << 10;

enum class MailState : std::uint32_t { kIdle, kPosted, kTaken, kDone };

// An operation on contiguous bytes of the target's window, or a batch of such operations
// (batch.hpp).
struct Mail {
    AccessKind kind = AccessKind::kPut;
    bool batch = false;             // the data are the records of a batch, and only `bytes` counts
    std::uint16_t element = 0;      // code of the predefined datatype; 0: any
    std::uint16_t operation = 0;    // value of the handle of a predefined operation
    std::uint32_t bytes = 0;        // of the target
    std::int64_t displacement = 0;  // in bytes from the window's base

    // The bytes that the slot must hold: those of the origin, and the result after them.
    constexpr Bytes sent() const noexcept {
        return kind == AccessKind::kCompareAndSwap ? 2 * bytes : takes_data(kind) ? bytes : 0;
    }
    constexpr Bytes held() const noexcept { return sent() + (gives_data(kind) ? bytes : 0); }
};

// Short data are in the line of the slot itself.
struct alignas(64) MailSlot {
    std::atomic<MailState> state{MailState::kIdle};
    Mail mail;
    std::array<std::byte, 32> inside;
};
static_assert(sizeof(MailSlot) == 64);

struct Mailbox {
    std::array<MailSlot, kMailSlots> slots;
    alignas(64) std::atomic<std::uint32_t> claims{0};
    alignas(4096) std::array<std::array<std::byte, kMailPieceBytes>, kMailSlots> pieces;

    std::byte* data(std::size_t slot) noexcept {
        MailSlot& one = slots[slot];
        return one.mail.held() <= one.inside.size() ? one.inside.data() : pieces[slot].data();
    }
};

// What the origin does while it waits.
class MailWait {
  public:
    virtual ~MailWait() = default;
    // Serves the origin's own mailbox. Never blocks.
    virtual void serve_own() = 0;
    // True if the target has ended.
    virtual bool target_lost() = 0;
};

// What the origin does while it waits, and instead.
class MailSender {
  public:
    virtual ~MailSender() = default;
    virtual MailWait& wait() = 0;
    // Carries out the bytes [at, at + length) of the operation without the mailbox.
    virtual Fault by_copy(Bytes at, Bytes length) = 0;
    // The fault of a target that has ended.
    virtual Fault lost_fault() = 0;
};

// Carries out an operation of `bytes` bytes. `mail` describes it but for its length; `data` are the
// origin's data and `fetched` the place of the result, null if the kind has none. A kind other than
// put and get is cut between elements of `element_bytes`. `listens` is set to whether the target
// has taken the first piece. Blocks until the operation has taken effect. The target's process must
// not be this one.
Fault hand_over(Mailbox& box, const Mail& mail, Bytes bytes, Bytes element_bytes,
                const std::byte* data, std::byte* fetched, MailSender& sender, bool& listens);

enum class Handed : std::uint8_t {
    kDone,      // the operation has taken effect
    kNotTaken,  // nothing has happened
    kLost,      // the target has ended after it had taken the operation
};

// The same for an operation that fits into the line of a slot: `mail` has its length. Blocks while
// the target carries it out. The caller decides what happens if the target does not take it.
Handed hand_over_short(Mailbox& box, const Mail& mail, const std::byte* data, std::byte* fetched,
                       MailWait& wait);

// The target's side: takes each posted operation and calls carry_out(mail, data). Returns true if
// there was any. Never blocks.
template <typename CarryOut>
bool empty_mailbox(Mailbox& box, CarryOut&& carry_out) {
    bool any = false;
    for (std::size_t i = 0; i < kMailSlots; ++i) {
        MailSlot& slot = box.slots[i];
        if (slot.state.load(std::memory_order_relaxed) != MailState::kPosted) [[likely]]
            continue;
        MailState seen = MailState::kPosted;
        if (!slot.state.compare_exchange_strong(seen, MailState::kTaken, std::memory_order_acquire))
            continue;
        carry_out(slot.mail, box.data(i));
        slot.state.store(MailState::kDone, std::memory_order_release);
        any = true;
    }
    return any;
}

}  // namespace poe::mpi
