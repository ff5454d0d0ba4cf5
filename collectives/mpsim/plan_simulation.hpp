// What a communication plan would gain (mpsim -plan): simulates its irregular calls as they are
// sent without a plan and by the plan. Pure.
#pragma once

#include <string>
#include <vector>

#include "collectives/mpsim/simulator.hpp"
#include "collectives/schedule/plan_file.hpp"

namespace poe::collectives {

// One call of a line of the plan, in microseconds.
struct PlanGain {
    PhaseMethod method = PhaseMethod::kSimple;  // of the plan; never kAutomatic
    double without = 0;                         // without a plan: all at once, long ones in pieces
    double greedy = 0;
    double all_to_all = 0;
    // In combined messages: with the radix of the plan, or else with the fastest one. Negative: not
    // simulated, because blocks are too long.
    double combined = -1;
    std::string fault;  // why it cannot be simulated; empty: it was

    double planned() const noexcept {
        return method == PhaseMethod::kSimple     ? without
               : method == PhaseMethod::kCombined ? combined
               : method == PhaseMethod::kGreedy   ? greedy
                                                  : all_to_all;
    }
};

// Precondition: the call has lengths. The model has no queues that overflow, for which phases are
// made; it counts what signals and unequal messages of a phase cost and what cables can carry.
PlanGain simulate_planned(const PlannedCall& call, const MessageModel& model);

// A table of all calls of a plan, with the gain of all calls of the traced run.
std::string plan_gains_text(const std::vector<PlannedCall>& calls, const MessageModel& model);

}  // namespace poe::collectives
