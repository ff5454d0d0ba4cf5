// Text and SVG of simulated messages; see message_drawing.hpp.
#include "collectives/mpsim/message_drawing.hpp"

#include <algorithm>
#include <cstdio>
#include <tuple>

namespace poe::collectives {
namespace {

struct Edge {
    Rank child;
    double time;
};

std::string line(const std::string& indent, Rank rank, const std::string& note) {
    return indent + std::to_string(rank) + note + "\n";
}

std::string at(double time) {
    char text[40];
    std::snprintf(text, sizeof text, "at %.6g", time);
    return text;
}

// The tree of an operation to the root (`in`): for each rank, the last message that it sends. From
// the root: for each rank, the first message that it receives.
std::string tree_text(std::uint32_t n, Rank root, bool in,
                      const std::vector<SimulatedMessage>& messages) {
    std::vector<const SimulatedMessage*> edge(n, nullptr);
    for (const SimulatedMessage& each : messages) {
        auto& kept = edge[static_cast<std::size_t>(in ? each.from : each.to)];
        const bool better = kept == nullptr ||
                            (in ? each.received > kept->received : each.received < kept->received);
        if (better) kept = &each;
    }
    std::vector<std::vector<Edge>> children(n);
    std::vector<bool> has_parent(n, false);
    for (std::uint32_t rank = 0; rank < n; ++rank) {
        if (edge[rank] == nullptr || static_cast<Rank>(rank) == root) continue;
        const Rank parent = in ? edge[rank]->to : edge[rank]->from;
        children[static_cast<std::size_t>(parent)].push_back(
            {static_cast<Rank>(rank), edge[rank]->received});
        has_parent[rank] = true;
    }
    for (auto& each : children)
        std::sort(each.begin(), each.end(),
                  [](const Edge& a, const Edge& b) { return a.time < b.time; });
    std::string text;
    std::vector<bool> drawn(n, false);
    struct Open {
        Rank rank;
        std::size_t depth;
        double time;
    };
    const auto draw = [&](Rank top) {
        std::vector<Open> stack{{top, 0, -1}};
        while (!stack.empty()) {
            const Open now = stack.back();
            stack.pop_back();
            if (drawn[static_cast<std::size_t>(now.rank)]) continue;
            drawn[static_cast<std::size_t>(now.rank)] = true;
            text += line(std::string(now.depth * 3, ' '), now.rank,
                         now.time < 0 ? "" : " " + at(now.time));
            const auto& below = children[static_cast<std::size_t>(now.rank)];
            for (auto child = below.rbegin(); child != below.rend(); ++child)
                stack.push_back({child->child, now.depth + 1, child->time});
        }
    };
    draw(root);
    for (std::uint32_t rank = 0; rank < n; ++rank) {
        if (!has_parent[rank]) draw(static_cast<Rank>(rank));
    }
    // The remaining ranks form cycles.
    for (std::uint32_t rank = 0; rank < n; ++rank) draw(static_cast<Rank>(rank));
    return text;
}

std::string rounds_text(std::vector<SimulatedMessage> messages) {
    std::sort(messages.begin(), messages.end(),
              [](const SimulatedMessage& a, const SimulatedMessage& b) {
                  return std::tie(a.received, a.from, a.to) < std::tie(b.received, b.from, b.to);
              });
    // Sums of the same times differ in their last digits. Times count as equal if their texts are
    // equal.
    std::string text;
    std::string last;
    for (const SimulatedMessage& each : messages) {
        const std::string time = at(each.received);
        text += time == last ? ", " : (last.empty() ? "" : "\n") + time + ": ";
        text += std::to_string(each.from) + " to " + std::to_string(each.to);
        last = time;
    }
    return messages.empty() ? text : text + "\n";
}

}  // namespace

std::string messages_text(const Shape& shape, const std::vector<SimulatedMessage>& messages) {
    switch (shape.operation) {
        case Operation::kBcast:
        case Operation::kScatter:
            return tree_text(shape.n, shape.root, false, messages);
        case Operation::kReduce:
        case Operation::kGather:
            return tree_text(shape.n, shape.root, true, messages);
        default:
            return rounds_text(messages);
    }
}

std::string messages_svg(std::uint32_t n, double time,
                         const std::vector<SimulatedMessage>& messages) {
    constexpr double kLeft = 50;
    constexpr double kWidth = 900;
    constexpr double kRow = 18;
    const double scale = time > 0 ? kWidth / time : 0;
    const auto x = [&](double t) { return kLeft + t * scale; };
    const auto y = [&](Rank rank) { return kRow * (static_cast<double>(rank) + 1); };
    std::string text;
    char part[400];
    const double width = kLeft + kWidth + 20;
    const double all = kRow * (n + 2);
    std::snprintf(part, sizeof part,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
                  "viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\" font-size=\"11\">\n"
                  "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
                  width, all, width, all);
    text += part;
    for (std::uint32_t rank = 0; rank < n; ++rank) {
        const double height = y(static_cast<Rank>(rank));
        std::snprintf(part, sizeof part,
                      "<text x=\"8\" y=\"%.1f\">%u</text>"
                      "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#ccc\"/>\n",
                      height + 4, rank, kLeft, height, kLeft + kWidth, height);
        text += part;
    }
    for (const SimulatedMessage& each : messages) {
        std::snprintf(part, sizeof part,
                      "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#1f5fa8\">"
                      "<title>%d to %d, %llu bytes, %.6g to %.6g</title></line>\n",
                      x(each.sent), y(each.from), x(each.received), y(each.to), each.from, each.to,
                      static_cast<unsigned long long>(each.bytes), each.sent, each.received);
        text += part;
    }
    std::snprintf(part, sizeof part,
                  "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%.6g us</text>\n",
                  kLeft + kWidth, kRow * (n + 1.5), time);
    return text + part + "</svg>\n";
}

}  // namespace poe::collectives
