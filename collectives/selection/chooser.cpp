// The choice of algorithms; see chooser.hpp.
#include "collectives/selection/chooser.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/check.hpp"

namespace poe::collectives {
namespace {

constexpr double kMostSegments = 256;

bool starts_all_at_once(const Choice& choice) {
    const auto when = choice.algorithm->starts_all_at_once;
    return when != nullptr && when(choice.parameter);
}

// Returns the values of the parameter to compare: the default or measured one, and others that may
// be better.
std::vector<double> numbers(const Algorithm& algorithm, const Shape& shape,
                            const CostModel& model) {
    std::vector<double> all{algorithm.fallback(shape)};
    switch (algorithm.numbers.compared) {
        case Compared::kDefaultOnly:
            break;
        case Compared::kMeasuredLambda:
            return {model.lambda(shape.bytes)};
        case Compared::kPowersOfTwo:
            for (double many = 1; many <= kMostSegments && many <= static_cast<double>(shape.bytes);
                 many *= 2)
                all.push_back(many);
            break;
        case Compared::kRadixes:
            return {2, 4, all[0], std::max<double>(2, shape.n)};
        case Compared::kModelPorts:
            if (model.ports == 1) return {};
            return {model.ports};
    }
    return all;
}

// Returns the number of messages of a call, counted as if all had the length of one round. Messages
// without data count: two per edge of a sync's tree, otherwise one per rank and round.
double messages_of(const Shape& shape, const Choice& choice, const Counts& counts) {
    const auto c1 = static_cast<double>(counts.c1);
    if (choice.algorithm->both_ways_along_tree) return 2.0 * (shape.n - 1);
    if (counts.c2 == 0) return c1 * shape.n;
    return static_cast<double>(counts.c3) * c1 / static_cast<double>(counts.c2);
}

// The factor by which bytes take longer over a network if long blocks compete for the queues of the
// cables (docs/decisions/053).
constexpr double kCompeting = 1.4;
double congestion(const Shape& shape, const Choice& choice) {
    const bool competes =
        choice.algorithm->blocks_compete && !shape.nodes.empty() && shape.bytes > kNetworkPiece;
    return competes ? kCompeting : 1;
}

// False if the members could not agree on this algorithm for an irregular index, in which each
// member knows only the lengths of its own blocks. Over a network they then use `pieces`, which
// sends short blocks whole.
bool members_agree_on(const Algorithm& algorithm, const Shape& shape) {
    if (shape.matrix.empty() || shape.whole_matrix) return true;
    return algorithm.own_lengths_suffice && (shape.nodes.empty() || !algorithm.blocks_compete);
}

// The share of all bytes that the node with the most ranks sends to other nodes.
double share_of_a_cable(const Shape& shape) {
    if (shape.nodes.empty()) return 0;
    std::vector<std::uint32_t> many;
    for (const std::uint32_t node : shape.nodes) {
        if (node >= many.size()) many.resize(node + 1);
        ++many[node];
    }
    const double share = double(*std::max_element(many.begin(), many.end())) / shape.n;
    return share * (1 - share);
}

// The time of the steps within nodes, which take place in all nodes at the same time. It does not
// depend on the cores of a node, because members on all nodes must get the same value.
double time_within(const CostModel& model, const Counts& counts) {
    return static_cast<double>(counts.c1) * model.start_up +
           static_cast<double>(counts.c2) * model.transfer;
}

}  // namespace

const CostModel& level_of(const Tuning& tuning, const Shape& shape) {
    return shape.nodes.empty() ? tuning.node : tuning.network;
}

double predicted(const Tuning& tuning, const Shape& shape, const Choice& choice) {
    const CostModel& model = level_of(tuning, shape);
    const Counts all = choice.algorithm->counts(shape, choice.parameter);
    const Counts within =
        choice.algorithm->within != nullptr ? choice.algorithm->within(shape) : Counts{};
    const Counts counts = all - within;
    auto c1 = static_cast<double>(counts.c1);
    auto c2 = static_cast<double>(counts.c2);
    double messages = messages_of(shape, choice, counts);
    if (choice.algorithm->signals_precede) {
        c1 *= 2;
        messages *= 2;
    }
    if (choice.algorithm->postal_time != nullptr && c1 > 0) {
        const double time = choice.algorithm->postal_time(shape, choice.parameter);
        c2 *= time / c1;
        c1 = time;
    }
    if (starts_all_at_once(choice)) {
        // Only the last message is waited for; each of the others costs the time for which its
        // sender's port is busy.
        const double lambda = model.lambda(shape.bytes);
        const double of_a_port = std::ceil(c1 / model.ports);
        const double waited = c1 > 0 ? (of_a_port - 1 + lambda) / lambda : 0;
        c2 *= c1 > 0 ? waited / c1 : 0;
        c1 = waited;
        messages /= lambda;
    }
    if (choice.algorithm->sends_by_ports) {
        const double in_turn = std::ceil(choice.parameter / model.ports);
        c1 *= in_turn;
        c2 *= in_turn;
    }
    const double copied = choice.algorithm->copied != nullptr
                              ? static_cast<double>(choice.algorithm->copied(shape))
                              : 0;
    const auto c3 = static_cast<double>(counts.c3);
    const double transfer = model.transfer * congestion(shape, choice);
    const double rounds = c1 * model.start_up + c2 * transfer;
    const double work = messages * model.message + (c3 + copied * shape.n) * model.load;
    const double cable = c3 * share_of_a_cable(shape) * transfer / model.ports;
    return std::max({rounds, work, cable}) + time_within(tuning.node, within);
}

std::vector<Candidate> candidates(std::span<const Algorithm> table, const Shape& shape,
                                  const Tuning& tuning) {
    const CostModel& model = level_of(tuning, shape);
    std::vector<Candidate> all;
    for (const Algorithm& algorithm : table) {
        if (algorithm.operation != shape.operation || algorithm.counts == nullptr ||
            !members_agree_on(algorithm, shape))
            continue;
        std::vector<double> known;
        for (const double number : numbers(algorithm, shape, model)) {
            if (!algorithm.fits(shape, number) ||
                std::find(known.begin(), known.end(), number) != known.end())
                continue;
            known.push_back(number);
            const Choice choice{&algorithm, number};
            all.push_back({choice, predicted(tuning, shape, choice)});
        }
    }
    POE_CHECK(!all.empty(), name_of(shape.operation), shape.n, shape.bytes);
    return all;
}

std::optional<Choice> wanted_choice(const Shape& shape, const Overrides& overrides) {
    const auto& wanted = overrides[static_cast<std::size_t>(shape.operation)];
    if (!wanted || wanted->transport != Transport::kMessages) return std::nullopt;
    Choice choice = wanted->choice;
    if (choice.parameter < 0) choice.parameter = choice.algorithm->fallback(shape);
    const bool knows_lengths =
        shape.matrix.empty() || shape.whole_matrix || choice.algorithm->own_lengths_suffice;
    if (!knows_lengths || !choice.algorithm->fits(shape, choice.parameter)) return std::nullopt;
    return choice;
}

Choice choose(std::span<const Algorithm> table, const Shape& shape, const Tuning& tuning,
              const Overrides& overrides) {
    if (const auto wanted = wanted_choice(shape, overrides)) return *wanted;
    const MeasuredBest* best = level_of(tuning, shape).best(shape);
    if (best != nullptr && best->method.transport == Transport::kMessages)
        return best->method.choice;
    const std::vector<Candidate> all = candidates(table, shape, tuning);
    return std::min_element(all.begin(), all.end(),
                            [](const auto& a, const auto& b) { return a.time < b.time; })
        ->choice;
}

}  // namespace poe::collectives
