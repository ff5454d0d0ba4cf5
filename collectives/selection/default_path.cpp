// The way of long calls; see default_path.hpp.
#include "collectives/selection/default_path.hpp"

namespace poe::collectives {
namespace {

constexpr Bytes operator""_KB(unsigned long long number) {
    return Bytes{number} << 10;
}
constexpr Bytes kNever = ~Bytes{0};

// By messages from so many bytes on, up to so many; straight between memories from so many on; else
// in shared memory.
struct Limits {
    Bytes direct = kNever;
    Bytes messages = 0;
    Bytes messages_end = 0;
};

// In shared memory all members of a long call wait for each other, piece by piece, but where
// sums are handed on (reduce, prefix) or pieces go from one to one (pairwise_exchange.hpp). By messages
// nobody waits but for what it gets, so where each core has several members, and calls follow each
// other, a member gets more done in its turn: that tells until the copies themselves cost more.
Limits limits_of(Operation operation, std::uint32_t n) {
    const bool two = n == 2;
    const Bytes direct = two ? 128_KB : n <= 4 ? 256_KB : kNever;
    switch (operation) {
        case Operation::kBcast:
            return {two ? direct : kNever};
        case Operation::kScatter:
            return two ? Limits{direct} : Limits{direct, 0, 80_KB};
        case Operation::kGather:
            return {direct};
        case Operation::kIndex:
            return two || n > 4 ? Limits{} : Limits{kNever, 6_KB, 32_KB};
        default:
            return {};
    }
}

}  // namespace

Transport default_transport_of_long(const Shape& shape) noexcept {
    const Limits limits = limits_of(shape.operation, shape.n);
    if (shape.bytes >= limits.direct) return Transport::kDirect;
    return shape.bytes >= limits.messages && shape.bytes < limits.messages_end
               ? Transport::kMessages
               : Transport::kShared;
}

}  // namespace poe::collectives
