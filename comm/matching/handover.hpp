// Handover: a blocking send passes a message of medium length directly from its buffer to a receive
// that is waiting at that moment. The receiver makes a single copy, instead of copy-in and copy-out
// through the ring. If no receive takes the message within a few microseconds, the sender withdraws
// the offer and sends the message through the ring, so the send still returns without the receiver.
//
// There is one offer at a time per direction, in a cache line of the pipe's control memory:
//
//   1. The sender must have no frame in progress and none queued. It writes the offer and stores
//      `word` = (n, kOffered) (release). n counts the offers.
//   2. The receiver, in any of its calls, loads `word` (acquire). If it has received all frames of
//      this sender, and a posted or waiting receive matches the message, it replaces (n, kOffered)
//      with (n, kClaimed) by compare-exchange.
//   3. The receiver copies the bytes from the sender's memory and stores (n, kDone) (release). If
//      the copy fails, it stores (n, kFailed), and the receive is as before.
//   4. After a limited time the sender replaces (n, kOffered) with (n, kWithdrawn) by
//      compare-exchange. If that fails, the offer has been claimed, and the sender waits for step
//      3.
//
// Only one of the two compare-exchanges succeeds, so the message is delivered exactly once.
// Messages stay in order. Frames sent before the offer were published before it, so a receiver that
// sees the offer sees them too, and the sender sends no frame while its offer is open.
//
// If the receiver dies between steps 2 and 3, the sender waits until pmd ends the job, as in a
// rendezvous. If the sender dies, the copy fails. The receiver checks what the sender wrote before
// using it.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/relax.hpp"
#include "base/segment/segment_layout.hpp"
#include "base/types.hpp"
#include "comm/matching/handover_choice.hpp"
#include "comm/matching/pipe.hpp"

namespace poe::comm {

struct HandoverOffer {
    std::uint64_t address = 0;
    std::uint64_t length = 0;
    std::int32_t tag = 0;
    ContextId context = kMplContext;
    FlowClass flow = FlowClass::kUser;
};

// In shared memory. Initially all zero.
struct ShmHandover {
    enum State : std::uint64_t { kNone = 0, kOffered, kClaimed, kDone, kFailed, kWithdrawn };
    static constexpr unsigned kStateBits = 3;

    static State state_of(std::uint64_t word) noexcept {
        return static_cast<State>(word & ((1u << kStateBits) - 1));
    }
    static std::uint64_t word_of(std::uint64_t number, State state) noexcept {
        return number << kStateBits | state;
    }

    alignas(kLine) std::atomic<std::uint64_t> word;
    HandoverOffer offer;
    // The lengths for which fetching is cheaper (HandoverLengths). Only the receiver writes it,
    // rarely.
    alignas(kLine) std::atomic<std::uint32_t> cheaper;
};
static_assert(sizeof(ShmHandover) == 2 * kLine);

// The sender's half. For one thread. No function blocks.
class HandoverSender {
  public:
    explicit HandoverSender(ShmHandover& shared) noexcept : shared_(shared) {}

    HandoverLengths cheaper() const noexcept {
        return HandoverLengths(shared_.cheaper.load(std::memory_order_relaxed));
    }
    void offer(const HandoverOffer& what) noexcept {
        shared_.offer = what;
        shared_.word.store(ShmHandover::word_of(++number_, ShmHandover::kOffered),
                           std::memory_order_release);
    }
    ShmHandover::State state() const noexcept {
        return ShmHandover::state_of(shared_.word.load(std::memory_order_acquire));
    }
    // Returns true if the offer is withdrawn, so that it will not be taken; false if the receiver
    // has claimed it.
    bool withdraw() noexcept {
        std::uint64_t word = ShmHandover::word_of(number_, ShmHandover::kOffered);
        return shared_.word.compare_exchange_strong(
            word, ShmHandover::word_of(number_, ShmHandover::kWithdrawn));
    }

  private:
    ShmHandover& shared_;
    std::uint64_t number_ = 0;
};

// The receiver's half. For one thread. No function blocks.
class HandoverReceiver {
  public:
    explicit HandoverReceiver(ShmHandover& shared) noexcept : shared_(shared) {}

    bool offered() const noexcept {
        return ShmHandover::state_of(shared_.word.load(std::memory_order_relaxed)) ==
               ShmHandover::kOffered;
    }
    // Stores the open offer in `what` and returns true, or returns false if there is none. Another
    // process wrote the offer, so the caller must check it. Call before claim().
    bool look(HandoverOffer& what) noexcept {
        word_ = shared_.word.load(std::memory_order_acquire);
        if (ShmHandover::state_of(word_) != ShmHandover::kOffered) return false;
        what = shared_.offer;
        return true;
    }
    // Returns true if this task has claimed the offer that look() returned; it must then call
    // conclude(). Returns false if the sender has withdrawn the offer.
    bool claim() noexcept {
        std::uint64_t expected = word_;
        return shared_.word.compare_exchange_strong(expected, in_state(ShmHandover::kClaimed));
    }
    void conclude(bool done) noexcept {
        shared_.word.store(in_state(done ? ShmHandover::kDone : ShmHandover::kFailed),
                           std::memory_order_release);
    }
    void say_cheaper(HandoverLengths lengths) noexcept {
        shared_.cheaper.store(lengths.bits(), std::memory_order_relaxed);
    }

  private:
    std::uint64_t in_state(ShmHandover::State state) const noexcept {
        return ShmHandover::word_of(word_ >> ShmHandover::kStateBits, state);
    }
    ShmHandover& shared_;
    std::uint64_t word_ = 0;
};

}  // namespace poe::comm
