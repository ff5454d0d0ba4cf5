// SingleCopyTuner: decides for each long message whether the receiver fetches it from the sender's
// memory with one system call (single copy, by one processor) or the sender streams it through the
// ring (copy-in/copy-out, by both processors in parallel). Which is faster depends on the
// processor, the kernel and the cores on which the two tasks run: a message of 64 KB takes 3.3 us
// fetched and 6.1 us streamed on one machine, 7.6 and 6.9 us on another. Therefore the receiver
// measures both ways for each class of lengths and uses the cheaper one. It occasionally tries the
// other way: often at the start, when memory and caches are cold, and later the more rarely the
// more the other way costs, so that these trials take at most about 3 % of the time. Announced
// messages are measured in bursts (transfer_burst.hpp). Long one-sided operations are measured in
// the same way (mpi/window/mail_choice.hpp). It is separate because it is pure arithmetic, tested
// without messages.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "base/types.hpp"

namespace poe::comm {

enum class CopyMethod : std::uint8_t { kFetch = 0, kStream = 1 };

// The cost of each way for messages of similar length.
struct WayCosts {
    double fetch = 0;   // nanoseconds per byte; 0: not measured yet
    double stream = 0;  // likewise

    // Returns the cheaper way. A way that has not been measured counts as the cheaper one, so that
    // it will be measured. Fetching comes first, because one measurement of it is most informative.
    CopyMethod best() const noexcept {
        return fetch <= stream ? CopyMethod::kFetch : CopyMethod::kStream;
    }
    bool known() const noexcept { return fetch > 0 && stream > 0; }
};

// State of one pipe. Not thread-safe.
class SingleCopyTuner {
  public:
    // True if messages of these lengths share one measurement.
    static bool similar(Bytes a, Bytes b) noexcept { return index_of(a) == index_of(b); }

    // Returns how to receive the next message of `length` bytes, or the next burst of such
    // messages.
    CopyMethod choose(Bytes length) noexcept {
        Class& of = class_of(length);
        const CopyMethod best = of.costs.best();
        if (++of.since_other < std::min(of.gap, longest_gap(of.costs))) return best;
        of.since_other = 0;
        of.gap = std::min(2 * of.gap, kLongestGap);
        return best == CopyMethod::kFetch ? CopyMethod::kStream : CopyMethod::kFetch;
    }

    // Records that a message took this long, from the decision to its last byte.
    void took(CopyMethod way, Bytes length, std::uint64_t nanoseconds) noexcept {
        if (length == 0) return;
        WayCosts& costs = class_of(length).costs;
        double& cost = way == CopyMethod::kFetch ? costs.fetch : costs.stream;
        const double now = static_cast<double>(nanoseconds) / static_cast<double>(length);
        // A sender that was busy elsewhere makes a time longer, never shorter. The estimate is
        // therefore the minimum, which is forgotten slowly.
        cost = now < cost || cost == 0 ? now : cost + (now - cost) / kForget;
    }

    const WayCosts& costs(Bytes length) noexcept { return class_of(length).costs; }

  private:
    // The number of messages between two trials of the other way: two at the start, then twice as
    // many each time, up to kTryOther times the ratio of the two costs.
    static constexpr std::uint32_t kFirstGap = 2;
    static constexpr std::uint32_t kTryOther = 32;
    static constexpr std::uint32_t kLongestGap = 8 * kTryOther;
    static constexpr double kForget = 16;
    static constexpr unsigned kClasses = 32;

    struct Class {
        WayCosts costs;
        std::uint32_t since_other = 0;  // messages
        std::uint32_t gap = kFirstGap;
    };
    static std::uint32_t longest_gap(const WayCosts& costs) noexcept {
        if (!costs.known()) return kLongestGap;
        const double ratio =
            std::max(costs.fetch, costs.stream) / std::min(costs.fetch, costs.stream);
        constexpr double kMost = double{kLongestGap} / kTryOther;
        return static_cast<std::uint32_t>(kTryOther * std::min(ratio, kMost));
    }
    // Classes are powers of two. Common lengths just below a power of two belong to the same class
    // as the power itself.
    static unsigned index_of(Bytes length) noexcept {
        const auto index = static_cast<unsigned>(std::bit_width(length > 0 ? length - 1 : 0));
        return index < kClasses ? index : kClasses - 1;
    }
    Class& class_of(Bytes length) noexcept { return classes_[index_of(length)]; }
    std::array<Class, kClasses> classes_;
};

}  // namespace poe::comm
