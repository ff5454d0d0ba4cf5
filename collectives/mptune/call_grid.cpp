// The measurements of calls; see call_grid.hpp.
#include "collectives/mptune/call_grid.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>

#include "collectives/mptune/candidate_timing.hpp"
#include "collectives/mptune/in_group.hpp"
#include "comm/api/mpproto.h"

namespace poe::collectives {
namespace {

constexpr double kExplainBudget = 100e3;  // microseconds for one candidate
constexpr double kGridBudget = 10e3;

// Calls work(context, group) in the members of the group of the first n tasks.
template <typename Work>
void in_first(int n, int me, Work&& work) {
    std::vector<int> members(static_cast<std::size_t>(n));
    std::iota(members.begin(), members.end(), 0);
    in_group(members, me, work);
}

constexpr Bytes kSizes[] = {8, 1024, 65536, 1048576};

// The calls of the first n tasks.
std::vector<Shape> calls_of(int n) {
    std::vector<Shape> calls;
    for (std::size_t i = 0; i < kOperations; ++i) {
        for (const Bytes bytes : kSizes) {
            const auto operation = static_cast<Operation>(i);
            if (operation == Operation::kSync && bytes != kSizes[0]) continue;
            calls.push_back(usual_shape(operation, static_cast<std::uint32_t>(n), bytes));
        }
    }
    return calls;
}

// One bit for each call of the grid; the same in all tasks.
using Marks = std::array<std::uint64_t, 4>;
static_assert(kOperations * std::size(kSizes) * 4 <= sizeof(Marks) * 8);

using Cell = std::function<void(CollectiveContext&, Group&, const Shape&, std::size_t number,
                                const std::vector<TimedCandidate>& measured)>;

bool is_marked(const Marks& marks, std::size_t number) {
    return (marks[number / 64] >> number % 64 & 1) != 0;
}
void mark(Marks& marks, std::size_t number) {
    marks[number / 64] |= std::uint64_t{1} << number % 64;
}

// Times the calls of the grid that are not in `left_out`.
void each_of_grid(int me, int tasks, const Marks& left_out, const Cell& cell) {
    std::size_t first = 0;  // number of the first of these
    for (int n = 2; n <= std::min(tasks, kMostTasksOfGrid); n *= 2) {
        const std::vector<Shape> calls = calls_of(n);
        in_first(n, me, [&](CollectiveContext& library, Group& group) {
            for (std::size_t i = 0; i < calls.size(); ++i) {
                if (!is_marked(left_out, first + i))
                    cell(library, group, calls[i], first + i,
                         time_candidates(library, group, calls[i], kGridBudget));
            }
        });
        first += calls.size();
    }
}

const TimedCandidate& marked(const std::vector<TimedCandidate>& all, bool TimedCandidate::*mark) {
    return *std::find_if(all.begin(), all.end(), [mark](const auto& each) { return each.*mark; });
}

void print_cell(const Shape& shape, const TimedCandidate& taken, const TimedCandidate& best,
                bool good) {
    std::printf("%-8s %8llu %5u  %-20s %12.2f  %-20s %12.2f  %s\n", name_of(shape.operation),
                static_cast<unsigned long long>(shape.bytes), shape.n, taken.method.text().c_str(),
                taken.measured, best.method.text().c_str(), best.measured, good ? "good" : "slow");
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
                         "mptune: the table is for %u tasks, and there are %d; leave -procs out\n",
                         n, tasks);
        return 2;
    }
    in_first(static_cast<int>(n), me, [&](CollectiveContext& library, Group& group) {
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
            std::printf("%-20s %14s %14.2f%s\n", each.method.text().c_str(), predicted,
                        each.measured, each.taken ? "  taken" : "");
        }
    });
    return 0;
}

int check_grid(int me, int tasks) {
    int cells = 0;
    int good_ones = 0;
    if (me == 0) print_head("taken");
    each_of_grid(me, tasks, {},
                 [&](CollectiveContext&, Group&, const Shape& shape, std::size_t, const auto& all) {
                     if (me != 0) return;
                     const TimedCandidate& best = best_of(all);
                     const TimedCandidate& taken = marked(all, &TimedCandidate::taken);
                     const bool good = is_nearly_best(taken, best);
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
    std::map<std::size_t, MeasuredBest> found;  // by number of the call
    GridBests bests;
    Marks good_ones{};
    if (me == 0) print_head("model");
    each_of_grid(me, tasks, {},
                 [&](CollectiveContext& library, Group& group, const Shape& shape,
                     std::size_t number, const auto& all) {
                     if (me != 0) return;
                     bests.on_network = !library.nodes_of(group).empty();
                     const TimedCandidate& best = best_of(all);
                     const TimedCandidate& model = marked(all, &TimedCandidate::by_model);
                     const bool good = !is_worth_recording(model, best);
                     print_cell(shape, model, best, good);
                     if (good) {
                         mark(good_ones, number);
                     } else {
                         found[number] = {shape.operation, shape.bytes, shape.n, best.method};
                     }
                 });
    // The best method depends on where tasks run, and changes. A method is therefore recorded only
    // if it is also better some time later.
    mpc_bcast(good_ones.data(), sizeof good_ones, 0, ALLGRP);
    if (me == 0) std::printf("once more:\n");
    each_of_grid(
        me, tasks, good_ones,
        [&](CollectiveContext&, Group&, const Shape& shape, std::size_t number, const auto& all) {
            if (me != 0) return;
            const MeasuredBest& first = found[number];
            const TimedCandidate& model = marked(all, &TimedCandidate::by_model);
            const auto again = std::find_if(all.begin(), all.end(), [&](const auto& each) {
                return each.method == first.method;
            });
            if (again == all.end()) return;
            const bool good = !is_worth_recording(model, *again);
            print_cell(shape, model, *again, good);
            if (!good) bests.bests.push_back(first);
        });
    return bests;
}

bool is_of_grid(const MeasuredBest& best, int tasks) {
    for (int n = 2; n <= std::min(tasks, kMostTasksOfGrid); n *= 2) {
        for (const Shape& each : calls_of(n)) {
            if (best.operation == each.operation && best.bytes == each.bytes && best.n == each.n)
                return true;
        }
    }
    return false;
}

}  // namespace poe::collectives
