// The way of long calls; see usual_way.hpp.
#include "collectives/usual_way.hpp"

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
// sums are handed on (reduce, prefix) or pieces go from one to one (index, shift). By messages
// nobody waits but for what it gets, so where each core has several members, and calls follow each
// other, a member gets more done in its turn: that tells until the copies themselves cost more.
Limits limits_of(Operation operation, std::uint32_t n) {
    const bool two = n == 2;
    switch (operation) {
        case Operation::kBcast:
        case Operation::kConcat:
            return {two ? 64_KB : kNever};
        case Operation::kCombine:
            return {two ? 256_KB : kNever};
        case Operation::kScatter:
            return two ? Limits{64_KB} : Limits{128_KB, 0, 128_KB};
        case Operation::kGather:
            return {two ? 64_KB : 256_KB};
        case Operation::kIndex:
            if (two || n > 4) return {};
            return {kNever, 6_KB, n == 3 ? 96_KB : 48_KB};
        case Operation::kShift:
            return two ? Limits{} : Limits{kNever, 8_KB, 96_KB};
        case Operation::kReduce:
        case Operation::kPrefix:
        case Operation::kSync:
            break;
    }
    return {};
}

}  // namespace

Way usual_way_of_long(const Shape& shape) noexcept {
    const Limits limits = limits_of(shape.operation, shape.n);
    if (shape.bytes >= limits.direct) return Way::kDirect;
    return shape.bytes >= limits.messages && shape.bytes < limits.messages_end ? Way::kMessages
                                                                               : Way::kShared;
}

}  // namespace poe::collectives
