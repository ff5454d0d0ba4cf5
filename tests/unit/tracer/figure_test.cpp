// Figures: boxes are where the events are, shares are as large as the times, axes have units; and
// the files of them are what readers of PNG, SVG and PDF expect.
#include "tracer/playback/figure.hpp"

#include <cairo.h>
#include <cstring>
#include <memory>

#include <catch2/catch.hpp>

#include "tests/unit/tracer/views_maker.hpp"
#include "tracer/playback/draw_figure.hpp"
#include "tracer/playback/figure_parts.hpp"
#include "tracer/playback/paper.hpp"

using namespace poe;
using namespace poe::trace;
using namespace poe::trace::test;
using std::chrono::microseconds;

namespace {

constexpr auto kReceiving = static_cast<std::size_t>(State::kReceiving);
constexpr auto kComputing = static_cast<std::size_t>(State::kComputing);

template <typename Kind>
std::vector<Kind> all_of(const Figure& figure) {
    std::vector<Kind> found;
    for (const Shape& shape : figure.shapes)
        if (const auto* one = std::get_if<Kind>(&shape)) found.push_back(*one);
    return found;
}

std::vector<FilledBox> boxes_of(const Figure& figure, std::size_t part) {
    std::vector<FilledBox> found;
    for (const FilledBox& box : all_of<FilledBox>(figure))
        if (box.color == paper_color(part)) found.push_back(box);
    return found;
}

bool has_words(const Figure& figure, const std::string& text) {
    for (const Words& words : all_of<Words>(figure))
        if (words.text.find(text) != std::string::npos) return true;
    return false;
}

Figure figure_of(test::Playing& playing, ViewKind kind, FigureSize size = {}) {
    const terminal::Glyphs glyphs(true);
    return draw_figure(kind, playing.look, size, playing.easel(glyphs));
}

// Where the axis of time begins and ends.
std::pair<double, double> axis_of(const Figure& figure) {
    Stroke longest;
    for (const Stroke& line : all_of<Stroke>(figure))
        if (line.y1 == line.y2 && line.x2 - line.x1 > longest.x2 - longest.x1) longest = line;
    return {longest.x1, longest.x2};
}

// Tasks that compute and receive in turns of 3 and 7 us.
TraceSource dense_trace(int tasks) {
    std::vector<StreamWriter> streams;
    for (TaskId task = 0; task < tasks; ++task) {
        streams.push_back(task_stream(task, tasks));
        for (std::uint64_t i = 0; i < 5000; ++i)
            receive_call(streams.back(), i * 10 + 3, i * 10 + 10, (task + 1) % tasks);
    }
    return TraceSource::from_bytes(gathered(streams), "dense");
}

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

std::uint32_t pixel(const Surface& surface, int x, int y) {
    std::uint32_t found = 0;
    std::memcpy(&found,
                cairo_image_surface_get_data(surface.get()) +
                    y * cairo_image_surface_get_stride(surface.get()) + 4 * x,
                sizeof found);
    return found & 0xffffffu;
}

}  // namespace

TEST_CASE("a box of the time line begins and ends with its state") {
    Playing playing;
    const Figure figure = figure_of(playing, ViewKind::kTimeline);
    const auto [left, right] = axis_of(figure);
    const auto received = boxes_of(figure, kReceiving);
    // Of the legend; of task 1 from 100 to 500; of task 3 from 300 to 400.
    REQUIRE(received.size() == 3);
    const auto at = [&, first = left, last = right](double us) {
        return first + (last - first) * us / 1000;
    };
    CHECK(received[0].box.x == Approx(at(100)).margin(0.01));
    CHECK(received[0].box.x + received[0].box.width == Approx(at(500)).margin(0.01));
    CHECK(received[1].box.x == Approx(at(300)).margin(0.01));
    CHECK(received[1].box.width == Approx(at(400) - at(300)).margin(0.01));
}

TEST_CASE("where a column holds several states, their boxes have their shares") {
    Playing playing(dense_trace(2));
    const Figure figure = figure_of(playing, ViewKind::kTimeline);
    const auto area = [&](std::size_t part) {
        double sum = 0;
        for (const FilledBox& box : boxes_of(figure, part))
            if (box.box.y > 20) sum += box.box.width * box.box.height;  // below the legend
        return sum;
    };
    const double computing = area(kComputing);
    const double receiving = area(kReceiving);
    CHECK(computing / (computing + receiving) == Approx(0.3).margin(0.002));
}

TEST_CASE("a time line has an axis with a unit, its tasks and a legend") {
    Playing playing;
    const Figure figure = figure_of(playing, ViewKind::kTimeline);
    for (const char* words : {"time [us]", "task", "0", "3", "200", "1000", "computing",
                              "receiving", "collective", "solve"})
        CHECK(has_words(figure, words));
    for (const Words& words : all_of<Words>(figure)) CHECK(words.text != "4");
}

TEST_CASE("a time line shows messages as lines, many of them as their number") {
    Playing playing;
    playing.look.lines = true;
    const auto slanted = [](const Figure& figure) {
        int found = 0;
        for (const Stroke& line : all_of<Stroke>(figure))
            if (line.x1 != line.x2 && line.y1 != line.y2) ++found;
        return found;
    };
    CHECK(slanted(figure_of(playing, ViewKind::kTimeline)) == 2);
    std::vector<StreamWriter> tasks{task_stream(0, 2), task_stream(1, 2)};
    for (std::uint64_t i = 0; i < 4000; ++i) {
        send_call(tasks[0], i * 10, i * 10 + 1, 1);
        receive_call(tasks[1], i * 10, i * 10 + 5, 0);
    }
    Playing many(TraceSource::from_bytes(gathered(tasks), "many"));
    many.look.lines = true;
    const Figure figure = figure_of(many, ViewKind::kTimeline);
    CHECK(slanted(figure) == 0);
    CHECK(has_words(figure, "messages on their way, up to"));
}

TEST_CASE("a figure is as high as its tasks need, or as was chosen") {
    const auto height = [](int tasks) {
        Playing playing(dense_trace(tasks));
        return figure_of(playing, ViewKind::kTimeline).height;
    };
    CHECK(height(2) < height(4));
    CHECK(height(4) < height(8));
    CHECK(height(200) < 600);
    Playing playing;
    const Figure figure = figure_of(playing, ViewKind::kTimeline, {300, 200});
    CHECK(figure.width == 300);
    CHECK(figure.height == 200);
}

TEST_CASE("every view makes a figure within its bounds, of any size") {
    Playing playing;
    for (const ViewName& view : view_names())
        for (const FigureSize size : {FigureSize{}, FigureSize{300, 120}, FigureSize{40, 30}}) {
            const Figure figure = figure_of(playing, view.kind, size);
            INFO(view.name);
            CHECK(figure.height > 0);
            for (const FilledBox& box : all_of<FilledBox>(figure)) {
                CHECK(box.box.width >= 0);
                CHECK(box.box.height >= 0);
            }
            CHECK_FALSE(all_of<Words>(figure).empty());
        }
    CHECK(has_words(figure_of(playing, ViewKind::kBalance), "share of time [%], so far"));
    CHECK(has_words(figure_of(playing, ViewKind::kMatrix), "from task"));
    CHECK(has_words(figure_of(playing, ViewKind::kUtilization), "tasks [%]"));
    CHECK(has_words(figure_of(playing, ViewKind::kCalls), "mpc_brecv"));
}

TEST_CASE("a time line as PNG is not mostly white") {
    Playing playing;
    const Figure figure = figure_of(playing, ViewKind::kTimeline);
    const std::string png = file_of(figure, Paper::kPng);
    std::string_view rest = png;
    const Surface read(cairo_image_surface_create_from_png_stream(give, &rest));
    REQUIRE(cairo_surface_status(read.get()) == CAIRO_STATUS_SUCCESS);
    const int width = cairo_image_surface_get_width(read.get());
    const int height = cairo_image_surface_get_height(read.get());
    CHECK(width == 1440);
    CHECK(height == static_cast<int>(figure.height * 2));
    int white = 0;
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) white += pixel(read, x, y) == 0xffffffu ? 1 : 0;
    CHECK(white < width * height * 6 / 10);
}

TEST_CASE("files of figures are told by their names") {
    CHECK(paper_named("a.svg") == Paper::kSvg);
    CHECK(paper_named("out/a.png") == Paper::kPng);
    CHECK(paper_named("a.pdf") == Paper::kPdf);
    CHECK_FALSE(paper_named("a.html"));
    Playing playing;
    const Figure figure = figure_of(playing, ViewKind::kMatrix);
    CHECK(file_of(figure, Paper::kPdf).starts_with("%PDF-"));
    CHECK(file_of(figure, Paper::kPdf).find("%%EOF") != std::string::npos);
    CHECK(file_of(figure, Paper::kSvg).find("<svg") < 200);
}
