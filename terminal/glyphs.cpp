// Implementation of glyphs.hpp. All glyphs are one column wide, except in locales in which
// box-drawing characters take two columns.
#include "terminal/glyphs.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "terminal/colors.hpp"

namespace poe::terminal {

// From dark and empty to bright and full, in the order of the colors.
char32_t Glyphs::light(int color) const {
    constexpr std::u32string_view kShapes = U"○▿▾▹▸◇◆◐●□";
    constexpr std::u32string_view kLetters = U"knglprayw+";
    const std::size_t name = nearest_name(color);
    return unicode_ ? kShapes[name] : kLetters[name];
}

char32_t Glyphs::activity(Activity activity) const {
    constexpr std::u32string_view kShapes = U" -✓●▶◆○◀‖✕";
    constexpr std::u32string_view kLetters = U" -.*>=o<|X";
    static_assert(kShapes.size() == kActivities && kLetters.size() == kActivities);
    const auto index = static_cast<std::size_t>(activity);
    return unicode_ ? kShapes[index] : kLetters[index];
}

std::string Glyphs::bar(int width, double share) const {
    constexpr int kEighths = 8;
    constexpr std::array<const char*, kEighths> kParts{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    share = std::clamp(share, 0.0, 1.0);
    const auto eighths = static_cast<int>(std::floor(share * width * kEighths));
    std::string text;
    for (int column = 0; column < width; ++column) {
        const int filled = std::clamp(eighths - column * kEighths, 0, kEighths);
        if (!unicode_)
            text += filled == kEighths ? "#" : "-";
        else if (filled == kEighths)
            text += "█";
        else
            text += filled == 0 ? "░" : kParts[static_cast<std::size_t>(filled)];
    }
    return text;
}

}  // namespace poe::terminal
