// ClockBounds: bounds for the errors of the nodes' clocks, from pairs of events of which one
// precedes the other. A message is sent before it is received; a measured clock is off by at most
// half of the round trip. Pure.
//
// The correction x of a node is subtracted from all its times. If event e of node a precedes event
// f of node b, then time(e) - x(a) <= time(f) - x(b), that is x(b) - x(a) <= time(f) - time(e): a
// difference constraint. The shortest paths from and to the reference node give the largest and the
// smallest corrections that satisfy all constraints. The mean of two solutions is a solution too.
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
        std::optional<Time> least;  // empty: no bound
        std::optional<Time> most;
    };

    explicit ClockBounds(std::size_t nodes) : nodes_(nodes) {}

    // Adds that an event of `first` preceded one of `second`, whose time is `later` later (negative
    // if it seems to be earlier). Only the least `later` between two nodes counts.
    void before(std::size_t first, std::size_t second, Time later);

    // Returns the range of each node's correction; that of `reference` is 0 to 0. Empty: the events
    // contradict each other. Cost: nodes times constraints at worst.
    std::optional<std::vector<Range>> solve(std::size_t reference) const;
    // True if no event seems to be earlier than one that preceded it.
    bool holds() const;
    bool empty() const { return least_.empty(); }

  private:
    std::optional<std::vector<std::optional<Time>>> paths(std::size_t reference,
                                                          bool backwards) const;

    std::size_t nodes_;
    std::map<std::pair<std::size_t, std::size_t>, Time> least_;  // by first and second node
};

}  // namespace poe::trace
