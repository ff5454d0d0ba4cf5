// A figure as PNG, by cairo, which appears in this file only. See picture.hpp.
#include <cairo.h>
#include <cmath>
#include <memory>

#include "comm/base/error.hpp"
#include "tracer/playback/picture.hpp"

namespace poe::trace {
namespace {

constexpr int kPixelsPerPoint = 2;

struct Destroy {
    void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
    void operator()(cairo_t* context) const { cairo_destroy(context); }
};

class CairoBrush : public Brush {
  public:
    explicit CairoBrush(cairo_t* context) : context_(context) {
        cairo_scale(context_, kPixelsPerPoint, kPixelsPerPoint);
        cairo_set_font_size(context_, kFontSize);
        // Of boxes, not of text: neighbours shall have no seam.
        cairo_set_antialias(context_, CAIRO_ANTIALIAS_NONE);
    }
    void box(Box box, markers::Rgb color) override {
        use(color);
        cairo_rectangle(context_, box.x, box.y, box.width, box.height);
        cairo_fill(context_);
    }
    void glyph(char32_t glyph, double x, double base, markers::Rgb color, bool bold) override {
        use(color);
        cairo_select_font_face(context_, kFont, CAIRO_FONT_SLANT_NORMAL,
                               bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
        std::string text;
        markers::append_utf8(text, glyph);
        cairo_move_to(context_, x, base);
        cairo_show_text(context_, text.c_str());
    }

  private:
    void use(markers::Rgb color) {
        constexpr double kFull = 255;
        cairo_set_source_rgb(context_, color.red / kFull, color.green / kFull, color.blue / kFull);
    }

    cairo_t* context_;
};

cairo_status_t append(void* out, const unsigned char* data, unsigned length) {
    static_cast<std::string*>(out)->append(reinterpret_cast<const char*>(data), length);
    return CAIRO_STATUS_SUCCESS;
}

}  // namespace

std::string png_of(const markers::Grid& grid) {
    const auto pixels = [](double points) {
        return static_cast<int>(std::lround(points * kPixelsPerPoint));
    };
    const std::unique_ptr<cairo_surface_t, Destroy> surface(
        cairo_image_surface_create(CAIRO_FORMAT_RGB24, pixels(grid.size().columns * kCellWidth),
                                   pixels(grid.size().lines * kCellHeight)));
    const std::unique_ptr<cairo_t, Destroy> context(cairo_create(surface.get()));
    CairoBrush brush(context.get());
    draw_picture(grid, brush);
    std::string bytes;
    cairo_status_t status = cairo_status(context.get());
    if (status == CAIRO_STATUS_SUCCESS)
        status = cairo_surface_write_to_png_stream(surface.get(), append, &bytes);
    if (status != CAIRO_STATUS_SUCCESS)
        throw Error(std::string("cannot draw the figure: ") + cairo_status_to_string(status));
    return bytes;
}

}  // namespace poe::trace
