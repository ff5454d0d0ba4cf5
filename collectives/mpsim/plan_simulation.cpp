// Implementation of plan_simulation.hpp.
#include "collectives/mpsim/plan_simulation.hpp"

#include <array>
#include <cstdio>

#include "collectives/schedule/algorithms/algorithms.hpp"
#include "collectives/selection/cost_model.hpp"

namespace poe::collectives {

PlanGain simulate_planned(const PlannedCall& call, const MessageModel& model) {
    const auto n = static_cast<std::uint32_t>(call.tasks.size());
    Shape shape;
    shape.operation = Operation::kIndex;
    shape.n = n;
    shape.matrix = call.lengths;
    shape.whole_matrix = true;
    for (std::size_t rank = 0; rank < n; ++rank) shape.matrix[rank * n + rank] = 0;
    PlanGain gain;
    const std::vector<PhasedMessage> messages = messages_of(call);
    const bool combined = call.schedule == PhaseMethod::kCombined;
    if (combined) {
        gain.method = call.schedule;
    } else if (calls_to_reach_all(n, messages) > 0) {
        gain.method = decide_phases(n, messages, call.schedule).method;
    }
    const auto time_of = [&](const Generator& generate) {
        const Simulation result = simulate(n, generate, model);
        if (!result.fault.empty()) gain.fault = result.fault;
        return result.time;
    };
    gain.without = time_of(index_pieces(shape, kNetworkPiece));
    gain.greedy = time_of(index_greedy(shape, kShortBlock));
    gain.all_to_all = time_of(index_all_to_all(shape, kShortBlock));
    if (!combined && shape.longest() > kMostCombined) return gain;
    const std::vector<std::uint32_t> radixes =
        combined ? std::vector{call.radix} : std::vector{2U, 3U, 4U, 8U};
    for (const std::uint32_t radix : radixes) {
        const double time = time_of(index_combined(shape, radix));
        if (gain.combined < 0 || time < gain.combined) gain.combined = time;
    }
    return gain;
}

std::string plan_gains_text(const std::vector<PlannedCall>& calls, const MessageModel& model) {
    std::string text;
    std::array<char, 512> line{};
    const auto add = [&](const char* format, auto... values) {
        std::snprintf(line.data(), line.size(), format, values...);
        text += line.data();
    };
    add("%10s %12s %12s %12s %12s %14s  %s\n", "schedule", "simple us", "combined us", "greedy us",
        "all-to-all us", "gain, all us", "call");
    double sum = 0;
    std::size_t others = 0;
    for (const PlannedCall& call : calls) {
        if (call.lengths.empty()) {
            ++others;
            continue;
        }
        const PlanGain gain = simulate_planned(call, model);
        const std::string name = call.operation + " group=" + std::to_string(call.group) +
                                 " tasks=" + tasks_text(call.tasks) +
                                 " calls=" + std::to_string(call.calls) + " " + call.site;
        if (!gain.fault.empty()) {
            text += name + " cannot be simulated: " + gain.fault + "\n";
            continue;
        }
        const double all = (gain.without - gain.planned()) * static_cast<double>(call.calls);
        sum += all;
        add("%10s %12.2f ", name_of(gain.method), gain.without);
        gain.combined < 0 ? add("%12s", "-") : add("%12.2f", gain.combined);
        add(" %12.2f %13.2f %14.2f  ", gain.greedy, gain.all_to_all, all);
        text += name + "\n";
    }
    add("The plan gains %.2f us in all calls of the traced run.", sum);
    if (others > 0)
        add(" It does not change %zu other line%s, whose schedules are kept without it.", others,
            others == 1 ? "" : "s");
    return text + "\n";
}

}  // namespace poe::collectives
