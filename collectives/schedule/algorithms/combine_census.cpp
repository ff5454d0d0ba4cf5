// The census algorithm of the postal model for any n and integer lambda L (postal paper, Bruck et
// al. 1996, 3.1; Bar-Noy, Kipnis, Schieber 1993). With L = 1 its messages go along a circulant
// graph: C1 = ceil(log n), C2 = m C1, C3 = m n C1, optimal in C1 (CCL paper, IV.C). In general, C1
// = T_L(n) - L + 1 rounds, minus those in which nothing has to be sent, and the time in the postal
// model is T_L(n). For a lambda between two integers, take the one below (which delays sends) or
// the one above (which delays receives); see combine_lambda(). For commutative functions only,
// because the circle starts at each rank.
//
// After time s, a rank i holds in T the contributions of the a(s) ranks that end with i, and in S
// the same without its own. a(s) = a(s-1) + a(s-L) - e(s), where e(s) is 0 or 1 such that a(t) = n.
// At time s it adds what the rank a(s-1) before it held in T at time s - L. If e(s) = 1, it adds
// instead what the rank after that one held in S.
#include <algorithm>

#include "collectives/schedule/algorithms/algorithms.hpp"

namespace poe::collectives {
namespace {

struct Census {
    std::size_t lambda;
    std::vector<std::uint32_t> held;  // a(0) .. a(t)
    std::vector<bool> without_own;    // e(s)

    Census(std::uint32_t n, int integer_lambda)
        : lambda(static_cast<std::size_t>(std::max(integer_lambda, 1))) {
        // a(s) without e, and how much e(s) = 1 subtracts from a(t) if it is t - s before the end.
        std::vector<std::uint64_t> full{1};
        while (full.back() < n) {
            const std::size_t s = full.size();
            full.push_back(s < lambda ? 1 : full[s - 1] + full[s - lambda]);
        }
        const std::size_t end = full.size() - 1;
        std::vector<std::uint64_t> weight{1};
        for (std::size_t u = 1; u <= end; ++u)
            weight.push_back(weight[u - 1] + (u >= lambda ? weight[u - lambda] : 0));
        without_own.resize(end + 1);
        std::uint64_t too_many = full.back() - n;
        for (std::size_t s = lambda; s <= end; ++s) {
            if (too_many < weight[end - s]) continue;
            too_many -= weight[end - s];
            without_own[s] = true;
        }
        held.assign(end + 1, 1);
        for (std::size_t s = lambda; s <= end; ++s)
            held[s] = held[s - 1] + held[s - lambda] - (without_own[s] ? 1 : 0);
    }

    std::size_t end() const { return held.size() - 1; }
    // Nothing is sent for time s if the message would contain no contributions.
    bool silent(std::size_t s) const { return held[s] == held[s - 1]; }
};

}  // namespace

Generator combine_census(const Shape& shape, int lambda) {
    return [n = shape.n, bytes = shape.bytes, census = Census(shape.n, lambda)](Rank rank,
                                                                                Schedule& into) {
        const auto own = static_cast<std::uint32_t>(rank);
        const std::size_t lag = census.lambda;
        const Place all{Buffer::kOutput, 0};
        const Place others = into.work(bytes);
        // A message is under way for `lag` units. Therefore `lag` incoming messages need a place
        // each, and `lag` outgoing ones.
        std::vector<Place> in_places;
        std::vector<Place> out_places;
        for (std::size_t i = 0; i < lag; ++i) {
            in_places.push_back(into.work(bytes));
            out_places.push_back(into.work(bytes));
        }
        // For the message of time s, the number of messages started before it. Its receive and its
        // send are started next.
        std::vector<std::uint32_t> started_before(census.held.size());
        into.copy({Buffer::kInput, 0}, all, bytes);
        bool any_others = false;
        for (std::size_t now = 0; now + 1 <= census.held.size(); ++now) {
            if (now >= lag && !census.silent(now)) {
                into.wait_for(started_before[now] + 1);
                const Place received = in_places[now % lag];
                into.prepend(received, all, bytes);
                if (any_others) {
                    into.prepend(received, others, bytes);
                } else {
                    into.copy(received, others, bytes);
                }
                any_others = true;
            }
            const std::size_t then = now + lag;
            if (then > census.end() || census.silent(then)) continue;
            const std::uint32_t distance =
                census.held[then - 1] - (census.without_own[then] ? 1 : 0);
            const auto to = static_cast<Rank>((own + distance) % n);
            const auto from = static_cast<Rank>((own + n - distance) % n);
            const auto round = static_cast<int>(now);
            started_before[then] = into.started();
            into.receive(from, in_places[then % lag], bytes, round);
            const Place out = out_places[then % lag];
            if (now >= lag && !census.silent(now)) into.wait_for(started_before[now] + 2);
            into.copy(census.without_own[then] ? others : all, out, bytes);
            into.send(to, out, bytes, round);
        }
        into.wait();
    };
}

Counts combine_census_counts(const Shape& shape, int lambda) {
    const Census census(shape.n, lambda);
    std::uint64_t rounds = 0;
    for (std::size_t s = census.lambda; s <= census.end(); ++s) rounds += census.silent(s) ? 0 : 1;
    return {rounds, rounds * shape.bytes, rounds * shape.n * shape.bytes};
}

}  // namespace poe::collectives
