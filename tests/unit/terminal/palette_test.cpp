// What cells look like with many, few and no colours.
#include "terminal/palette.hpp"

#include <set>

#include <catch2/catch.hpp>

#include "terminal/glyphs.hpp"

using namespace poe::terminal;

namespace {

Style light(int color) {
    return {Ink::kLight, static_cast<std::uint8_t>(color), false};
}

Style state(Activity activity) {
    return {Ink::kActivity, static_cast<std::uint8_t>(activity), false};
}

}  // namespace

TEST_CASE("the nearest of 256 colours") {
    CHECK(nearest_of_256({0, 0, 0}) == 16);
    CHECK(nearest_of_256({255, 255, 255}) == 231);
    CHECK(nearest_of_256({95, 175, 255}) == 75);
    CHECK(nearest_of_256({118, 118, 118}) == 243);
    CHECK(nearest_of_256({230, 60, 50}) == 167);
}

TEST_CASE("without colours there are none") {
    const Palette none(Colors::kNone);
    for (int color = 0; color < poe::kMarkerColors; ++color)
        CHECK(none.look_of(light(color)).foreground == Look::kDefault);
    for (std::size_t i = 0; i < kActivities; ++i)
        CHECK(none.look_of(state(static_cast<Activity>(i))).foreground == Look::kDefault);
    CHECK(none.look_of({Ink::kDim, 0, false}).dim);
    CHECK(none.look_of({Ink::kPlain, 0, true}).reverse);
}

TEST_CASE("names of colours differ in shape, and in colour where there are any") {
    for (const bool unicode : {true, false}) {
        std::set<char32_t> shapes;
        for (const NamedColor& named : kNamedColors)
            shapes.insert(Glyphs(unicode).light(named.color));
        CHECK(shapes.size() == kNamedColors.size());
        std::set<char32_t> states;
        for (std::size_t i = 0; i < kActivities; ++i)
            states.insert(Glyphs(unicode).activity(static_cast<Activity>(i)));
        CHECK(states.size() == kActivities);
    }
    for (const Colors colors : {Colors::kSixteen, Colors::kMany, Colors::kTrue}) {
        std::set<int> looks;
        for (const NamedColor& named : kNamedColors)
            looks.insert(Palette(colors).look_of(light(named.color)).foreground);
        CHECK(looks.size() == kNamedColors.size());
    }
    CHECK(Palette(Colors::kTrue).look_of(light(99)).foreground == 0xffffff);
}

TEST_CASE("bars are as wide as they should be") {
    CHECK(Glyphs(false).bar(4, 0.5) == "##--");
    CHECK(Glyphs(false).bar(4, 7) == "####");
    CHECK(Glyphs(false).bar(4, -1) == "----");
    CHECK(Glyphs(true).bar(2, 0.75) == "█▌");
    CHECK(Glyphs(true).bar(0, 1).empty());
}

TEST_CASE("series have colours of their own, and a cell may have two") {
    for (const Colors colors : {Colors::kSixteen, Colors::kMany, Colors::kTrue}) {
        std::set<int> looks;
        for (std::uint8_t series = 0; series < kSeriesColors; ++series)
            looks.insert(Palette(colors).look_of({Ink::kSeries, series, false}).foreground);
        CHECK(looks.size() == kSeriesColors);
    }
    const Style two{Ink::kBar, 0, false, Ink::kSeries, 1};
    const Look look = Palette(Colors::kTrue).look_of(two);
    CHECK(look.foreground == 0x5fafff);
    CHECK(look.background == 0x009696);
    CHECK(Palette(Colors::kNone).look_of(two).background == Look::kDefault);
}
