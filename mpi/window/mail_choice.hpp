// MailChoice: decides for each operation on a created window whether the origin tries the target's
// mailbox (mailbox.hpp) or copies by the system at once (single_copy.hpp).
//
//   length         the mailbox is tried
//   below 4 KB     because some cache lines travel faster than a system call copies
//   4 KB or more   if it has taken less time than single copy for this kind of operation and this length. A put of 1 MB
//                  takes 23 us by the mailbox if the cores are near and 48 to 370 if they are far; 80 by single copy.
//   any            but not for a while after the target has not taken an operation
//
// To read the clock twice takes 8 % of the time of a put of 4 KB between near cores. So of
// operations below 16 KB, only one in eight is measured as soon as both ways are known, and the
// others take the way that has been cheaper.
//
// It is separate because it is pure arithmetic, tested without tasks.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>

#include "base/types.hpp"
#include "comm/matching/single_copy_tuner.hpp"
#include "mpi/window/access.hpp"

namespace poe::mpi {

// Operations of at least this length, in bytes, are measured.
inline constexpr Bytes kLeastMeasured = Bytes{4} << 10;
// All operations of at least this length are.
inline constexpr Bytes kAlwaysMeasured = Bytes{16} << 10;

// What an origin knows of one member. Not thread-safe.
class MailChoice {
  public:
    struct Way {
        bool mailbox = true;    // the operation is to be tried by the mailbox
        bool measured = false;  // and its time is to be measured
    };
    // How to carry out the next operation. `bytes` is its length at the target.
    Way choose(AccessKind kind, Bytes bytes) {
        Way way;
        if (bytes >= kLeastMeasured) {
            comm::SingleCopyTuner& known = tuner(kind);
            way.measured = bytes >= kAlwaysMeasured || !known.costs(bytes).known() ||
                           ++shorter_ % kMeasuredOneIn == 0;
            way.mailbox = (way.measured ? known.choose(bytes) : known.costs(bytes).best()) ==
                          comm::CopyMethod::kStream;
        }
        if (!way.mailbox || skip_ == 0) return way;
        --skip_;
        way.mailbox = false;
        return way;
    }
    // The same for an operation that is too short to be measured; nothing is counted.
    bool would_try_short() const noexcept { return skip_ == 0; }
    // The operation was tried by the mailbox and took so long; 0: it was not measured. `listened`:
    // the target took its first piece; otherwise single copy has carried out all of it, late.
    void tried(AccessKind kind, Bytes bytes, bool listened, std::uint64_t nanoseconds) {
        misses_ = listened ? 0 : misses_ < kMostMisses ? misses_ + 1 : misses_;
        skip_ = listened ? 0 : (1u << misses_);
        if (listened) took(comm::CopyMethod::kStream, kind, bytes, nanoseconds);
    }
    // The operation was copied without a try, and took so long; 0: it was not measured.
    void copied(AccessKind kind, Bytes bytes, std::uint64_t nanoseconds) {
        took(comm::CopyMethod::kFetch, kind, bytes, nanoseconds);
    }

  private:
    static constexpr std::uint32_t kMeasuredOneIn = 8;
    // After a miss the next two operations do not try, after one more the next four, and so on.
    static constexpr std::uint32_t kMostMisses = 6;

    // If one of the tasks loses its core during an operation, this takes a hundred times as long
    // and says nothing about the cores. So a time counts as twice the known one at most; if it
    // stays longer, the cost grows by and by.
    void took(comm::CopyMethod way, AccessKind kind, Bytes bytes, std::uint64_t nanoseconds) {
        if (nanoseconds == 0) return;
        const comm::WayCosts& costs = tuner(kind).costs(bytes);
        const double known = way == comm::CopyMethod::kFetch ? costs.fetch : costs.stream;
        const auto most = static_cast<std::uint64_t>(2 * known * static_cast<double>(bytes));
        tuner(kind).took(way, bytes, known > 0 ? std::min(nanoseconds, most) : nanoseconds);
    }

    // Puts, gets and atomic operations differ: the first two copy each byte once by the system, the
    // others twice.
    using Tuners = std::array<comm::SingleCopyTuner, 3>;
    comm::SingleCopyTuner& tuner(AccessKind kind) {
        if (tuners_ == nullptr) tuners_ = std::make_unique<Tuners>();
        return (*tuners_)[is_atomic(kind) ? 2 : kind == AccessKind::kGet ? 1 : 0];
    }

    std::uint32_t skip_ = 0;
    std::uint32_t misses_ = 0;
    std::uint32_t shorter_ = 0;  // operations below kAlwaysMeasured, if both ways are known
    // Null until the first operation that is measured, because most members have none.
    std::unique_ptr<Tuners> tuners_;
};

}  // namespace poe::mpi
