// See stdin_merge.hpp.
#include "partition_manager/launch/stdin_merge.hpp"

#include <algorithm>

namespace poe::pm {

void StdinMerge::remove(int reader) {
    if (const auto found = readers_.find(reader); found != readers_.end())
        found->second.wanted = false;
}

void StdinMerge::set(int reader, const StdinProgress& progress) {
    if (const auto found = readers_.find(reader); found != readers_.end()) found->second = progress;
}

StdinProgress StdinMerge::all() const {
    StdinProgress all{0, 0, false};
    bool first = true;
    for (const auto& [reader, one] : readers_) {
        all.consumed = std::max(all.consumed, one.consumed);
        if (!one.wanted) continue;
        all.wanted = true;
        all.delivered = first ? one.delivered : std::min(all.delivered, one.delivered);
        first = false;
    }
    if (all.wanted) return all;
    for (const auto& [reader, one] : readers_)
        all.delivered = std::max(all.delivered, one.delivered);
    return all;
}

}  // namespace poe::pm
