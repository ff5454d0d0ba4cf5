// Implementation of palette.hpp. Colors differ in brightness and along blue and orange, never only
// as red against green. There is no dark blue, and the background is the terminal's own.
#include "terminal/palette.hpp"

#include <array>
#include <cstdlib>

namespace poe::terminal {
namespace {

// The usual numbers of the sixteen colors.
enum Ansi : int {
    kRed = 1,
    kGreen = 2,
    kBrown = 3,
    kBlue = 4,
    kPurple = 5,
    kDarkCyan = 6,
    kLightGrey = 7,
    kDarkGrey = 8,
    kBrightRed = 9,
    kBrightGreen = 10,
    kYellow = 11,
    kBrightBlue = 12,
    kBrightPurple = 13,
    kCyan = 14,
    kWhite = 15,
};

struct Tone {
    Rgb rgb;
    int of_sixteen;
    bool bold;
    bool reverse;
};

constexpr Rgb kGreyTone{138, 138, 138};

// Indexed by Activity.
constexpr std::array<Tone, kActivities> kActivityTones{{
    {kGreyTone, kDarkGrey, false, false},            // unknown
    {kGreyTone, kDarkGrey, false, false},            // not started
    {kGreyTone, kDarkGrey, false, false},            // ended
    {{95, 175, 255}, kBrightBlue, false, false},     // computing
    {{255, 215, 95}, kYellow, false, false},         // sending
    {{215, 175, 255}, kBrightPurple, false, false},  // collective
    {kGreyTone, kLightGrey, false, false},           // idle
    {{255, 175, 0}, kBrown, false, false},           // receiving
    {{255, 255, 255}, kWhite, true, false},          // stopped
    {{255, 135, 0}, kBrightRed, true, true},         // failed
}};

// Different from each other and from the activities.
constexpr std::array<Tone, kSeriesColors> kSeriesTones{{
    {{95, 205, 95}, kGreen, false, false},
    {{0, 150, 150}, kDarkCyan, false, false},
    {{230, 95, 160}, kPurple, false, false},
    {{85, 110, 230}, kBlue, false, false},
    {{190, 230, 90}, kBrightGreen, false, false},
    {{175, 115, 50}, kRed, false, false},
    {{250, 140, 120}, kBrightRed, false, false},
    {{230, 230, 220}, kWhite, false, false},
}};

// Indexed like kNamedColors.
constexpr std::array<int, 10> kLightOfSixteen{
    kDarkGrey, kBrown, kGreen, kBrightBlue, kPurple, kRed, kBrightRed, kYellow, kWhite, kLightGrey};

int square(int x) {
    return x * x;
}

int distance(Rgb a, Rgb b) {
    return square(a.red - b.red) + square(a.green - b.green) + square(a.blue - b.blue);
}

}  // namespace

int nearest_of_256(Rgb rgb) {
    constexpr int kCube = 16;
    constexpr int kGreys = 232;
    constexpr std::array<int, 6> kSteps{0, 95, 135, 175, 215, 255};
    const auto step = [&kSteps](int value) {
        int best = 0;
        for (int i = 1; i < 6; ++i)
            if (std::abs(kSteps[static_cast<std::size_t>(i)] - value) <
                std::abs(kSteps[static_cast<std::size_t>(best)] - value))
                best = i;
        return best;
    };
    const auto at = [&kSteps](int i) { return kSteps[static_cast<std::size_t>(i)]; };
    const int red = step(rgb.red);
    const int green = step(rgb.green);
    const int blue = step(rgb.blue);
    int best = kCube + 36 * red + 6 * green + blue;
    int least = distance(rgb, {at(red), at(green), at(blue)});
    for (int i = 0; i < 24; ++i) {
        const int grey = 8 + 10 * i;
        if (distance(rgb, {grey, grey, grey}) >= least) continue;
        least = distance(rgb, {grey, grey, grey});
        best = kGreys + i;
    }
    return best;
}

Look Palette::color(Rgb rgb, int of_sixteen) const {
    Look look;
    switch (colors_) {
        case Colors::kNone:
            break;
        case Colors::kSixteen:
            look.foreground = of_sixteen;
            break;
        case Colors::kMany:
            look.foreground = nearest_of_256(rgb);
            break;
        case Colors::kTrue:
            look.foreground = rgb.red << 16 | rgb.green << 8 | rgb.blue;
            break;
    }
    return look;
}

Look Palette::look_of(const Style& style) const {
    Look look;
    switch (style.ink) {
        case Ink::kPlain:
            break;
        case Ink::kDim:
            look = color(kGreyTone, kDarkGrey);
            look.dim = colors_ == Colors::kNone;
            break;
        case Ink::kStrong:
            look.bold = true;
            break;
        case Ink::kTitle:
            look.reverse = true;
            break;
        case Ink::kBar:
            look = color({95, 175, 255}, kBrightBlue);
            break;
        case Ink::kLight: {
            const std::size_t name = nearest_name(style.value);
            look = color(rgb_of(style.value), kLightOfSixteen[name]);
            // Without colours, the bright half of the spectrum is bold.
            look.bold = colors_ == Colors::kNone && style.value > 49 && style.value < 100;
            break;
        }
        case Ink::kActivity: {
            const Tone& tone = kActivityTones[style.value];
            look = color(tone.rgb, tone.of_sixteen);
            look.bold = tone.bold;
            look.reverse = tone.reverse;
            break;
        }
        case Ink::kSeries: {
            const Tone& tone = kSeriesTones[style.value];
            look = color(tone.rgb, tone.of_sixteen);
            break;
        }
    }
    if (style.back != Ink::kPlain)
        look.background = look_of({style.back, style.back_value, false}).foreground;
    if (style.selected) look.reverse = !look.reverse;
    return look;
}

}  // namespace poe::terminal
