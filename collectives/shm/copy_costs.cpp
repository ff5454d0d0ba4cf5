// What copies cost; see copy_costs.hpp.
#include "collectives/shm/copy_costs.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <sys/uio.h>
#include <unistd.h>
#include <vector>

namespace poe::collectives {
namespace {

// Long enough that the cost of each byte shows, and short enough for a core's cache.
constexpr Bytes kLong = Bytes{64} << 10;
constexpr Bytes kShort = 64;
constexpr int kTimes = 9;

// Returns the shortest time of several calls, in ns. The minimum is the time without interruptions,
// and in the first calls memory and caches are cold.
template <typename Work>
double fastest(const Work& work) {
    double best = std::numeric_limits<double>::max();
    for (int i = 0; i < kTimes; ++i) {
        const auto start = std::chrono::steady_clock::now();
        work();
        const std::chrono::duration<double, std::nano> took =
            std::chrono::steady_clock::now() - start;
        best = std::min(best, took.count());
    }
    return best;
}

}  // namespace

CopyCosts measure_copy_costs() noexcept {
    std::vector<std::byte> memory(2 * kLong);
    std::byte* const from = memory.data();
    std::byte* const to = from + kLong;
    bool permitted = true;
    const auto single = [&](Bytes bytes) {
        return fastest([&] {
            const iovec here{to, bytes};
            const iovec there{from, bytes};
            const ssize_t copied = ::process_vm_readv(::getpid(), &here, 1, &there, 1, 0);
            permitted = permitted && copied == static_cast<ssize_t>(bytes);
        });
    };
    const double copy = fastest([&] {
        std::memcpy(to, from, kLong);
        // Keeps the compiler from removing copies whose result is not read.
        asm volatile("" : : "r"(to) : "memory");
    });
    CopyCosts costs;
    costs.shared_per_byte = copy / static_cast<double>(kLong);
    costs.single_start = single(kShort);
    costs.single_per_byte =
        std::max(0.0, single(kLong) - costs.single_start) / static_cast<double>(kLong - kShort);
    if (!permitted) costs.single_per_byte = std::numeric_limits<double>::infinity();
    return costs;
}

double shared_copies_of(const Shape& shape) noexcept {
    switch (shape.operation) {
        case Operation::kIndex:
        case Operation::kShift:
        case Operation::kScatter:
        case Operation::kGather:
            return 2;
        case Operation::kBcast:
            return shape.n == 2 ? 2 : 0;
        case Operation::kConcat:
            // One copy into the slot, which all others read.
            return shape.n / (shape.n - 1.0);
        case Operation::kReduce:
            // Combining reads the contribution from the slot, so there is no separate copy out.
            return shape.n == 2 ? 1.5 : 0;
        default:
            return 0;
    }
}

Bytes shortest_single_copy(const CopyCosts& costs, const Shape& shape) noexcept {
    const double gain = shared_copies_of(shape) * costs.shared_per_byte - costs.single_per_byte;
    if (gain <= 0) return kNeverShorter;
    // With two members, each copies one half of the bytes, unless both give.
    const bool both_give = shape.operation == Operation::kIndex ||
                           shape.operation == Operation::kShift ||
                           shape.operation == Operation::kConcat;
    const double bytes = std::ceil(costs.single_start / gain) * (shape.n > 2 || both_give ? 1 : 2);
    return bytes < 1e15 ? static_cast<Bytes>(bytes) : kNeverShorter;
}

}  // namespace poe::collectives
