// The values of the cost model between and near measured points; see cost_model.hpp.
#include "collectives/selection/cost_model.hpp"

#include <algorithm>
#include <cmath>

namespace poe::collectives {

double CostModel::lambda(Bytes bytes) const noexcept {
    if (lambdas.empty()) return 1;
    const auto above =
        std::lower_bound(lambdas.begin(), lambdas.end(), bytes,
                         [](const MeasuredLambda& each, Bytes b) { return each.bytes < b; });
    if (above == lambdas.begin()) return above->lambda;
    if (above == lambdas.end()) return lambdas.back().lambda;
    const auto below = above - 1;
    const auto log = [](Bytes b) { return std::log2(static_cast<double>(b) + 1); };
    const double share = (log(bytes) - log(below->bytes)) / (log(above->bytes) - log(below->bytes));
    return below->lambda + share * (above->lambda - below->lambda);
}

std::string Method::text() const {
    switch (transport) {
        case Transport::kShared:
            return kSharedMemoryName;
        case Transport::kDirect:
            return kDirectMemoryName;
        case Transport::kMulticast:
            return kMulticastName;
        case Transport::kMessages:
            break;
    }
    return choice.text();
}

const MeasuredBest* CostModel::best(const Shape& shape) const noexcept {
    if (bests.empty() || !shape.is_regular()) return nullptr;
    constexpr double kLengthApart = 2;  // powers of two
    constexpr double kRanksApart = 0.585;
    const auto apart = [](double a, double b) { return std::abs(std::log2(a) - std::log2(b)); };
    const MeasuredBest* nearest = nullptr;
    double least = kLengthApart + kRanksApart;
    for (const MeasuredBest& each : bests) {
        if (each.operation != shape.operation) continue;
        const double length =
            apart(static_cast<double>(each.bytes) + 1, static_cast<double>(shape.bytes) + 1);
        const double ranks = apart(each.n, shape.n);
        if (length > kLengthApart || ranks > kRanksApart || length + ranks > least) continue;
        const Choice& choice = each.method.choice;
        if (each.method.transport == Transport::kMessages &&
            !choice.algorithm->fits(shape, choice.parameter))
            continue;
        nearest = &each;
        least = length + ranks;
    }
    return nearest;
}

Tuning built_in_tuning(unsigned cores) {
    Tuning tuning;
    const double share = 1.0 / std::max(cores, 1U);
    tuning.node = {
        1.0, 0.00012, 1.0 * share, 0.0001 * share, {{1024, 6}, {65536, 2}, {1 << 20, 1}}};
    tuning.network = {40.0, 0.01, 0.0, 0.0, {}};
    return tuning;
}

}  // namespace poe::collectives
