// Implementation of combined_choice.hpp.
#include "collectives/selection/combined_choice.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/check.hpp"
#include "collectives/schedule/combined_steps.hpp"

namespace poe::collectives {
namespace {

constexpr double kLeastGain = 0.1;
// The bytes of each block's length in a combined message, and those of the message's head.
constexpr double kBytesOfLength = 2;
constexpr double kBytesOfHead = 8;

// The time of messages that a rank starts at once: that of the last one, and for each of the others
// the time for which it occupies its sender.
double time_at_once(const CostModel& model, double messages, double bytes) {
    if (messages == 0) return 0;
    const double lambda = model.lambda(static_cast<Bytes>(bytes / messages));
    const double waited = (messages - 1 + lambda) / lambda;
    return waited * model.start_up + bytes * waited / messages * model.transfer;
}

struct Predicted {
    double time = 0;
    std::uint32_t messages = 0;
};

Predicted predict_direct(const CostModel& model, const std::vector<std::uint32_t>& nodes,
                         const std::vector<Bytes>& lengths) {
    const std::size_t n = nodes.size();
    std::vector<double> out(n), in(n), cable_out(n), cable_in(n);
    std::vector<std::uint32_t> sends(n), receives(n);
    for (std::size_t from = 0; from < n; ++from)
        for (std::size_t to = 0; to < n; ++to) {
            const auto bytes = static_cast<double>(lengths[from * n + to]);
            if (from == to || bytes == 0) continue;
            ++sends[from], ++receives[to];
            out[from] += bytes, in[to] += bytes;
            if (nodes[from] == nodes[to]) continue;
            cable_out[nodes[from]] += bytes, cable_in[nodes[to]] += bytes;
        }
    const auto most = [](const auto& a, const auto& b) {
        return std::max(*std::max_element(a.begin(), a.end()),
                        *std::max_element(b.begin(), b.end()));
    };
    Predicted result;
    result.messages = most(sends, receives);
    const double work = std::accumulate(sends.begin(), sends.end(), 0.0) * model.message +
                        std::accumulate(out.begin(), out.end(), 0.0) * model.load;
    result.time = std::max({time_at_once(model, result.messages, most(out, in)), work,
                            most(cable_out, cable_in) * model.transfer});
    return result;
}

Predicted predict_combined(const Tuning& tuning, const CombinedLayout& layout, double mean,
                           std::uint32_t radix) {
    const CostModel& network = tuning.network;
    const double n = layout.size();
    Predicted result;
    double rounds = 0, within = 0, cable = 0, work = 0;
    const std::vector<CombinedStep> steps = combined_steps(layout, radix);
    for (auto step = steps.begin(); step != steps.end();) {
        const std::uint32_t round = step->round;
        const bool local = step->distance >= layout.nodes();
        double messages = 0, bytes = 0;
        for (; step != steps.end() && step->round == round; ++step, ++messages)
            bytes +=
                kBytesOfHead + static_cast<double>(step->slots.size()) * (mean + kBytesOfLength);
        result.messages += static_cast<std::uint32_t>(messages);
        (local ? within : rounds) += time_at_once(local ? tuning.node : network, messages, bytes);
        if (local) continue;
        cable += bytes * layout.per_node() * network.transfer;
        // Each byte is sent, and copied at both ends.
        work += n * (messages * network.message + 3 * bytes * network.load);
    }
    result.time = std::max({rounds, cable, work}) + within;
    return result;
}

}  // namespace

CombinedDecision decide_combined(const Tuning& tuning, const std::vector<std::uint32_t>& nodes,
                                 const std::vector<Bytes>& lengths) {
    const std::size_t n = nodes.size();
    POE_CHECK(lengths.size() == n * n, lengths.size(), n);
    CombinedDecision decision;
    const CombinedLayout layout(static_cast<std::uint32_t>(n), nodes);
    const bool one_node =
        std::all_of(nodes.begin(), nodes.end(), [](std::uint32_t node) { return node == 0; });
    if (n < 2 || one_node) return decision;
    const Predicted direct = predict_direct(tuning.network, nodes, lengths);
    decision.direct = direct.time;
    decision.direct_messages = direct.messages;
    double sum = 0;
    for (std::size_t i = 0; i < n * n; ++i)
        if (i % (n + 1) != 0) sum += static_cast<double>(lengths[i]);
    const double mean = sum / static_cast<double>(n * (n - 1));
    const auto root = static_cast<std::uint32_t>(std::lround(std::ceil(std::sqrt(layout.nodes()))));
    for (const std::uint32_t radix : std::array{2U, 3U, 4U, 8U, root, layout.nodes()}) {
        if (radix < 2) continue;
        const Predicted each = predict_combined(tuning, layout, mean, radix);
        if (decision.radix != 0 && each.time >= decision.combined) continue;
        decision.radix = radix;
        decision.combined = each.time;
        decision.combined_messages = each.messages;
    }
    if (decision.combined > (1 - kLeastGain) * decision.direct) decision.radix = 0;
    return decision;
}

}  // namespace poe::collectives
