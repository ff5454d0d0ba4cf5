// Figures as PNG: a reader of PNG finds them whole, of the right size, with what the grid has where
// the grid has it.
#include "tracer/playback/picture.hpp"

#include <cairo.h>
#include <cstring>
#include <memory>

#include <catch2/catch.hpp>

using namespace poe;
using namespace poe::trace;
using markers::Ink;

namespace {

struct Destroy {
    void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
};
using Surface = std::unique_ptr<cairo_surface_t, Destroy>;

cairo_status_t give(void* rest, unsigned char* to, unsigned length) {
    auto& text = *static_cast<std::string_view*>(rest);
    if (text.size() < length) return CAIRO_STATUS_READ_ERROR;
    std::memcpy(to, text.data(), length);
    text.remove_prefix(length);
    return CAIRO_STATUS_SUCCESS;
}

// Pixels of this colour in a cell.
int count(const Surface& surface, int line, int column, std::uint32_t color) {
    int found = 0;
    for (int y = line * 34; y < line * 34 + 34; ++y)
        for (int x = static_cast<int>(column * 16.8); x < static_cast<int>(column * 16.8 + 16.8);
             ++x) {
            std::uint32_t pixel = 0;
            std::memcpy(&pixel,
                        cairo_image_surface_get_data(surface.get()) +
                            y * cairo_image_surface_get_stride(surface.get()) + 4 * x,
                        sizeof pixel);
            found += (pixel & 0xffffffu) == color ? 1 : 0;
        }
    return found;
}

}  // namespace

TEST_CASE("a figure as PNG") {
    markers::Grid grid({10, 3});
    grid.put(0, 0, U'█', {Ink::kBar, 0, false});
    grid.put(1, 4, U'▄', {Ink::kBar, 0, false});
    grid.put(2, 9, U'#');
    const std::string png = png_of(grid);
    std::string_view rest = png;
    const Surface read(cairo_image_surface_create_from_png_stream(give, &rest));
    REQUIRE(cairo_surface_status(read.get()) == CAIRO_STATUS_SUCCESS);
    REQUIRE(cairo_image_surface_get_width(read.get()) == 168);
    REQUIRE(cairo_image_surface_get_height(read.get()) == 102);
    constexpr std::uint32_t kBlue = 0x2b6cb0;
    constexpr std::uint32_t kWhite = 0xffffff;
    CHECK(count(read, 0, 0, kBlue) > 500);
    CHECK(count(read, 0, 1, kWhite) > 480);
    CHECK(count(read, 1, 4, kBlue) > 200);
    CHECK(count(read, 1, 4, kBlue) < 300);
    // A character has ink, and leaves some of the paper.
    CHECK(count(read, 2, 9, kWhite) < 500);
    CHECK(count(read, 2, 9, kWhite) > 100);
    CHECK(count(read, 2, 5, kWhite) > 500);
}
