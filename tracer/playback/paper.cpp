// Implementation of paper.hpp. The only file that uses cairo.
#include "tracer/playback/paper.hpp"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <cairo.h>
#include <cmath>
#include <memory>
#include <numbers>

#include "base/error.hpp"

namespace poe::trace {
namespace {

constexpr int kPixelsPerPoint = 2;
constexpr const char* kFont = "DejaVu Sans";
constexpr const char* kFixedFont = "DejaVu Sans Mono";

struct Destroy {
    void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
    void operator()(cairo_t* context) const { cairo_destroy(context); }
};
using Surface = std::unique_ptr<cairo_surface_t, Destroy>;

cairo_status_t append(void* out, const unsigned char* data, unsigned length) {
    static_cast<std::string*>(out)->append(reinterpret_cast<const char*>(data), length);
    return CAIRO_STATUS_SUCCESS;
}

class Pen {
  public:
    explicit Pen(cairo_t* context) : context_(context) {}

    void operator()(const FilledBox& shape) const {
        use(shape.color);
        // Prevents seams between neighbouring boxes.
        cairo_set_antialias(context_, CAIRO_ANTIALIAS_NONE);
        cairo_rectangle(context_, shape.box.x, shape.box.y, shape.box.width, shape.box.height);
        cairo_fill(context_);
    }
    void operator()(const Stroke& shape) const {
        use(shape.color);
        cairo_set_antialias(context_, CAIRO_ANTIALIAS_DEFAULT);
        cairo_set_line_width(context_, shape.width);
        cairo_move_to(context_, shape.x1, shape.y1);
        cairo_line_to(context_, shape.x2, shape.y2);
        cairo_stroke(context_);
    }
    void operator()(const Words& shape) const {
        use(shape.color);
        cairo_set_antialias(context_, CAIRO_ANTIALIAS_DEFAULT);
        cairo_select_font_face(context_, shape.fixed ? kFixedFont : kFont, CAIRO_FONT_SLANT_NORMAL,
                               shape.bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
        cairo_set_font_size(context_, shape.size);
        cairo_text_extents_t extents;
        cairo_text_extents(context_, shape.text.c_str(), &extents);
        const double back = shape.align == Words::Align::kLeft     ? 0
                            : shape.align == Words::Align::kMiddle ? extents.x_advance / 2
                                                                   : extents.x_advance;
        cairo_save(context_);
        cairo_translate(context_, shape.x, shape.y);
        if (shape.upwards) cairo_rotate(context_, -std::numbers::pi / 2);
        cairo_move_to(context_, -back, 0);
        cairo_show_text(context_, shape.text.c_str());
        cairo_restore(context_);
    }

  private:
    void use(terminal::Rgb color) const {
        constexpr double kFull = 255;
        cairo_set_source_rgb(context_, color.red / kFull, color.green / kFull, color.blue / kFull);
    }

    cairo_t* context_;
};

Surface surface_for(const Figure& figure, Paper paper, std::string& bytes) {
    switch (paper) {
        case Paper::kSvg:
            return Surface(
                cairo_svg_surface_create_for_stream(append, &bytes, figure.width, figure.height));
        case Paper::kPdf:
            return Surface(
                cairo_pdf_surface_create_for_stream(append, &bytes, figure.width, figure.height));
        case Paper::kPng:
            break;
    }
    const auto pixels = [](double points) {
        return static_cast<int>(std::lround(points * kPixelsPerPoint));
    };
    return Surface(cairo_image_surface_create(CAIRO_FORMAT_RGB24, pixels(figure.width),
                                              pixels(figure.height)));
}

}  // namespace

std::optional<Paper> paper_named(std::string_view file) {
    for (std::size_t i = 0; i < kPaperSuffixes.size(); ++i)
        if (file.ends_with(kPaperSuffixes[i])) return static_cast<Paper>(i);
    return std::nullopt;
}

std::string file_of(const Figure& figure, Paper paper) {
    std::string bytes;
    const Surface surface = surface_for(figure, paper, bytes);
    const std::unique_ptr<cairo_t, Destroy> context(cairo_create(surface.get()));
    if (paper == Paper::kPng) cairo_scale(context.get(), kPixelsPerPoint, kPixelsPerPoint);
    const Pen pen(context.get());
    for (const Shape& shape : figure.shapes) std::visit(pen, shape);
    cairo_status_t status = cairo_status(context.get());
    if (status == CAIRO_STATUS_SUCCESS && paper == Paper::kPng)
        status = cairo_surface_write_to_png_stream(surface.get(), append, &bytes);
    if (status == CAIRO_STATUS_SUCCESS && paper != Paper::kPng) {
        cairo_surface_finish(surface.get());
        status = cairo_surface_status(surface.get());
    }
    if (status != CAIRO_STATUS_SUCCESS)
        throw Error(std::string("cannot draw the figure: ") + cairo_status_to_string(status));
    return bytes;
}

}  // namespace poe::trace
