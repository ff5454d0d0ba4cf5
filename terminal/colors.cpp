// Implementation of colors.hpp.
#include "terminal/colors.hpp"

#include <cstdlib>

namespace poe::terminal {
namespace {

constexpr int kFirstGrey = 100;
constexpr std::size_t kGrey = kSpectrumNames;
constexpr std::array<Rgb, 3> kGreys{{{170, 170, 170}, {125, 125, 125}, {95, 95, 95}}};

}  // namespace

std::optional<int> color_named(std::string_view name) {
    if (name == "gray") name = "grey";
    for (const NamedColor& known : kNamedColors)
        if (known.name == name) return known.color;
    return std::nullopt;
}

std::size_t nearest_name(int color) {
    if (color >= kFirstGrey) return kGrey;
    std::size_t best = 0;
    for (std::size_t i = 1; i < kSpectrumNames; ++i)
        if (std::abs(kNamedColors[i].color - color) < std::abs(kNamedColors[best].color - color))
            best = i;
    return best;
}

Rgb rgb_of(int color) {
    if (color >= kFirstGrey) return kGreys[static_cast<std::size_t>(color - kFirstGrey)];
    std::size_t above = 1;
    while (kNamedColors[above].color < color) ++above;
    const NamedColor& low = kNamedColors[above - 1];
    const NamedColor& high = kNamedColors[above];
    const auto mix = [&](int a, int b) {
        return a + (b - a) * (color - low.color) / (high.color - low.color);
    };
    return {mix(low.rgb.red, high.rgb.red), mix(low.rgb.green, high.rgb.green),
            mix(low.rgb.blue, high.rgb.blue)};
}

}  // namespace poe::terminal
