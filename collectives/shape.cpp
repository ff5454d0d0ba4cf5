// Names of the operations.
#include "collectives/shape.hpp"

namespace poe::collectives {

const char* name_of(Operation operation) noexcept {
    constexpr const char* kNames[kOperations] = {"bcast",  "reduce", "combine", "prefix", "scatter",
                                                 "gather", "concat", "index",   "shift",  "sync"};
    return kNames[static_cast<std::size_t>(operation)];
}

}  // namespace poe::collectives
