// SharedCores: cores that simulated ranks share (simulator.hpp). The ranks of a core use it round
// robin, always in the same order. A rank keeps the core until it must wait. Then each of the
// following ranks has its turn; a rank that still waits, or has ended, releases the core at once.
// Each turn takes `turn`, whether the rank can proceed or not, so a rank that is ready gets the
// core when the round reaches it. A rank that has a core for itself needs no turns.
//
// Invariant: next() returns turns in the order of time, provided that no call of ready() or keep()
// has a time before that of the last turn returned.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace poe::collectives {

class SharedCores {
  public:
    // `node_of` contains the node of each rank; empty: all ranks share one node. `cores` is the
    // number of cores per node. The ranks of a node are assigned to its cores in turn. `turn` is in
    // microseconds.
    SharedCores(std::uint32_t ranks, const std::vector<std::uint32_t>& node_of, std::uint32_t cores,
                double turn);

    // The rank waits for its turn and can proceed from `time` on.
    void ready(std::uint32_t rank, double time);

    struct CoreTurn {
        std::uint32_t rank = 0;
        double time = 0;
    };
    // Returns the earliest turn of all cores, if there is any. The rank has its core until it calls
    // keep() or hand_on().
    std::optional<CoreTurn> next();
    // The rank continues at `time`, and no other rank has the core until then.
    void keep(std::uint32_t rank, double time);
    void hand_on(std::uint32_t rank, double time);

    // The time of the turn that next() would return; infinity: there is none.
    double earliest() const;

  private:
    struct Place {
        std::uint32_t core = 0;
        std::uint32_t position = 0;  // in the round
    };
    struct Core {
        std::vector<std::uint32_t> ranks;
        double time = 0;             // when the core was last released
        std::uint32_t position = 0;  // of the rank that released it
        bool taken = false;
        double planned = -1;  // the time of its next turn; negative: none
        std::uint32_t planned_position = 0;
        std::set<std::uint32_t> waiting;                         // positions that were ready before
                                                                 // `time`
        std::set<std::pair<double, std::uint32_t>> ready_later;  // with their times
    };

    double turn_of(const Core& core) const { return core.ranks.size() > 1 ? turn_ : 0; }
    // The time at which the round reaches that position, not before `time`.
    double comes_to(const Core& core, std::uint32_t position, double time) const;
    // Makes that rank's turn the next one of the core, if it is earlier than the planned one.
    void consider(std::uint32_t core, std::uint32_t position, double time);
    void drop_plan(std::uint32_t core);

    double turn_;
    std::vector<Place> places_;     // of each rank
    std::vector<double> ready_at_;  // of each rank that is in ready_later
    std::vector<Core> cores_;
    std::set<std::pair<double, std::uint32_t>> plans_;  // with the core
};

}  // namespace poe::collectives
