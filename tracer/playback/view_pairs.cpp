// Views of who exchanges messages with whom: the matrix, what is under way now, numbers.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "markerarray/words.hpp"
#include "tracer/playback/view_parts.hpp"
#include "tracer/trace_words.hpp"

namespace poe::trace {

using markers::Grid;
using markers::Ink;
using markers::Style;

namespace {

constexpr Style kDim{Ink::kDim, 0, false};

double weight_of(const PairSum& sum, const Look& look) {
    return look.count ? static_cast<double>(sum.count) : static_cast<double>(sum.bytes);
}

std::string stretch_words(const Look& look) {
    return look.so_far ? "so far" : "in the window";
}

}  // namespace

MatrixPlace place_of_matrix(markers::Size size, int tasks) {
    const int lines = size.lines - MatrixPlace::kTop;
    const int columns = size.columns - MatrixPlace::kLeft;
    if (lines <= 0 || columns <= 0 || tasks <= 0) return {};
    MatrixPlace place;
    place.group = std::max({1, (tasks + lines - 1) / lines, (tasks + columns - 1) / columns});
    place.cells = (tasks + place.group - 1) / place.group;
    place.wide = std::clamp(columns / place.cells, 1, 3);
    return place;
}

void draw_matrix(Grid& grid, const Look& look, const Easel& easel) {
    constexpr int kLabels = MatrixPlace::kLeft;
    const int tasks = easel.session.source().facts().tasks;
    const int columns = grid.size().columns - kLabels;
    const auto [group, cells, wide] = place_of_matrix(grid.size(), tasks);
    if (cells == 0) return;
    std::vector<double> sums(static_cast<std::size_t>(cells) * static_cast<std::size_t>(cells));
    double most = 0;
    const auto side = static_cast<std::size_t>(cells);
    const auto at = [&sums, side](int from, int to) -> double& {
        return sums[static_cast<std::size_t>(from) * side + static_cast<std::size_t>(to)];
    };
    for (const PairSum& sum : easel.session.pairs(stretch_of(look, easel))) {
        if (sum.from >= tasks || sum.to >= tasks) continue;
        double& cell = at(sum.from / group, sum.to / group);
        cell += weight_of(sum, look);
        most = std::max(most, cell);
    }
    for (int from = 0; from < cells; ++from) {
        const bool selected = look.selected / group == from;
        grid.put_right(2 + from, kLabels - 1, std::to_string(from * group),
                       selected ? Style{Ink::kStrong, 0, true} : kDim);
        for (int to = 0; to < cells; ++to) {
            const double sum = at(from, to);
            const char32_t glyph =
                sum > 0 ? level_glyph(sum / most, easel.glyphs) : easel.glyphs.unlit();
            for (int i = 0; i < (sum > 0 ? wide : 1); ++i)
                grid.put(2 + from, kLabels + to * wide + i, glyph,
                         sum > 0 ? style_of(State::kSending) : kDim);
        }
    }
    for (int to = 0; to * wide < columns && to < cells; to += std::max(1, 6 / wide))
        grid.put(1, kLabels + to * wide, std::to_string(to * group), kDim);
    grid.put(0, 14,
             fmt::format("from the left to those above, {}; full cell {} {}", stretch_words(look),
                         amount_words(most), look.count ? "messages" : "bytes"),
             kDim);
}

void draw_connections(Grid& grid, const Look& look, const Easel& easel) {
    const JobState& state = easel.session.at(look.now);
    std::vector<Message> under_way = easel.session.in_flight();
    std::sort(under_way.begin(), under_way.end(), [](const Message& a, const Message& b) {
        return std::tuple(a.sent, a.from, a.to) < std::tuple(b.sent, b.from, b.to);
    });
    int line = 1;
    const char* arrow = easel.glyphs.unicode() ? "──▶" : "-->";
    for (const Message& message : under_way)
        grid.put(line++, 1,
                 fmt::format("{:>4} {} {:<4} {:>8} type {}, for {}", message.from, arrow,
                             message.to, bytes_words(message.bytes), message.type,
                             span_words(look.now - message.sent)),
                 style_of(State::kSending));
    const char* waits = easel.glyphs.unicode() ? "◁┄┄" : "<..";
    for (std::size_t task = 0; task < state.tasks.size(); ++task) {
        const Frame* call = state.tasks[task].call(easel.session.definitions());
        if (call == nullptr || state.tasks[task].state == State::kSending) continue;
        const std::string peer = call->peer == kNobody ? "all" : std::to_string(call->peer);
        grid.put(line++, 1,
                 fmt::format("{:>4} {} {:<4} {} for {}", task, waits, peer,
                             easel.session.definitions().region(call->region).name,
                             span_words(look.now - call->since)),
                 style_of(state.tasks[task].state));
    }
    if (line == 1) grid.put(1, 1, "no message is under way, and nobody is in a call", kDim);
    tell_rest(grid, line);
    grid.put(0, 14, markers::count_words(under_way.size(), "message") + " under way", kDim);
}

void draw_messages(Grid& grid, const Look& look, const Easel& easel) {
    const JobState& state = easel.session.at(look.now);
    Bytes sent = 0;
    std::uint64_t sends = 0, collectives = 0;
    for (const TaskState& task : state.tasks) {
        sent += task.bytes_sent;
        sends += task.sends;
        collectives += task.collectives;
    }
    const double seconds = std::max(seconds_of(look.now - easel.session.whole().from), 1e-9);
    int line = 1;
    grid.put(line++, 1,
             fmt::format("{} messages, {} bytes, {} calls of collectives so far",
                         amount_words(static_cast<double>(sends)), bytes_words(sent),
                         amount_words(static_cast<double>(collectives))));
    grid.put(line++, 1,
             fmt::format("{} messages and {} bytes a second",
                         amount_words(static_cast<double>(sends) / seconds),
                         amount_words(static_cast<double>(sent) / seconds)));
    if (state.backwards > 0)
        grid.put(
            line++, 1,
            fmt::format("{} were received before they were sent: clocks differ", state.backwards),
            {Ink::kStrong, 0, false});
    // Sizes by powers of two, of the window.
    const auto sizes = easel.session.ended({look.window.from, look.now}).sizes;
    const std::uint64_t most = *std::max_element(sizes.begin(), sizes.end());
    if (most == 0) return;
    grid.put(line++, 1, "sizes of what arrived in the window, up to bytes:", kDim);
    for (std::size_t bits = 0; bits < sizes.size(); ++bits) {
        if (sizes[bits] == 0) continue;
        const double bytes =
            bits == 0 ? 0 : static_cast<double>((std::uint64_t{1} << (bits - 1)) * 2 - 1);
        grid.put_right(line, 8, amount_words(bytes), kDim);
        const int width = std::max(grid.size().columns - 20, 1);
        grid.put(
            line, 9,
            easel.glyphs.bar(width, static_cast<double>(sizes[bits]) / static_cast<double>(most)),
            {Ink::kBar, 0, false});
        grid.put(line++, 10 + width, amount_words(static_cast<double>(sizes[bits])));
    }
    tell_rest(grid, line);
}

}  // namespace poe::trace
