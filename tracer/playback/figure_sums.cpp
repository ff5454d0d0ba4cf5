// Figures of sums (balance, calls, messages, matrix, connections), and of views that consist of
// words.
#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "base/suggest.hpp"
#include "terminal/words.hpp"
#include "tracer/analysis/trace_words.hpp"
#include "tracer/playback/figure_parts.hpp"
#include "tracer/playback/graph.hpp"
#include "tracer/playback/view_parts.hpp"
#include "tracer/playback/views.hpp"

namespace poe::trace {

using terminal::Rgb;

namespace {

constexpr double kRow = 16;
constexpr double kBar = 11;

// White for 0; darker for larger fractions.
Rgb shade(double share) {
    share = std::clamp(share, 0.0, 1.0);
    const auto mix = [share](int light, int dark) {
        return static_cast<int>(std::lround(light + (dark - light) * share));
    };
    return {mix(0xe8, 0x12), mix(0xf0, 0x3a), mix(0xfa, 0x70)};
}

std::string sums_title(const ViewState& look, std::string_view what) {
    return fmt::format("{}, {}", what, sums_words(look));
}

}  // namespace

Figure figure_of_balance(const ViewState& look, FigureSize size, const ViewContext& easel) {
    constexpr double kUsual = 420;
    const int tasks = std::max(easel.session.source().facts().tasks, 1);
    const double all = size.height > 62 ? size.height - 62 : std::min(tasks * kRow, kUsual);
    Chart rows;
    rows.group = std::max(1, static_cast<int>(std::ceil(tasks * 2 / all)));
    rows.rows = (tasks + rows.group - 1) / rows.group;
    const double row_height = all / rows.rows;
    Figure figure;
    const Plot plot = plot_of(figure, size, all, 60);
    const Balance load = balance_of(look, easel.session, rows);
    PartTimes sums{};
    double last = -kRow;
    for (int row = 0; row < rows.rows; ++row) {
        const auto at = static_cast<std::size_t>(row);
        if (at >= load.sums.size()) break;
        const double y = plot.area.y + row_height * row;
        add_bar(figure, {plot.area.x, y, plot.area.width, row_height * kBar / kRow}, load.sums[at],
                traced_of(load.sums[at]));
        for (std::size_t part = 0; part < kParts; ++part) sums[part] += load.sums[at][part];
        if (y - last < 10) continue;
        last = y;
        add_words(figure, plot.area.x - 5, y + row_height * kBar / kRow / 2 + 3,
                  row_words(rows, row, tasks), Words::Align::kRight);
    }
    add_legend(figure, plot, sums, easel);
    add_left_title(figure, plot, "task");
    add_axis(figure, plot, 0, 100, sums_title(look, "share of time [%]"));
    return figure;
}

Figure figure_of_calls(const ViewState& look, FigureSize size, const ViewContext& easel) {
    constexpr std::size_t kMost = 20;
    const Ended sums = easel.session.ended(stretch_of(look, easel.session));
    std::vector<std::pair<std::uint32_t, Ended::Calls>> calls(sums.calls.begin(), sums.calls.end());
    std::stable_sort(calls.begin(), calls.end(),
                     [](const auto& a, const auto& b) { return a.second.time > b.second.time; });
    calls.resize(std::min(calls.size(), kMost));
    Figure figure;
    const double rows = static_cast<double>(std::max<std::size_t>(calls.size(), 1));
    const Plot plot = plot_of(figure, size, kRow * rows, 150);
    const double row = plot.area.height / rows;
    const double most = calls.empty() ? 1 : std::max(seconds_of(calls[0].second.time), 1e-9);
    constexpr double kBehind = 170;  // room for the numbers
    Plot bars = plot;
    bars.area.width = std::max(plot.area.width - kBehind, 10.0);
    for (std::size_t i = 0; i < calls.size(); ++i) {
        const auto& [number, sum] = calls[i];
        const Region& region = easel.session.definitions().region(number);
        const double y = plot.area.y + row * static_cast<double>(i);
        const double wide = bars.area.width * seconds_of(sum.time) / most;
        const std::size_t part = region.of_user ? easel.session.parts().of_region(number)
                                                : static_cast<std::size_t>(region.state);
        add_box(figure, {bars.area.x, y + 2, wide, std::max(row - 5, 1.0)}, paper_color(part));
        add_words(figure, bars.area.x - 5, y + row / 2 + 2, region.name, Words::Align::kRight);
        add_words(figure, bars.area.x + wide + 5, y + row / 2 + 2,
                  fmt::format("{} in {}", span_words(sum.time),
                              count_words(static_cast<std::size_t>(sum.count), "call")),
                  Words::Align::kLeft, kGrey, 8);
    }
    const auto [scale, unit] = most >= 2 ? std::pair{1.0, "s"} : std::pair{1e3, "ms"};
    add_axis(figure, bars, 0, most * scale,
             sums_title(look, fmt::format("time in calls [{}]", unit)));
    return figure;
}

Figure figure_of_messages(const ViewState& look, FigureSize size, const ViewContext& easel) {
    constexpr double kHeight = 180;
    const Ended sums = easel.session.ended(stretch_of(look, easel.session));
    std::size_t first = sums.sizes.size();
    std::size_t last = 0;
    std::uint64_t most = 0;
    for (std::size_t bits = 0; bits < sums.sizes.size(); ++bits) {
        if (sums.sizes[bits] == 0) continue;
        first = std::min(first, bits);
        last = bits;
        most = std::max(most, sums.sizes[bits]);
    }
    Figure figure;
    const Plot plot = plot_of(figure, size, kHeight, 60);
    if (most > 0) {
        const double wide = std::min(plot.area.width / static_cast<double>(last - first + 1), 60.0);
        for (std::size_t bits = first; bits <= last; ++bits) {
            const double x = plot.area.x + wide * static_cast<double>(bits - first);
            const double high = plot.area.height * static_cast<double>(sums.sizes[bits]) /
                                static_cast<double>(most);
            add_box(figure, {x + wide * 0.1, plot.bottom() - high, wide * 0.8, high}, kBlue);
            const double bytes = bits == 0 ? 0 : std::exp2(static_cast<double>(bits)) - 1;
            add_words(figure, x + wide / 2, plot.bottom() + 13, amount_words(bytes),
                      Words::Align::kMiddle, kBlack, std::min(9.0, wide / 3));
        }
    }
    add_line(figure, plot.area.x, plot.bottom(), plot.right(), plot.bottom(), kBlack);
    add_line(figure, plot.area.x, plot.area.y, plot.area.x, plot.bottom(), kBlack);
    add_words(figure, plot.area.x + plot.area.width / 2, plot.bottom() + 27,
              sums_title(look, "size of messages, up to [bytes]"), Words::Align::kMiddle);
    add_left_axis(figure, plot, static_cast<double>(std::max<std::uint64_t>(most, 1)), "messages");
    return figure;
}

Figure figure_of_matrix(const ViewState& look, FigureSize size, const ViewContext& easel) {
    constexpr int kMostCells = 128;
    constexpr double kUsual = 360;
    constexpr double kScale = 90;  // for the scale at the right
    const int tasks = std::max(easel.session.source().facts().tasks, 1);
    const int group = (tasks + kMostCells - 1) / kMostCells;
    const int cells = (tasks + group - 1) / group;
    std::vector<double> sums(static_cast<std::size_t>(cells) * static_cast<std::size_t>(cells));
    double most = 0;
    for (const PairSum& sum : easel.session.pairs(stretch_of(look, easel.session))) {
        if (sum.from >= tasks || sum.to >= tasks) continue;
        double& cell = sums[static_cast<std::size_t>(sum.from / group * cells + sum.to / group)];
        cell += static_cast<double>(look.count ? sum.count : sum.bytes);
        most = std::max(most, cell);
    }
    Figure figure;
    const double wanted = std::max(std::min({size.width - 60 - kScale, kUsual, cells * 40.0}), 1.0);
    const Plot plot = plot_of(figure, size, wanted, 52);
    const double side =
        std::max(std::min({plot.area.width - kScale, plot.area.height, wanted}), 1.0);
    const double cell = side / cells;
    int every = 1;
    for (const int step : {1, 2, 4, 8, 16, 32, 64}) {
        every = step;
        if (cell * step >= 16) break;
    }
    for (int from = 0; from < cells; ++from) {
        for (int to = 0; to < cells; ++to) {
            const double sum = sums[static_cast<std::size_t>(from * cells + to)];
            if (sum > 0)
                add_box(figure, {plot.area.x + cell * to, plot.area.y + cell * from, cell, cell},
                        shade(sum / most));
        }
        if (from % every != 0) continue;
        const std::string name = std::to_string(from * group);
        add_words(figure, plot.area.x - 5, plot.area.y + cell * (from + 0.5) + 3, name,
                  Words::Align::kRight);
        add_words(figure, plot.area.x + cell * (from + 0.5), plot.area.y - 4, name,
                  Words::Align::kMiddle);
    }
    const double right = plot.area.x + side;
    const double bottom = plot.area.y + side;
    add_line(figure, plot.area.x, plot.area.y, right, plot.area.y, kBlack);
    add_line(figure, plot.area.x, bottom, right, bottom, kBlack);
    add_line(figure, plot.area.x, plot.area.y, plot.area.x, bottom, kBlack);
    add_line(figure, right, plot.area.y, right, bottom, kBlack);
    Plot axes = plot;
    axes.area.height = side;
    add_left_title(figure, axes, "from task");
    add_words(figure, plot.area.x + side / 2, bottom + 14, "to task", Words::Align::kMiddle);
    constexpr int kSteps = 40;
    const double high = std::min(side, 140.0);
    for (int step = 0; step < kSteps; ++step)
        add_box(figure,
                {right + 20, plot.area.y + high * (kSteps - 1 - step) / kSteps, 10,
                 high / kSteps + 0.3},
                shade((step + 1.0) / kSteps));
    add_words(figure, right + 34, plot.area.y + 8, amount_words(most));
    add_words(figure, right + 34, plot.area.y + high, "0");
    add_words(figure, right + 20, plot.area.y + high + 14,
              sums_title(look, look.count ? "messages" : "bytes"), Words::Align::kLeft, kGrey, 8);
    // No wider than its content, unless its size was chosen.
    if (size.height <= 0) figure.width = std::min(figure.width, right + kScale + 40);
    return figure;
}

Figure figure_of_connections(const ViewState& look, FigureSize size, const ViewContext& easel) {
    constexpr int kMostNodes = 64;
    constexpr double kSide = 360;
    const int tasks = std::max(easel.session.source().facts().tasks, 1);
    const int group = (tasks + kMostNodes - 1) / kMostNodes;
    const int nodes = (tasks + group - 1) / group;
    const auto links = links_of(look, easel.session, group);
    Figure figure;
    const Plot plot = plot_of(figure, size, kSide, 10);
    const double radius = std::max(std::min(plot.area.width, plot.area.height) / 2 - 14, 1.0);
    // No wider than its content, unless its size was chosen.
    if (size.height <= 0) figure.width = std::min(figure.width, kSide + 2 * plot.area.x);
    const double middle = figure.width / 2;
    const double centre = plot.area.y + plot.area.height / 2;
    const auto place = [&](int node) {
        const double angle = 2 * std::numbers::pi * node / nodes;
        return std::pair{middle + std::sin(angle) * radius, centre - std::cos(angle) * radius};
    };
    constexpr double kThick = 5;
    const double most = links.empty() ? 1 : std::max(links.front().weight, 1.0);
    for (auto link = links.rbegin(); link != links.rend(); ++link) {
        const auto [x1, y1] = place(link->low);
        const auto [x2, y2] = place(link->high);
        add_line(figure, x1, y1, x2, y2, shade(0.25 + 0.75 * link->weight / most),
                 std::max(0.4, kThick * link->weight / most));
    }
    for (int node = 0; node < nodes; ++node) {
        const auto [x, y] = place(node);
        const std::string name = std::to_string(node * group);
        const double wide = width_of(name) + 6;
        add_box(figure, {x - wide / 2, y - 7, wide, 14}, {255, 255, 255});
        add_words(figure, x, y + 3, name, Words::Align::kMiddle);
    }
    add_words(
        figure, plot.area.x + 4, figure.height - 12,
        fmt::format("thickest line: {} {} both ways, {}", amount_words(links.empty() ? 0 : most),
                    look.count ? "messages" : "bytes", sums_words(look)),
        Words::Align::kLeft, kGrey, 8);
    return figure;
}

Figure figure_of_cells(ViewKind kind, const ViewState& look, FigureSize size,
                       const ViewContext& easel) {
    constexpr double kCellWidth = 6.3;
    constexpr double kCellHeight = 13;
    constexpr double kFont = 10.5;
    constexpr int kLines = 60;
    const int columns = std::max(static_cast<int>(size.width / kCellWidth), 1);
    const int lines =
        size.height > 0 ? std::max(static_cast<int>(size.height / kCellHeight), 1) : kLines;
    const terminal::Grid grid = draw_view(kind, look, {columns, lines}, easel);
    int used = 0;
    for (int line = 0; line < lines; ++line)
        for (int column = 0; column < columns; ++column)
            if (grid.at(line, column).glyph != U' ') used = line + 1;
    Figure figure;
    figure.width = size.width;
    figure.height = size.height > 0 ? size.height : (used + 0.5) * kCellHeight;
    add_box(figure, {0, 0, figure.width, figure.height}, {255, 255, 255});
    for (int line = 0; line < used; ++line)
        for (int column = 0; column < columns; ++column) {
            const terminal::Cell& cell = grid.at(line, column);
            if (cell.glyph == U' ' || cell.glyph == 0) continue;
            Words words;
            words.x = column * kCellWidth;
            words.y = (line + 0.75) * kCellHeight;
            terminal::append_utf8(words.text, cell.glyph);
            words.size = kFont;
            words.fixed = true;
            words.bold = cell.style.ink == terminal::Ink::kStrong;
            if (cell.style.ink == terminal::Ink::kLight)
                words.color = terminal::rgb_of(cell.style.value);
            else if (cell.style.ink == terminal::Ink::kDim)
                words.color = kGrey;
            else if (cell.style.ink == terminal::Ink::kSeries)
                words.color = paper_color(kStates + cell.style.value);
            else if (cell.style.ink == terminal::Ink::kBar)
                words.color = kBlue;
            figure.shapes.emplace_back(std::move(words));
        }
    return figure;
}

}  // namespace poe::trace
