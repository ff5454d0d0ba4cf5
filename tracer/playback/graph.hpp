// Graph: tasks on a circle, a line for each pair that exchanges messages, and the pairs as a list.
// Here is where things are; view_graph.cpp draws them, click.cpp finds them. Pure.
#pragma once

#include "tracer/playback/easel.hpp"

namespace poe::trace {

// A pair of nodes, each once: `low` < `high`.
struct Link {
    int low = 0;
    int high = 0;
    PairSum there;  // from low to high
    PairSum back;
    std::size_t under_way = 0;  // messages between them that have not arrived at the moment
    double weight = 0;          // bytes, or messages
};

struct GraphPlace {
    static constexpr int kListTop = 2;
    struct Node {
        int line = 0;
        int column = 0;
    };
    int group = 1;            // tasks that share a node
    std::vector<Node> nodes;  // empty: there is no room for the graph
    int list = 0;             // first column of the list; -1: there is no room for the list
    int list_lines = 0;
};
GraphPlace place_of_graph(terminal::Size size, int tasks);

// The heaviest first. Asks the session for the moment of the look.
std::vector<Link> links_of(const Look& look, Session& session, int group);

// What is at a place of the view: a node, or the index of a link; at most one of both.
struct GraphSpot {
    std::optional<int> node;
    std::optional<std::size_t> link;
};
GraphSpot spot_of_graph(const GraphPlace& place, const std::vector<Link>& links, int line,
                        int column);

}  // namespace poe::trace
