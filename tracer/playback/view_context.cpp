// Implementation of view_context.hpp.
#include "tracer/playback/view_context.hpp"

#include <array>

namespace poe::trace {

using terminal::Ink;
using terminal::Style;

Style style_of(State state) {
    using terminal::Activity;
    constexpr std::array<Activity, kStates> kActivity{
        Activity::kUnknown,    Activity::kComputing, Activity::kSending,  Activity::kReceiving,
        Activity::kCollective, Activity::kIdle,      Activity::kReceiving};
    return {Ink::kActivity, static_cast<std::uint8_t>(kActivity[static_cast<std::size_t>(state)]),
            false};
}

char32_t glyph_of(State state, const terminal::Glyphs& glyphs) {
    constexpr std::u32string_view kShapes = U" █▶◀◆○◁";
    constexpr std::u32string_view kLetters = U" #><=o?";
    static_assert(kShapes.size() == kStates && kLetters.size() == kStates);
    return (glyphs.unicode() ? kShapes : kLetters)[static_cast<std::size_t>(state)];
}

}  // namespace poe::trace
