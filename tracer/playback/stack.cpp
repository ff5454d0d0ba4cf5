// Implementation of stack.hpp.
#include "tracer/playback/stack.hpp"

#include <algorithm>
#include <cmath>

#include "terminal/words.hpp"

namespace poe::trace {

using terminal::Grid;
using terminal::Ink;
using terminal::kDim;
using terminal::Style;

namespace {

constexpr int kLevels = 8;
constexpr std::size_t kOff = 0;

// The levels of a cell that belong to a part.
struct Piece {
    std::size_t part = kOff;
    int levels = 0;
};

Style over(Style front, std::size_t back) {
    if (back == kOff) return front;
    const Style behind = style_of_part(back);
    front.back = behind.ink;
    front.back_value = behind.value;
    return front;
}

}  // namespace

std::size_t stacked_part(std::size_t place) {
    constexpr auto kComputing = static_cast<std::size_t>(State::kComputing);
    if (place == 0) return kComputing;
    if (place <= kRegionParts) return kStates + place - 1;
    return kComputing + (place - kRegionParts);
}

std::array<int, kParts> Apportionment::next(const PartTimes& times, Time whole, int units) {
    std::array<double, kParts> quota{};
    std::array<int, kParts> given{};
    if (whole <= Time{0} || units <= 0) return given;
    Time rest = std::max(whole - traced_of(times), Time{0});
    const double all = seconds_of(std::max(whole, traced_of(times)));
    int left = units;
    for (std::size_t part = 0; part < kParts; ++part) {
        const Time time = part == kOff ? rest : times[part];
        if (time <= Time{0}) owed_[part] = 0;
        quota[part] = time <= Time{0} ? 0 : seconds_of(time) / all * units + owed_[part];
        given[part] = std::clamp(static_cast<int>(std::floor(quota[part])), 0, left);
        left -= given[part];
    }
    for (; left > 0; --left) {
        std::size_t best = kOff;
        for (std::size_t part = 0; part < kParts; ++part) {
            const double lacks = quota[part] - given[part];
            if (lacks > quota[best] - given[best] + 1e-9) best = part;
        }
        ++given[best];
    }
    for (std::size_t part = 0; part < kParts; ++part)
        owed_[part] = std::clamp(quota[part] - given[part], -1.0, 1.0);
    return given;
}

void StackDrawer::draw(int column, const PartTimes& times, Time whole) {
    const bool blocks = easel_.blocks();
    const auto units = apportionment_.next(times, whole, height_ * (blocks ? kLevels : 1));
    blocks ? draw_blocks(column, units) : draw_shapes(column, units);
}

void StackDrawer::draw_shapes(int column, const std::array<int, kParts>& units) {
    int line = top_ + height_ - 1;
    for (std::size_t place = 0; place < kStacked; ++place) {
        const std::size_t part = stacked_part(place);
        for (int unit = 0; unit < units[part]; ++unit)
            grid_.put(line--, column, glyph_of_part(part, easel_), style_of_part(part));
    }
}

void StackDrawer::draw_blocks(int column, const std::array<int, kParts>& units) {
    std::size_t place = 0;
    int left = units[stacked_part(0)];
    for (int line = top_ + height_ - 1; line >= top_; --line) {
        // The pieces of this cell from the bottom; levels above all parts are blank.
        std::array<Piece, kParts> pieces;
        std::size_t count = 0;
        int free = kLevels;
        while (free > 0 && place < kStacked) {
            const int levels = std::min(left, free);
            if (levels > 0) pieces[count++] = {stacked_part(place), levels};
            free -= levels;
            left -= levels;
            if (left == 0 && ++place < kStacked) left = units[stacked_part(place)];
        }
        if (free > 0) pieces[count++] = {kOff, free};
        // Keeps the two largest pieces, in their order.
        while (count > 2) {
            const auto least = std::min_element(
                pieces.begin(), pieces.begin() + static_cast<std::ptrdiff_t>(count),
                [](const Piece& a, const Piece& b) { return a.levels < b.levels; });
            std::copy(least + 1, pieces.begin() + static_cast<std::ptrdiff_t>(count), least);
            --count;
        }
        if (count == 1) {
            if (pieces[0].part != kOff)
                grid_.put(line, column, U'█', style_of_part(pieces[0].part));
            continue;
        }
        const int both = pieces[0].levels + pieces[1].levels;
        const int lower =
            std::clamp((pieces[0].levels * kLevels + both / 2) / both, 1, kLevels - 1);
        grid_.put(line, column, U'▁' + static_cast<char32_t>(lower - 1),
                  over(style_of_part(pieces[0].part), pieces[1].part));
    }
}

void draw_bar(Grid& grid, const ViewContext& easel, int line, int column, int width,
              const PartTimes& times, Time whole) {
    const auto units = Apportionment().next(times, whole, width);
    for (std::size_t place = 0; place < kStacked; ++place) {
        const std::size_t part = stacked_part(place);
        for (int unit = 0; unit < units[part]; ++unit)
            column = grid.put(line, column, glyph_of_part(part, easel), style_of_part(part));
    }
    for (int unit = 0; unit < units[kOff]; ++unit)
        column = grid.put(line, column, easel.glyphs.unlit(), kDim);
}

Style style_of_part(std::size_t part) {
    if (part < kStates) return style_of(static_cast<State>(part));
    return {Ink::kSeries, static_cast<std::uint8_t>(part - kStates), false};
}

char32_t glyph_of_part(std::size_t part, const ViewContext& easel) {
    if (easel.blocks()) return part == kOff ? U' ' : U'█';
    if (part < kStates) return glyph_of(static_cast<State>(part), easel.glyphs);
    return U'A' + static_cast<char32_t>(part - kStates);
}

int draw_legend(Grid& grid, const ViewContext& easel, int line, int column, int end,
                const PartTimes& times) {
    for (std::size_t place = 0; place < kStacked; ++place) {
        const std::size_t part = stacked_part(place);
        if (times[part] <= Time{0}) continue;
        const std::string_view name = easel.session.parts().name(part);
        if (column + 2 + terminal::columns_of(name) > end) break;
        grid.put(line, column, glyph_of_part(part, easel), style_of_part(part));
        column = grid.put(line, column + 2, name, kDim) + 1;
    }
    return column;
}

}  // namespace poe::trace
