// See call_grid.hpp.
#include "collectives/call_grid.hpp"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <numeric>

#include "collectives/api_context.hpp"
#include "collectives/candidate_timing.hpp"
#include "comm/mpproto.h"

namespace poe::collectives {
namespace {

constexpr double kExplainBudget = 100e3;  // microseconds for one candidate
constexpr double kGridBudget = 10e3;
constexpr double kNearlyBest = 1.1;
constexpr double kWorthWriting = 1.05;

// Calls work(library, group) in the members of the group of the first n tasks.
template <typename Work>
void in_first(int n, int me, Work&& work) {
    std::vector<int> members(static_cast<std::size_t>(n));
    std::iota(members.begin(), members.end(), 0);
    int gid = 0;
    if (me < n) mpc_group(n, members.data(), 1, &gid);
    if (me < n) {
        in_call("mptune", [&](comm::ApiCall& call, Library& library) {
            work(library, *group_of(call, library, gid));
            return 0;
        });
    }
    mpc_sync(ALLGRP);
}

using Cell = std::function<void(Library&, Group&, const Shape&,
                                const std::vector<TimedCandidate>& measured)>;

void each_of_grid(int me, int tasks, const Cell& cell) {
    constexpr Bytes kSizes[] = {8, 1024, 65536, 1048576};
    for (int n = 2; n <= std::min(tasks, kMostTasksOfGrid); n *= 2) {
        in_first(n, me, [&](Library& library, Group& group) {
            for (std::size_t i = 0; i < kOperations; ++i) {
                for (const Bytes bytes : kSizes) {
                    const Shape shape = usual_shape(static_cast<Operation>(i),
                                                    static_cast<std::uint32_t>(n), bytes);
                    if (shape.operation == Operation::kSync && bytes != kSizes[0]) continue;
                    cell(library, group, shape,
                         time_candidates(library, group, shape, kGridBudget));
                }
            }
        });
    }
}

const TimedCandidate& best_of(const std::vector<TimedCandidate>& all) {
    return *std::min_element(all.begin(), all.end(), [](const auto& a, const auto& b) {
        return a.again != b.again ? a.again : a.measured < b.measured;
    });
}

const TimedCandidate& marked(const std::vector<TimedCandidate>& all, bool TimedCandidate::*mark) {
    return *std::find_if(all.begin(), all.end(), [mark](const auto& each) { return each.*mark; });
}

void print_cell(const Shape& shape, const TimedCandidate& taken, const TimedCandidate& best,
                bool good) {
    std::printf("%-8s %8llu %5u  %-20s %12.2f  %-20s %12.2f  %s\n", name_of(shape.operation),
                static_cast<unsigned long long>(shape.bytes), shape.n, taken.name().c_str(),
                taken.measured, best.name().c_str(), best.measured, good ? "good" : "slow");
    std::fflush(stdout);
}

void print_head(const char* taken) {
    std::printf("%-8s %8s %5s  %-20s %12s  %-20s %12s\n", "call", "bytes", "tasks", taken, "us",
                "best", "us");
}

}  // namespace

int explain(Operation operation, Bytes bytes, std::uint32_t n, int me, int tasks) {
    if (static_cast<int>(n) > tasks) {
        if (me == 0)
            std::fprintf(stderr,
                         "mptune: %u tasks are asked for, and there are %d; leave -procs out\n", n,
                         tasks);
        return 2;
    }
    in_first(static_cast<int>(n), me, [&](Library& library, Group& group) {
        const Shape shape = usual_shape(operation, n, bytes);
        const auto all = time_candidates(library, group, shape, kExplainBudget);
        if (me != 0) return;
        std::printf("%s of %llu bytes, %u tasks\n%-20s %14s %14s\n", name_of(shape.operation),
                    static_cast<unsigned long long>(shape.bytes), shape.n, "algorithm",
                    "predicted us", "measured us");
        for (const TimedCandidate& each : all) {
            char predicted[32] = "-";
            if (each.predicted >= 0)
                std::snprintf(predicted, sizeof predicted, "%.2f", each.predicted);
            std::printf("%-20s %14s %14.2f%s\n", each.name().c_str(), predicted, each.measured,
                        each.taken ? "  taken" : "");
        }
    });
    return 0;
}

int check_grid(int me, int tasks) {
    int cells = 0;
    int good_ones = 0;
    if (me == 0) print_head("taken");
    each_of_grid(me, tasks, [&](Library&, Group&, const Shape& shape, const auto& all) {
        if (me != 0) return;
        const TimedCandidate& best = best_of(all);
        const TimedCandidate& taken = marked(all, &TimedCandidate::taken);
        const bool good = taken.measured <= kNearlyBest * best.measured;
        ++cells;
        good_ones += good ? 1 : 0;
        print_cell(shape, taken, best, good);
    });
    if (me == 0 && cells > 0)
        std::printf("calls take one within 10 %% of the best in %d of %d (%d %%)\n", good_ones,
                    cells, 100 * good_ones / cells);
    return 0;
}

GridBests bests_of_grid(int me, int tasks) {
    GridBests found;
    if (me == 0) print_head("model");
    each_of_grid(me, tasks,
                 [&](Library& library, Group& group, const Shape& shape, const auto& all) {
                     if (me != 0) return;
                     found.on_network = !library.nodes_of(group).empty();
                     const TimedCandidate& best = best_of(all);
                     const TimedCandidate& model = marked(all, &TimedCandidate::by_model);
                     const bool good = model.measured <= kWorthWriting * best.measured;
                     print_cell(shape, model, best, good);
                     if (!good)
                         found.bests.push_back(
                             {shape.operation, shape.bytes, shape.n, best.way, best.choice});
                 });
    return found;
}

}  // namespace poe::collectives
