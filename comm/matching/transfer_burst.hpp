// TransferBurst: decides how the bytes of announced messages come from one peer, and measures what
// each way costs. A burst begins when a message is accepted while no other is in progress. It ends
// when no message is in progress any more, or after kLongest messages. All messages of a burst come
// the same way, because the two ways delay each other: a task that fetches does not empty the ring.
// For the same reason the burst is measured as a whole: the time of one of many concurrent messages
// depends on the others. It is pure arithmetic, tested without messages.
#pragma once

#include <cstdint>
#include <optional>

#include "base/types.hpp"
#include "comm/matching/single_copy_tuner.hpp"

namespace poe::comm {

// State of one pipe. Not thread-safe. Times are in nanoseconds, of any clock that does not run
// backwards.
class TransferBurst {
  public:
    bool in_progress() const noexcept { return open_ > 0; }

    // Accepts a message of `length` bytes and returns how its bytes are to be moved. This is
    // `forced` if it is given; otherwise `costs` chooses at the beginning of the burst.
    CopyMethod begin(Bytes length, std::uint64_t now_ns, SingleCopyTuner& costs,
                     std::optional<CopyMethod> forced = std::nullopt) noexcept {
        if (!in_progress() || (messages_ >= kLongest && moved_ > 0)) {
            conclude(now_ns, costs);
            const CopyMethod before = way_;
            way_ = costs.choose(length);
            length_ = length;
            older_ = way_ == before ? 0 : open_;
            spoiled_ = false;
            restart(now_ns);
        }
        if (forced) way_ = *forced;
        if (!SingleCopyTuner::similar(length, length_)) spoiled_ = true;
        ++messages_;
        ++open_;
        return way_;
    }

    // All bytes of a message have come.
    void end(Bytes length, std::uint64_t now_ns, SingleCopyTuner& costs) noexcept {
        if (older_ == 0) {
            moved_ += length;
        } else if (--older_ == 0) {
            restart(now_ns);
        }
        if (--open_ == 0) conclude(now_ns, costs);
    }

    // A message will not be completed.
    void abandon() noexcept {
        --open_;
        spoiled_ = true;
    }

    // Something else takes time during this burst, so it is not measured.
    void disturb() noexcept { spoiled_ = true; }

  private:
    // After so many messages a burst is measured and the way is chosen again, although messages are
    // in progress.
    static constexpr std::uint32_t kLongest = 64;

    void restart(std::uint64_t now_ns) noexcept {
        since_ns_ = now_ns;
        messages_ = 0;
        moved_ = 0;
    }

    void conclude(std::uint64_t now_ns, SingleCopyTuner& costs) noexcept {
        if (spoiled_ || moved_ == 0) return;
        const double share = static_cast<double>(length_) / static_cast<double>(moved_);
        costs.took(way_, length_,
                   static_cast<std::uint64_t>(static_cast<double>(now_ns - since_ns_) * share));
        moved_ = 0;
    }

    CopyMethod way_ = CopyMethod::kFetch;
    bool spoiled_ = false;        // the burst is not measured
    std::uint32_t open_ = 0;      // messages in progress
    std::uint32_t older_ = 0;     // of these: accepted before the way was changed; they end first
    std::uint32_t messages_ = 0;  // accepted since since_ns_
    Bytes length_ = 0;            // of the burst's first message
    Bytes moved_ = 0;             // since since_ns_, by messages that came this way
    std::uint64_t since_ns_ = 0;
};

}  // namespace poe::comm
