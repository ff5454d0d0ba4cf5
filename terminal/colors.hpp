// The colours of lights: 0..99 are a spectrum from black to white through nine named colours,
// 100..102 are greys of increasing darkness (mpc_marker of the Parallel Environment). Used by the
// code that sets lights and by the code that shows them.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "base/segment/marker_row.hpp"

namespace poe::terminal {

struct Rgb {
    int red = 0;
    int green = 0;
    int blue = 0;
    bool operator==(const Rgb&) const = default;
};

struct NamedColor {
    std::string_view name;
    int color;
    Rgb rgb;
};

// The nine colours of the spectrum, then grey. Black is a grey that is visible on a black terminal;
// blue and brown are light enough to be readable.
inline constexpr std::array<NamedColor, 10> kNamedColors{{{"black", 0, {88, 88, 88}},
                                                          {"brown", 12, {175, 115, 50}},
                                                          {"green", 25, {0, 175, 95}},
                                                          {"blue", 37, {80, 150, 255}},
                                                          {"purple", 50, {190, 110, 230}},
                                                          {"red", 62, {230, 60, 50}},
                                                          {"orange", 74, {255, 150, 0}},
                                                          {"yellow", 87, {255, 225, 60}},
                                                          {"white", 99, {255, 255, 255}},
                                                          {"grey", 100, {170, 170, 170}}}};
inline constexpr std::size_t kSpectrumNames = 9;

// Returns the number of a colour name ("gray" is grey); empty for other words.
std::optional<int> color_named(std::string_view name);

// Returns the index of the nearest of kNamedColors, 0..9. Precondition: 0 <= color < kMarkerColors.
std::size_t nearest_name(int color);

// Interpolates between two named colours of the spectrum. Same precondition.
Rgb rgb_of(int color);

}  // namespace poe::terminal
