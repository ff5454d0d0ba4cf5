// The names of the operations, and the neighbours in a shift.
#include "collectives/schedule/shape.hpp"

namespace poe::collectives {

const char* name_of(Operation operation) noexcept {
    constexpr const char* kNames[kOperations] = {"bcast",  "reduce", "combine", "prefix", "scatter",
                                                 "gather", "concat", "index",   "shift",  "sync"};
    return kNames[static_cast<std::size_t>(operation)];
}

std::uint32_t shifted(const Shape& shape, std::uint32_t rank, std::int64_t step) noexcept {
    const auto n = static_cast<std::int64_t>(shape.n);
    const std::int64_t at = std::int64_t{rank} + step;
    if (!shape.circular && (at < 0 || at >= n)) return shape.n;
    return static_cast<std::uint32_t>((at % n + n) % n);
}

}  // namespace poe::collectives
