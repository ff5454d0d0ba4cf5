// Graph: tasks on a circle, a line for each pair that exchanges messages, and the pairs as a list.
// This file has the layout; view_graph.cpp draws it and click.cpp searches it. Pure.
#pragma once

#include "tracer/playback/view_context.hpp"

namespace poe::trace {

// A pair of nodes; each pair occurs once: `low` < `high`.
struct Link {
    int low = 0;
    int high = 0;
    PairSum there;  // from low to high
    PairSum back;
    std::size_t under_way = 0;  // messages between them that are in progress at the moment
    double weight = 0;          // bytes, or number of messages
};

struct GraphPlace {
    static constexpr int kListTop = 2;
    struct Node {
        int line = 0;
        int column = 0;
    };
    int group = 1;            // tasks per node
    std::vector<Node> nodes;  // empty: there is no room for the graph
    int list = 0;             // first column of the list; -1: there is no room for it
    int list_lines = 0;
};
GraphPlace place_of_graph(terminal::Size size, int tasks);

// Returns the links, heaviest first. Reads the state at the look's moment from the session.
std::vector<Link> links_of(const ViewState& look, Session& session, int group);

// The object at a position of the view: a node, the index of a link, or nothing.
struct GraphSpot {
    std::optional<int> node;
    std::optional<std::size_t> link;
};
GraphSpot spot_of_graph(const GraphPlace& place, const std::vector<Link>& links, int line,
                        int column);

}  // namespace poe::trace
