// Reduction as a reversed broadcast, any broadcast: where a rank received, it sends; where it sent,
// it receives and reduces. The counts are those of the broadcast. The tree of a pipelined broadcast
// joins ranks that are not adjacent. Therefore this is for commutative functions only; it also
// requires that the vector may be cut.
#include <algorithm>

#include "collectives/schedule/algorithms/algorithms.hpp"

namespace poe::collectives {
namespace {

struct Batch {
    std::size_t first;
    std::size_t end;
};

// The messages that the broadcast starts between two waits. The schedule of a broadcast contains no
// other steps.
std::vector<Batch> batches(std::span<const Step> steps) {
    std::vector<Batch> all;
    std::size_t first = 0;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        if (steps[i].kind != StepKind::kWait) continue;
        all.push_back({first, i});
        first = i + 1;
    }
    return all;
}

}  // namespace

Generator reduce_reversed(const Shape& shape, Generator bcast, const Counts& counts) {
    return [bcast = std::move(bcast), last = static_cast<int>(counts.c1) - 1, root = shape.root,
            bytes = shape.bytes](Rank rank, Schedule& into) {
        Schedule forward;
        bcast(rank, forward);
        const std::span<const Step> steps = forward.steps();
        const std::vector<Batch> parts = batches(steps);
        const auto sends = [&](const Batch& batch) {
            Bytes sum = 0;
            for (std::size_t i = batch.first; i < batch.end; ++i)
                sum += steps[i].kind == StepKind::kSend ? steps[i].length : 0;
            return sum;
        };
        Bytes most = 0;
        for (const Batch& batch : parts) most = std::max(most, sends(batch));
        const Place data = rank == root ? Place{Buffer::kOutput, 0}
                           : most > 0   ? into.work(bytes)
                                        : Place{Buffer::kInput, 0};
        const Place received = into.work(most);
        into.copy({Buffer::kInput, 0}, data, bytes);
        for (auto batch = parts.rbegin(); batch != parts.rend(); ++batch) {
            Bytes room = 0;
            for (std::size_t i = batch->first; i < batch->end; ++i) {
                const Step& step = steps[i];
                if (step.kind == StepKind::kReceive) {
                    into.send(step.peer, data + step.to.offset, step.length, last - step.round);
                } else {
                    into.receive(step.peer, received + room, step.length, last - step.round);
                    room += step.length;
                }
            }
            into.wait();
            room = 0;
            for (std::size_t i = batch->first; i < batch->end; ++i) {
                if (steps[i].kind != StepKind::kSend) continue;
                into.append(received + room, data + steps[i].from.offset, steps[i].length);
                room += steps[i].length;
            }
        }
    };
}

}  // namespace poe::collectives
