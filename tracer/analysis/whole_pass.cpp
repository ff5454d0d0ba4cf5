// Implementation of whole_pass.hpp.
#include "tracer/analysis/whole_pass.hpp"

#include <algorithm>

namespace poe::trace {

void replay_whole(const TraceSource& source, EventMerge& merge, Replay& replay,
                  const std::function<void(double)>& progress) {
    constexpr std::uint64_t kBetweenProgress = 1 << 17;
    const auto all = static_cast<double>(std::max<std::uint64_t>(source.records(), 1));
    std::uint64_t count = 0;
    for (Event event; merge.next(event);) {
        replay.apply(event);
        if (++count % kBetweenProgress != 0) continue;
        progress(std::min(1.0, static_cast<double>(count) / all));
        source.forget();
    }
    replay.advance(source.end());
    replay.settle(replay.state().now);
    replay.tell_computing();
}

}  // namespace poe::trace
