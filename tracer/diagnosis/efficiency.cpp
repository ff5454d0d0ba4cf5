// Implementation of efficiency.hpp.
#include "tracer/diagnosis/efficiency.hpp"

#include <algorithm>
#include <map>

namespace poe::trace {
namespace {

double ratio(double part, double whole) {
    return whole > 0 ? part / whole : 0;
}
double ns(Time time) {
    return static_cast<double>(time.count());
}

// What one task did in a phase.
struct InPhase {
    Time computing{0};
    Time elapsed{0};
    Time ideal{0};
};

void add(Efficiency& sum, const InPhase& task) {
    ++sum.tasks;
    sum.mean_computing += ns(task.computing);
    sum.max_computing = std::max(sum.max_computing, task.computing);
    sum.elapsed = std::max(sum.elapsed, task.elapsed);
    sum.ideal = std::max(sum.ideal, task.ideal);
}

std::map<std::uint32_t, InPhase> phases_of(const LongVector<Activity>& all,
                                           const LongVector<Time>& ideal) {
    std::map<std::uint32_t, InPhase> phases;
    for (std::size_t at = 0; at + 1 < all.size(); ++at) {
        InPhase& phase = phases[all[at].phase];
        const Time length = all[at + 1].from - all[at].from;
        if (all[at].state == State::kComputing) phase.computing += length;
        phase.elapsed += length;
        phase.ideal += ideal[at + 1] - ideal[at];
    }
    return phases;
}

}  // namespace

double Efficiency::load_balance() const {
    return ratio(mean_computing, ns(max_computing));
}
double Efficiency::serialisation() const {
    return ratio(ns(max_computing), ns(ideal));
}
double Efficiency::transfer() const {
    return ratio(ns(ideal), ns(elapsed));
}
double Efficiency::communication() const {
    return ratio(ns(max_computing), ns(elapsed));
}
double Efficiency::parallel() const {
    return ratio(mean_computing, ns(elapsed));
}

Efficiencies find_efficiencies(const History& history, const IdealHistory& ideal) {
    Efficiencies found;
    std::map<std::uint32_t, Efficiency> phases;
    for (TaskId id = 0; id < history.tasks.size(); ++id) {
        if (history.tasks[id].empty()) continue;
        InPhase whole;
        for (const auto& [phase, task] : phases_of(history.tasks[id], ideal.begins[id])) {
            whole.computing += task.computing;
            phases[phase].phase = phase;
            add(phases[phase], task);
        }
        add(found.job, whole);
    }
    found.job.elapsed = history.end - history.begin;
    found.job.ideal = ideal.end - ideal.begin;
    const auto average = [](Efficiency& sum) {
        if (sum.tasks > 0) sum.mean_computing /= static_cast<double>(sum.tasks);
    };
    average(found.job);
    for (auto& [phase, sum] : phases) {
        average(sum);
        found.phases.push_back(sum);
    }
    if (found.phases.size() == 1 && found.phases.front().phase == 0) found.phases.clear();
    std::stable_sort(
        found.phases.begin(), found.phases.end(),
        [](const Efficiency& a, const Efficiency& b) { return a.elapsed > b.elapsed; });
    return found;
}

}  // namespace poe::trace
