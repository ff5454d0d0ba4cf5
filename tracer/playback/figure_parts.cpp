// Implementation of figure.hpp and figure_parts.hpp: the common parts of all figures.
#include "tracer/playback/figure_parts.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "terminal/words.hpp"
#include "tracer/playback/stack.hpp"

namespace poe::trace {

using terminal::Rgb;

namespace {

constexpr double kRight = 14;
constexpr double kTop = 26;     // for the legend
constexpr double kBottom = 36;  // for the axis
constexpr double kTick = 3;

// Dark enough for white paper; different in brightness too. Indexed by State.
constexpr Rgb kStateColors[] = {{0xff, 0xff, 0xff}, {0x2b, 0x6c, 0xb0}, {0xe3, 0xb3, 0x1c},
                                {0xdd, 0x6b, 0x20}, {0x80, 0x5a, 0xd5}, {0x99, 0x99, 0x99},
                                {0xc9, 0x3a, 0x3a}, {0x55, 0x55, 0x55}};
static_assert(std::size(kStateColors) >= kStates);
constexpr std::array<Rgb, kRegionParts> kRegionColors{{{0x2f, 0x9e, 0x5a},
                                                       {0x00, 0x7a, 0x87},
                                                       {0xb8, 0x32, 0x80},
                                                       {0x2c, 0x3e, 0x9e},
                                                       {0x8a, 0xa8, 0x1f},
                                                       {0x7b, 0x4a, 0x1e},
                                                       {0xe5, 0x8a, 0x7a},
                                                       {0x4a, 0x55, 0x68}}};

std::string number_words(double value, double step) {
    const int digits = std::max(0, static_cast<int>(std::ceil(-std::log10(step) - 1e-9)));
    return fmt::format("{:.{}f}", value, digits);
}

// Returns the only part of a column; 0 if there are several parts or none.
std::size_t only_part(const PartTimes& times) {
    std::size_t found = 0;
    for (std::size_t part = 1; part < kParts; ++part) {
        if (times[part] <= Time{0}) continue;
        if (found != 0) return 0;
        found = part;
    }
    return found;
}

// If a column contains only the change from the part of the previous column to that of the next
// one, returns the position of the change as a fraction of the column; otherwise a negative number.
double border_in(const PartBins& bins, std::size_t column) {
    if (column == 0 || column + 1 >= bins.size()) return -1;
    const std::size_t before = only_part(bins[column - 1]);
    const std::size_t after = only_part(bins[column + 1]);
    if (before == 0 || after == 0 || before == after) return -1;
    const Time both = bins[column][before] + bins[column][after];
    if (both != traced_of(bins[column]) || both <= Time{0}) return -1;
    return seconds_of(bins[column][before]) / seconds_of(both);
}

}  // namespace

Rgb paper_color(std::size_t part) {
    return part < kStates ? kStateColors[part] : kRegionColors[part - kStates];
}

Plot plot_of(Figure& figure, FigureSize size, double height, double left) {
    figure.width = size.width;
    figure.height = size.height > 0 ? size.height : height + kTop + kBottom;
    Plot plot;
    plot.area = {left, kTop, std::max(size.width - left - kRight, 1.0),
                 std::max(figure.height - kTop - kBottom, 1.0)};
    add_box(figure, {0, 0, figure.width, figure.height}, {255, 255, 255});
    return plot;
}

void add_box(Figure& figure, Box box, Rgb color) {
    figure.shapes.emplace_back(FilledBox{box, color});
}

void add_line(Figure& figure, double x1, double y1, double x2, double y2, Rgb color, double width) {
    figure.shapes.emplace_back(Stroke{x1, y1, x2, y2, width, color});
}

void add_words(Figure& figure, double x, double y, const std::string& text, Words::Align align,
               Rgb color, double size) {
    Words words;
    words.x = x;
    words.y = y;
    words.text = text;
    words.align = align;
    words.color = color;
    words.size = size;
    figure.shapes.emplace_back(std::move(words));
}

double width_of(const std::string& text, double size) {
    constexpr double kWide = 0.62;  // width of a character divided by its height
    return terminal::columns_of(text) * size * kWide;
}

std::vector<double> ticks_of(double from, double to, int about) {
    const double rough = (to - from) / std::max(about, 1);
    if (!(rough > 0) || !std::isfinite(rough)) return {from};
    const double decade = std::pow(10, std::floor(std::log10(rough)));
    double step = 10 * decade;
    for (const double one : {1.0, 2.0, 5.0})
        if (one * decade >= rough) {
            step = one * decade;
            break;
        }
    std::vector<double> ticks;
    for (double tick = std::ceil(from / step - 1e-9) * step; tick <= to + step * 1e-6; tick += step)
        ticks.push_back(std::abs(tick) < step * 1e-6 ? 0 : tick);
    return ticks;
}

void add_axis(Figure& figure, const Plot& plot, double from, double to, const std::string& title) {
    constexpr double kApart = 80;
    const std::vector<double> ticks =
        ticks_of(from, to, static_cast<int>(plot.area.width / kApart));
    const double step = ticks.size() > 1 ? ticks[1] - ticks[0] : 1;
    for (const double tick : ticks) {
        const double x = plot.area.x + plot.area.width * (tick - from) / std::max(to - from, 1e-30);
        add_line(figure, x, plot.bottom(), x, plot.bottom() + kTick, kBlack);
        add_words(figure, x, plot.bottom() + kTick + 10, number_words(tick, step),
                  Words::Align::kMiddle);
    }
    add_line(figure, plot.area.x, plot.bottom(), plot.right(), plot.bottom(), kBlack);
    add_line(figure, plot.area.x, plot.area.y, plot.area.x, plot.bottom(), kBlack);
    add_words(figure, plot.area.x + plot.area.width / 2, plot.bottom() + kTick + 24, title,
              Words::Align::kMiddle);
}

void add_time_axis(Figure& figure, const Plot& plot, Stretch window) {
    const double length = seconds_of(window.length());
    const auto [scale, unit] = length >= 2      ? std::pair{1.0, "s"}
                               : length >= 2e-3 ? std::pair{1e3, "ms"}
                               : length >= 2e-6 ? std::pair{1e6, "us"}
                                                : std::pair{1e9, "ns"};
    add_axis(figure, plot, seconds_of(window.from) * scale, seconds_of(window.to) * scale,
             fmt::format("time [{}]", unit));
}

void add_left_axis(Figure& figure, const Plot& plot, double most, const std::string& title) {
    constexpr double kApart = 30;
    const std::vector<double> ticks =
        ticks_of(0, most, std::max(2, static_cast<int>(plot.area.height / kApart)));
    const double step = ticks.size() > 1 ? ticks[1] - ticks[0] : 1;
    for (const double tick : ticks) {
        const double y = plot.bottom() - plot.area.height * tick / std::max(most, 1e-30);
        add_line(figure, plot.area.x - kTick, y, plot.area.x, y, kBlack);
        add_words(figure, plot.area.x - kTick - 2, y + 3, number_words(tick, step),
                  Words::Align::kRight);
    }
    add_left_title(figure, plot, title);
}

void add_left_title(Figure& figure, const Plot& plot, const std::string& title) {
    Words words;
    words.x = 11;
    words.y = plot.area.y + plot.area.height / 2;
    words.text = title;
    words.align = Words::Align::kMiddle;
    words.upwards = true;
    figure.shapes.emplace_back(std::move(words));
}

void add_legend(Figure& figure, const Plot& plot, const PartTimes& times,
                const ViewContext& easel) {
    constexpr double kSide = 8;
    double x = plot.area.x;
    for (std::size_t place = 0; place < kStacked; ++place) {
        const std::size_t part = stacked_part(place);
        if (times[part] <= Time{0}) continue;
        const std::string name(easel.session.parts().name(part));
        if (x + kSide + width_of(name) > plot.right()) break;
        add_box(figure, {x, 8, kSide, kSide}, paper_color(part));
        add_words(figure, x + kSide + 3, 15.5, name);
        x += kSide + width_of(name) + 10;
    }
}

void add_note(Figure& figure, const Plot& plot, const std::string& text) {
    add_words(figure, plot.right(), 15.5, text, Words::Align::kRight, kGrey, 8);
}

void add_stacks(Figure& figure, Box row, const PartBins& bins, Time whole) {
    const double wide = row.width / static_cast<double>(bins.size());
    constexpr double kOverlap = 0.005;  // rounding must not leave gaps between neighbours
    double begun = row.x;               // start of the box of `part`
    std::size_t part = 0;
    const auto end = [&](double x) {
        if (part != 0 && x > begun)
            add_box(figure, {begun, row.y, x + kOverlap - begun, row.height}, paper_color(part));
        part = 0;
    };
    for (std::size_t column = 0; column < bins.size(); ++column) {
        const double x = row.x + wide * static_cast<double>(column);
        if (const double border = border_in(bins, column); border >= 0) {
            end(x + border * wide);
            part = only_part(bins[column + 1]);
            begun = x + border * wide;
            continue;
        }
        const std::size_t only = only_part(bins[column]);
        // A column that is traced only partly is not filled.
        const bool full = only != 0 && seconds_of(bins[column][only]) >= 0.999 * seconds_of(whole);
        if (full && only == part) continue;
        end(x);
        if (full) {
            part = only;
            begun = x;
            continue;
        }
        double y = row.y + row.height;
        for (std::size_t place = 0; place < kStacked; ++place) {
            const std::size_t one = stacked_part(place);
            if (bins[column][one] <= Time{0}) continue;
            const double high =
                std::min(row.height * seconds_of(bins[column][one]) / seconds_of(whole), y - row.y);
            y -= high;
            add_box(figure, {x, y, wide + kOverlap, high}, paper_color(one));
        }
    }
    end(row.x + row.width);
}

void add_bar(Figure& figure, Box bar, const PartTimes& times, Time whole) {
    if (whole <= Time{0}) return;
    double x = bar.x;
    for (std::size_t place = 0; place < kStacked; ++place) {
        const std::size_t part = stacked_part(place);
        const double wide = bar.width * seconds_of(times[part]) / seconds_of(whole);
        if (wide <= 0) continue;
        add_box(figure, {x, bar.y, wide, bar.height}, paper_color(part));
        x += wide;
    }
}

}  // namespace poe::trace
