// Implementation of graph.hpp.
#include "tracer/playback/graph.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "tracer/playback/view_parts.hpp"

namespace poe::trace {
namespace {

// A line is as high as this many columns are wide.
constexpr double kColumnsPerLine = 2;

// The distance of a position from the line between two nodes, in lines.
double distance(const GraphPlace::Node& a, const GraphPlace::Node& b, int line, int column) {
    const double across = (b.column - a.column) / kColumnsPerLine;
    const double down = b.line - a.line;
    const double to_across = (column - a.column) / kColumnsPerLine;
    const double to_down = line - a.line;
    const double length = across * across + down * down;
    const double way =
        length == 0 ? 0 : std::clamp((to_across * across + to_down * down) / length, 0.0, 1.0);
    return std::hypot(to_across - way * across, to_down - way * down);
}

}  // namespace

GraphPlace place_of_graph(terminal::Size size, int tasks) {
    constexpr terminal::Size kLeastGraph{28, 9};
    constexpr int kListWidth = 36;
    constexpr int kMostNodes = 32;
    constexpr int kLabel = 4;  // columns on each side for task numbers
    GraphPlace place;
    place.list_lines = std::max(size.lines - GraphPlace::kListTop, 0);
    const bool graph = size.columns >= kLeastGraph.columns && size.lines >= kLeastGraph.lines;
    if (!graph || tasks <= 0) return place;
    const bool list = size.columns >= kLeastGraph.columns + kListWidth;
    const int columns = list ? std::max(size.columns / 2, kLeastGraph.columns) : size.columns;
    place.list = list ? columns : -1;
    const int lines = size.lines - 2;
    const int most = std::min(kMostNodes, 2 * lines);
    place.group = (tasks + most - 1) / most;
    const int nodes = (tasks + place.group - 1) / place.group;
    const double high = (lines - 1) / 2.0;
    const double wide = std::min(columns / 2.0 - kLabel, kColumnsPerLine * 1.2 * high);
    for (int node = 0; node < nodes; ++node) {
        const double angle = 2 * std::numbers::pi * node / nodes;
        place.nodes.push_back(
            {1 + static_cast<int>(std::lround(high - std::cos(angle) * high)),
             static_cast<int>(std::lround(columns / 2.0 + std::sin(angle) * wide))});
    }
    return place;
}

std::vector<Link> links_of(const ViewState& look, Session& session, int group) {
    std::map<std::pair<int, int>, Link> links;
    const auto link_of = [&](TaskId from, TaskId to) -> Link* {
        const int a = from / group;
        const int b = to / group;
        if (a == b) return nullptr;
        Link& link = links[std::minmax(a, b)];
        std::tie(link.low, link.high) = std::minmax(a, b);
        return &link;
    };
    for (const PairSum& sum : session.pairs(stretch_of(look, session))) {
        Link* link = link_of(sum.from, sum.to);
        if (link == nullptr) continue;
        PairSum& way = sum.from / group == link->low ? link->there : link->back;
        way.count += sum.count;
        way.bytes += sum.bytes;
        link->weight += static_cast<double>(look.count ? sum.count : sum.bytes);
    }
    session.at(look.now);
    for (const Message& message : session.in_flight())
        if (Link* link = link_of(message.from, message.to)) ++link->under_way;
    std::vector<Link> found;
    found.reserve(links.size());
    for (const auto& [pair, link] : links) found.push_back(link);
    std::stable_sort(found.begin(), found.end(),
                     [](const Link& a, const Link& b) { return a.weight > b.weight; });
    return found;
}

GraphSpot spot_of_graph(const GraphPlace& place, const std::vector<Link>& links, int line,
                        int column) {
    constexpr double kNear = 1;
    GraphSpot spot;
    if (place.list >= 0 && column >= place.list) {
        const auto index = static_cast<std::size_t>(line - GraphPlace::kListTop);
        if (line >= GraphPlace::kListTop && index < links.size()) spot.link = index;
        return spot;
    }
    double best = kNear;
    for (std::size_t node = 0; node < place.nodes.size(); ++node) {
        const auto& at = place.nodes[node];
        const double far = distance(at, at, line, column);
        if (far > best) continue;
        best = far;
        spot.node = static_cast<int>(node);
    }
    if (spot.node) return spot;
    for (std::size_t i = 0; i < links.size() && !place.nodes.empty(); ++i) {
        const double far =
            distance(place.nodes[static_cast<std::size_t>(links[i].low)],
                     place.nodes[static_cast<std::size_t>(links[i].high)], line, column);
        if (far >= best) continue;
        best = far;
        spot.link = i;
    }
    return spot;
}

}  // namespace poe::trace
