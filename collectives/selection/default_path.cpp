// The default transport of long calls; see default_path.hpp.
#include "collectives/selection/default_path.hpp"

namespace poe::collectives {
namespace {

constexpr Bytes operator""_KB(unsigned long long number) {
    return Bytes{number} << 10;
}
constexpr Bytes kNever = ~Bytes{0};

// The lengths in bytes for which a transport is used: messages from `messages` up to (but not
// including) `messages_end`; single copy from `direct` on; shared memory otherwise.
struct Limits {
    Bytes direct = kNever;
    Bytes messages = 0;
    Bytes messages_end = 0;
};

// In shared memory, all members of a long call wait for each other, piece by piece, except in a
// reduce or prefix (pipelined_reduce.hpp) and if pairs exchange (staged_call.hpp). With messages, a
// member waits only for what it gets. If each core has several members and calls follow each other,
// a member therefore does more each time it runs. That is an advantage as long as the copies of
// messages do not cost more.
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
