// ClockBounds: how far the clocks of nodes may be off, from pairs of events of which one came
// before the other. A message is sent before it is received; a measured clock is off by at most
// half of the round trip. Pure.
//
// A correction x of a node is subtracted from all its times. Event e of node a before event f of
// node b says time(e) - x(a) <= time(f) - x(b), that is x(b) - x(a) <= time(f) - time(e): a
// difference constraint. The shortest paths from and to the node of reference give the largest and
// the smallest corrections that violate none, and the middle of two solutions is one, too.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "tracer/read/trace_time.hpp"

namespace poe::trace {

class ClockBounds {
  public:
    struct Range {
        std::optional<Time> least;  // empty: there is no bound
        std::optional<Time> most;
    };

    explicit ClockBounds(std::size_t nodes) : nodes_(nodes) {}

    // An event of `first` came before one of `second` whose time is so much later (less than 0: it
    // seems to be earlier). Only the least time between two nodes counts.
    void before(std::size_t first, std::size_t second, Time later);

    // The range of each node's correction; that of `reference` is 0 to 0. Nothing: the events
    // contradict each other. Cost: nodes times constraints at worst.
    std::optional<std::vector<Range>> solve(std::size_t reference) const;
    // True when no event seems to be earlier than one that came before it.
    bool holds() const;
    bool empty() const { return least_.empty(); }

  private:
    std::optional<std::vector<std::optional<Time>>> paths(std::size_t reference,
                                                          bool backwards) const;

    std::size_t nodes_;
    std::map<std::pair<std::size_t, std::size_t>, Time> least_;  // by first and second
};

}  // namespace poe::trace
