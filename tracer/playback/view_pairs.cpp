// Views of messages as numbers: the matrix of the amounts between tasks, and the sums and sizes.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/suggest.hpp"
#include "terminal/words.hpp"
#include "tracer/analysis/trace_words.hpp"
#include "tracer/playback/view_parts.hpp"

namespace poe::trace {

using terminal::Grid;
using terminal::Ink;
using terminal::kDim;
using terminal::Style;

namespace {

double weight_of(const PairSum& sum, const ViewState& look) {
    return look.count ? static_cast<double>(sum.count) : static_cast<double>(sum.bytes);
}

}  // namespace

MatrixPlace place_of_matrix(terminal::Size size, int tasks) {
    const int lines = size.lines - MatrixPlace::kTop;
    const int columns = size.columns - MatrixPlace::kLeft;
    if (lines <= 0 || columns <= 0 || tasks <= 0) return {};
    MatrixPlace place;
    place.group = std::max({1, (tasks + lines - 1) / lines, (tasks + columns - 1) / columns});
    place.cells = (tasks + place.group - 1) / place.group;
    place.wide = std::clamp(columns / place.cells, 1, 3);
    return place;
}

void draw_matrix(Grid& grid, const ViewState& look, const ViewContext& easel) {
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
    for (const PairSum& sum : easel.session.pairs(stretch_of(look, easel.session))) {
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
             fmt::format("from the left to those above, {}; full cell {} {}", sums_words(look),
                         amount_words(most), look.count ? "messages" : "bytes"),
             kDim);
}

void draw_messages(Grid& grid, const ViewState& look, const ViewContext& easel) {
    const Stretch stretch = stretch_of(look, easel.session);
    const Ended sums = easel.session.ended(stretch);
    PairSum all;
    for (const auto& [key, sum] : sums.pairs) {
        all.count += sum.count;
        all.bytes += sum.bytes;
    }
    std::uint64_t collectives = 0;
    for (const auto& [region, calls] : sums.calls)
        if (easel.session.definitions().region(region).state == State::kCollective)
            collectives += calls.count;
    const double seconds = std::max(seconds_of(stretch.length()), 1e-9);
    grid.put(0, 14, fmt::format("that arrived {}", sums_words(look)), kDim);
    int line = 1;
    grid.put(line++, 1,
             fmt::format("{}, {} bytes, {} of collectives",
                         count_words(static_cast<std::size_t>(all.count), "message"),
                         bytes_words(all.bytes),
                         count_words(static_cast<std::size_t>(collectives), "call")));
    grid.put(line++, 1,
             fmt::format("{} messages and {} bytes a second",
                         amount_words(static_cast<double>(all.count) / seconds),
                         amount_words(static_cast<double>(all.bytes) / seconds)));
    if (const std::uint64_t backwards = easel.session.at(look.now).backwards; backwards > 0)
        grid.put(line++, 1,
                 fmt::format("{} were received before they were sent: clocks differ", backwards),
                 {Ink::kStrong, 0, false});
    // Sizes by powers of two.
    const std::uint64_t most = *std::max_element(sums.sizes.begin(), sums.sizes.end());
    if (most == 0) return;
    grid.put(line++, 1, "sizes, up to bytes:", kDim);
    for (std::size_t bits = 0; bits < sums.sizes.size(); ++bits) {
        const std::uint64_t count = sums.sizes[bits];
        if (count == 0) continue;
        const double bytes =
            bits == 0 ? 0 : static_cast<double>((std::uint64_t{1} << (bits - 1)) * 2 - 1);
        grid.put_right(line, 8, amount_words(bytes), kDim);
        const int width = std::max(grid.size().columns - 20, 1);
        grid.put(line, 9,
                 easel.glyphs.bar(width, static_cast<double>(count) / static_cast<double>(most)),
                 {Ink::kBar, 0, false});
        grid.put(line++, 10 + width, amount_words(static_cast<double>(count)));
    }
    tell_rest(grid, line);
}

}  // namespace poe::trace
