// Cores that simulated ranks share (simulator.hpp). A core goes round its ranks, always in the same
// order. A rank has it until it must wait; then each of those behind it has its turn, and whoever
// still waits, or is through, hands the core on at once. Each turn takes `turn`, in vain or not, so
// a rank that is ready has the core when the round has come to it. A rank that has a core for
// itself needs no turns.
//
// Invariant: next() gives turns in the order of time, as long as nobody is said to be ready, or to
// keep its core, before the turn that was given last.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace poe::collectives {

class SharedCores {
  public:
    // `node_of` each rank, empty: all share one; `cores` of each node. Ranks are on the cores of
    // their node in turn.
    SharedCores(std::uint32_t ranks, const std::vector<std::uint32_t>& node_of, std::uint32_t cores,
                double turn);

    // It waits for its turn, and has something to do from `time` on.
    void ready(std::uint32_t rank, double time);

    struct RuntimeLock {
        std::uint32_t rank = 0;
        double time = 0;
    };
    // The earliest of all cores. The rank has its core until one of the two calls below.
    std::optional<RuntimeLock> next();
    // It goes on at `time`, without another having the core between.
    void keep(std::uint32_t rank, double time);
    void hand_on(std::uint32_t rank, double time);

    // Of what next() would give; infinity: nothing.
    double earliest() const;

  private:
    struct Place {
        std::uint32_t core = 0;
        std::uint32_t position = 0;  // in the round
    };
    struct Core {
        std::vector<std::uint32_t> ranks;
        double time = 0;             // when it was handed on
        std::uint32_t position = 0;  // by whom
        bool taken = false;
        double planned = -1;  // the time of its next turn; negative: none
        std::uint32_t planned_position = 0;
        std::set<std::uint32_t> waiting;                         // positions, ready before `time`
        std::set<std::pair<double, std::uint32_t>> ready_later;  // with when
    };

    double turn_of(const Core& core) const { return core.ranks.size() > 1 ? turn_ : 0; }
    // When the round comes to it, not before `time`.
    double comes_to(const Core& core, std::uint32_t position, double time) const;
    // The core's next turn is that rank's, if it comes to it before the one that was to be next.
    void consider(std::uint32_t core, std::uint32_t position, double time);
    void drop_plan(std::uint32_t core);

    double turn_;
    std::vector<Place> places_;     // of each rank
    std::vector<double> ready_at_;  // likewise, where it is among ready_later
    std::vector<Core> cores_;
    std::set<std::pair<double, std::uint32_t>> plans_;  // with the core
};

}  // namespace poe::collectives
