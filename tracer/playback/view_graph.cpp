// The view of connections: which tasks exchange messages, as a graph and as a list of pairs, and
// which task waits for which at the moment.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/suggest.hpp"
#include "terminal/words.hpp"
#include "tracer/analysis/trace_words.hpp"
#include "tracer/playback/graph.hpp"
#include "tracer/playback/view_parts.hpp"

namespace poe::trace {

using terminal::Grid;
using terminal::Ink;
using terminal::kDim;
using terminal::kStrong;
using terminal::Style;

namespace {

// Draws lines between nodes. With Unicode a cell has two by four dots, which crossing lines share;
// otherwise it has the character of the last line. Heavier lines look stronger.
class Lines {
  public:
    Lines(Grid& grid, const terminal::Glyphs& glyphs) : grid_(grid), unicode_(glyphs.unicode()) {}

    void draw(GraphPlace::Node from, GraphPlace::Node to, Style style) {
        // In dots; without Unicode a dot is a cell.
        const int across = unicode_ ? 2 : 1;
        const int down = unicode_ ? 4 : 1;
        const int right = (to.column - from.column) * across;
        const int below = (to.line - from.line) * down;
        const int steps = std::max({std::abs(right), std::abs(below), 1});
        for (int step = 0; step <= steps; ++step) {
            const int x = from.column * across + across / 2 + rounded(right, step, steps);
            const int y = from.line * down + down / 2 + rounded(below, step, steps);
            if (unicode_)
                dot(x, y, style);
            else
                grid_.put(y, x, slope(right, below), style);
        }
    }

  private:
    static int rounded(int length, int step, int steps) {
        const int doubled = 2 * length * step + (length < 0 ? -steps : steps);
        return doubled / (2 * steps);
    }
    static char32_t slope(int right, int below) {
        if (std::abs(below) > 2 * std::abs(right)) return U'|';
        if (2 * std::abs(below) < std::abs(right)) return U'-';
        return (right > 0) == (below > 0) ? U'\\' : U'/';
    }
    void dot(int x, int y, Style style) {
        constexpr char32_t kBraille = U'\u2800';
        constexpr std::array<std::array<char32_t, 2>, 4> kDots{
            {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}};
        const int line = y / 4;
        const int column = x / 2;
        if (y < 0 || x < 0 || line >= grid_.size().lines || column >= grid_.size().columns) return;
        const char32_t before = grid_.at(line, column).glyph;
        const char32_t dots = before >= kBraille && before < kBraille + 256 ? before : kBraille;
        grid_.put(line, column,
                  dots | kDots[static_cast<std::size_t>(y % 4)][static_cast<std::size_t>(x % 2)],
                  style);
    }

    Grid& grid_;
    bool unicode_;
};

std::string node_words(int node, int group, int tasks) {
    const int last = std::min((node + 1) * group, tasks) - 1;
    return group == 1 ? std::to_string(node) : fmt::format("{}-{}", node * group, last);
}

void draw_graph(Grid& grid, const ViewState& look, const ViewContext& easel,
                const GraphPlace& place, const std::vector<Link>& links) {
    const int tasks = easel.session.source().facts().tasks;
    Lines lines(grid, easel.glyphs);
    // Draws the heaviest links last, on top of the others.
    for (auto link = links.rbegin(); link != links.rend(); ++link) {
        const bool heavy = link->weight > 0.5 * links.front().weight;
        const Style style = link->under_way > 0 ? style_of(State::kSending)
                            : heavy             ? kStrong
                                                : kDim;
        lines.draw(place.nodes[static_cast<std::size_t>(link->low)],
                   place.nodes[static_cast<std::size_t>(link->high)], style);
    }
    const JobState& state = easel.session.at(look.now);
    for (std::size_t i = 0; i < place.nodes.size(); ++i) {
        const int node = static_cast<int>(i);
        const std::string words = node_words(node, place.group, tasks);
        Style style = place.group == 1 ? style_of(state.tasks[i].state) : kStrong;
        style.selected = look.selected / place.group == node;
        const int width = terminal::columns_of(words) + 2;
        grid.put(place.nodes[i].line, std::max(place.nodes[i].column - width / 2, 0),
                 " " + words + " ", style);
    }
}

// Returns the number of the next line.
int draw_pairs(Grid& grid, const ViewContext& easel, const GraphPlace& place,
               const std::vector<Link>& links) {
    const int tasks = easel.session.source().facts().tasks;
    const bool unicode = easel.glyphs.unicode();
    const int left = place.list;
    int line = GraphPlace::kListTop;
    grid.put(line - 1, left,
             fmt::format("{:>13} {:>5} {:>7} {:>7}", "PAIR", "COUNT", "THERE", "BACK"), kDim);
    for (const Link& link : links) {
        const char* arrow = link.back.count == 0    ? (unicode ? "──▶" : "-->")
                            : link.there.count == 0 ? (unicode ? "◀──" : "<--")
                                                    : (unicode ? "◀─▶" : "<->");
        const int end = grid.put(
            line, left,
            fmt::format("{:>4} {} {:<4} {:>5} {:>7} {:>7}",
                        node_words(link.low, place.group, tasks), arrow,
                        node_words(link.high, place.group, tasks),
                        amount_words(static_cast<double>(link.there.count + link.back.count)),
                        bytes_words(link.there.bytes), bytes_words(link.back.bytes)),
            link.under_way > 0 ? style_of(State::kSending) : Style{});
        if (link.under_way > 0)
            grid.put(line, end + 1, fmt::format("{} under way", link.under_way),
                     style_of(State::kSending));
        ++line;
    }
    return line;
}

void draw_waiting(Grid& grid, const ViewState& look, const ViewContext& easel, int left, int line) {
    const JobState& state = easel.session.at(look.now);
    const char* waits = easel.glyphs.unicode() ? "◁┄┄" : "<..";
    for (std::size_t task = 0; task < state.tasks.size(); ++task) {
        const CallFrame* call = state.tasks[task].call(easel.session.definitions());
        if (call == nullptr || state.tasks[task].state == State::kSending) continue;
        const std::string peer = call->peer == kNobody ? "all" : std::to_string(call->peer);
        grid.put(line++, left,
                 fmt::format("{:>4} {} {:<4} {} for {}", task, waits, peer,
                             easel.session.definitions().region(call->region).name,
                             span_words(look.now - call->since)),
                 style_of(state.tasks[task].state));
    }
    tell_rest(grid, line);
}

}  // namespace

void draw_connections(Grid& grid, const ViewState& look, const ViewContext& easel) {
    const int tasks = easel.session.source().facts().tasks;
    const GraphPlace place = place_of_graph(grid.size(), tasks);
    const std::vector<Link> links = links_of(look, easel.session, place.group);
    std::size_t under_way = 0;
    for (const Link& link : links) under_way += link.under_way;
    grid.put(0, 14,
             fmt::format("{} {}, {} under way", look.count ? "messages" : "bytes", sums_words(look),
                         count_words(under_way, "message")),
             kDim);
    if (!place.nodes.empty()) draw_graph(grid, look, easel, place, links);
    if (place.list < 0) return;
    if (links.empty() && grid.size().lines > GraphPlace::kListTop)
        grid.put(GraphPlace::kListTop, place.list + 1,
                 fmt::format("no messages {}", sums_words(look)), kDim);
    const int line = draw_pairs(grid, easel, place, links);
    draw_waiting(grid, look, easel, place.list, line + 1);
}

}  // namespace poe::trace
