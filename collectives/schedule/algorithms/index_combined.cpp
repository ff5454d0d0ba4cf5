// Index in combined messages (combined_steps.hpp), for blocks of unequal lengths that all ranks
// know, or of equal ones. The engine follows the same steps without knowing the lengths
// (collectives/engine/combined_exchange.hpp). Over m nodes of one rank each, the messages are those
// of index_radix.cpp; those that move different digits of one place are under way at the same time.
#include "collectives/schedule/algorithms/algorithms.hpp"
#include "collectives/schedule/combined_steps.hpp"

namespace poe::collectives {

Generator index_combined(const Shape& shape, std::uint32_t radix) {
    CombinedLayout layout(shape.n, shape.nodes);
    std::vector<CombinedStep> steps = combined_steps(layout, radix);
    return
        [shape, layout = std::move(layout), steps = std::move(steps)](Rank rank, Schedule& into) {
            const std::uint32_t n = shape.n;
            const auto own = static_cast<std::uint32_t>(rank);
            std::vector<Place> given(n);
            std::vector<Place> result(n);
            Bytes out = 0;
            Bytes in = 0;
            for (std::uint32_t other = 0; other < n; ++other) {
                given[other] = {Buffer::kInput, out};
                result[other] = {Buffer::kOutput, in};
                out += shape.between(own, other);
                in += shape.between(other, own);
            }
            // By slot: where the block is that this rank has now, and how far it has travelled.
            std::vector<Place> held(n);
            std::vector<std::uint32_t> travelled(n);
            for (std::uint32_t slot = 0; slot < n; ++slot)
                held[slot] = given[layout.after(own, slot)];
            const auto length_at = [&](std::uint32_t holder, std::uint32_t slot) {
                const std::uint32_t source = layout.before(holder, travelled[slot]);
                return shape.between(source, layout.after(source, slot));
            };
            for (auto step = steps.begin(); step != steps.end();) {
                const auto round = step;
                std::vector<Place> arrived;
                for (; step != steps.end() && step->round == round->round; ++step) {
                    const std::uint32_t from = layout.before(own, step->distance);
                    Bytes outgoing = 0;
                    Bytes incoming = 0;
                    for (const std::uint32_t slot : step->slots) {
                        outgoing += length_at(own, slot);
                        incoming += length_at(from, slot);
                    }
                    arrived.push_back(into.work(incoming));
                    into.receive(static_cast<Rank>(from), arrived.back(), incoming,
                                 static_cast<int>(step->round));
                    const Place packed = into.work(outgoing);
                    Bytes at = 0;
                    for (const std::uint32_t slot : step->slots) {
                        into.copy(held[slot], packed + at, length_at(own, slot));
                        at += length_at(own, slot);
                    }
                    into.send(static_cast<Rank>(layout.after(own, step->distance)), packed,
                              outgoing, static_cast<int>(step->round));
                }
                into.wait();
                for (auto each = round; each != step; ++each) {
                    Place at = arrived[static_cast<std::size_t>(each - round)];
                    for (const std::uint32_t slot : each->slots) {
                        travelled[slot] += each->distance;
                        held[slot] = at;
                        at = at + length_at(own, slot);
                    }
                }
            }
            for (std::uint32_t slot = 0; slot < n; ++slot) {
                const std::uint32_t source = layout.before(own, slot);
                into.copy(held[slot], result[source], shape.between(source, own));
            }
        };
}

}  // namespace poe::collectives
