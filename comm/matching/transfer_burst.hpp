// TransferBurst: decides how the bytes of announced messages come from one peer, and measures what each way costs.
// A burst begins when a message is accepted while no other is in progress, and ends when none is. All messages of a
// burst come the same way, because the two ways delay each other: a task that fetches does not empty the ring. For
// the same reason the burst is measured as a whole: the time of one message in a crowd says nothing about its way.
// It is pure arithmetic, tested without messages.
#pragma once

#include <cstdint>
#include <optional>

#include "base/types.hpp"
#include "comm/matching/single_copy_tuner.hpp"

namespace poe::comm {

// State of one pipe. Not thread-safe. Times are in nanoseconds, of any clock that does not run backwards.
class TransferBurst {
  public:
    bool in_progress() const noexcept { return open_ > 0; }

    // Accepts a message of `length` bytes, and returns the way that it takes: `forced`, or the choice of `costs`.
    CopyMethod begin(Bytes length, std::uint64_t now_ns, SingleCopyTuner& costs,
                     std::optional<CopyMethod> forced = std::nullopt) noexcept {
        if (!in_progress() || messages_ >= kLongest) {
            conclude(now_ns, costs);
            way_ = costs.choose(length);
            length_ = length;
            since_ns_ = now_ns;
            messages_ = 0;
            moved_ = 0;
            measured_ = true;
        }
        if (forced) way_ = *forced;
        if (!SingleCopyTuner::similar(length, length_)) measured_ = false;
        ++messages_;
        ++open_;
        return way_;
    }

    // All bytes of a message have come.
    void end(Bytes length, std::uint64_t now_ns, SingleCopyTuner& costs) noexcept {
        moved_ += length;
        if (--open_ == 0) conclude(now_ns, costs);
    }

    // A message will not be completed.
    void abandon() noexcept {
        --open_;
        measured_ = false;
    }

    // Something else takes time during this burst, so it is not measured.
    void disturb() noexcept { measured_ = false; }

  private:
    // A burst of more messages is measured and decided again, although messages are in progress.
    static constexpr std::uint32_t kLongest = 64;

    void conclude(std::uint64_t now_ns, SingleCopyTuner& costs) noexcept {
        if (!measured_ || moved_ == 0) return;
        const double share = static_cast<double>(length_) / static_cast<double>(moved_);
        costs.took(way_, length_,
                   static_cast<std::uint64_t>(static_cast<double>(now_ns - since_ns_) * share));
        measured_ = false;
    }

    CopyMethod way_ = CopyMethod::kFetch;
    bool measured_ = false;
    std::uint32_t open_ = 0;      // messages in progress
    std::uint32_t messages_ = 0;  // of this burst so far
    Bytes length_ = 0;            // of its first message
    Bytes moved_ = 0;             // by the messages of it that have ended
    std::uint64_t since_ns_ = 0;
};

}  // namespace poe::comm
