// The efficiencies of the POP project (Performance Optimisation and Productivity), of the job and
// of each phase. Pure.
//
//   With c the computing time of a task, T the elapsed time, I the elapsed time on an ideal
//   network:
//
//   parallel efficiency   mean c / T       = load balance x communication efficiency
//   load balance          mean c / max c
//   communication         max c / T        = serialisation x transfer
//   serialisation         max c / I
//   transfer              I / T
//
// T and I of the job are from the first to the last event of any task. Those of a phase are taken
// from the task that spent the most time in it. A phase is the outermost region that the program
// has marked.
#pragma once

#include <vector>

#include "tracer/diagnosis/history.hpp"
#include "tracer/diagnosis/ideal_replay.hpp"

namespace poe::trace {

struct Efficiency {
    std::uint32_t phase = 0;    // the region; 0 for the job and for the time in no region
    std::size_t tasks = 0;      // tasks that were in it
    double mean_computing = 0;  // ns
    Time max_computing{0};
    Time elapsed{0};
    Time ideal{0};

    double load_balance() const;
    double serialisation() const;
    double transfer() const;
    double communication() const;
    double parallel() const;
};

struct Efficiencies {
    Efficiency job;
    // Longest first. Empty if the program has marked no regions. The row of phase 0, the time in no
    // region, is among them.
    std::vector<Efficiency> phases;
};

Efficiencies find_efficiencies(const History& history, const IdealHistory& ideal);

}  // namespace poe::trace
