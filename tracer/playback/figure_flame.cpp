// The flame view as a figure: the outermost function at the bottom, as flame graphs usually are.
#include <algorithm>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "tracer/analysis/trace_words.hpp"
#include "tracer/playback/figure_parts.hpp"
#include "tracer/playback/flame_layout.hpp"

namespace poe::trace {

using terminal::Rgb;

namespace {

constexpr double kFlameRow = 15;

// A warm colour that depends on the name, so that a function looks the same everywhere.
Rgb color_of(const std::string& name) {
    const std::uint32_t hash = Hash32().add(name).value();
    const auto part = [hash](int shift, int low, int range) {
        return low +
               static_cast<int>((hash >> shift & 0xffu) * static_cast<unsigned>(range) / 255u);
    };
    return {part(0, 215, 35), part(8, 120, 95), part(16, 50, 60)};
}

// As much of a name as fits.
std::string cut_to(const std::string& name, double width) {
    std::string text = name;
    while (!text.empty() && width_of(text) > width) text.pop_back();
    if (text.size() < 3 && text != name) return {};
    return text;
}

}  // namespace

Figure figure_of_flame(const ViewState& look, FigureSize size, const ViewContext& easel) {
    constexpr double kTop = 24;
    const StackProfile& profile = easel.analysis().profile;
    const FlameNode root = make_flame(profile, flame_filter(look, easel.session), easel.symbols);
    const std::vector<FlameBox> boxes = flame_boxes(root, 0.3 / size.width);
    int deepest = 0;
    for (const FlameBox& box : boxes) deepest = std::max(deepest, box.depth);
    Figure figure;
    figure.width = size.width;
    figure.height = size.height > 0 ? size.height : kTop + kFlameRow * (deepest + 1) + 6;
    const std::string trouble = flame_trouble(profile, root);
    add_words(figure, 4, 14,
              trouble.empty()
                  ? fmt::format("{} {}", things_words(root.samples, "sample"), flame_words(look))
                  : trouble);
    const double row = std::min(kFlameRow, (figure.height - kTop - 6) / (deepest + 1));
    for (const FlameBox& box : boxes) {
        const double x = box.from * size.width;
        const double width = (box.to - box.from) * size.width;
        const double y = figure.height - 4 - row * (box.depth + 1);
        add_box(figure, {x, y, std::max(width - 0.4, 0.2), row - 0.6}, color_of(box.name));
        const std::string share =
            percent_words(static_cast<double>(box.samples) / static_cast<double>(root.samples));
        const std::string whole = box.name + " " + share;
        const std::string text = width_of(whole) < width - 6 ? whole : cut_to(box.name, width - 6);
        if (!text.empty()) add_words(figure, x + 3, y + row - 4, text);
    }
    return figure;
}

}  // namespace poe::trace
