// The details of one task: its call in full, its process, progress, lights by number, and the
// latest changes of its marks.
#include <algorithm>

#include <fmt/format.h>

#include "base/suggest.hpp"
#include "markerarray/pace.hpp"
#include "markerarray/render_parts.hpp"
#include "terminal/colors.hpp"
#include "terminal/words.hpp"

namespace poe::markers {
namespace {

// A sequence of lines; those from number `skip` on are drawn into [from, to).
class Lines {
  public:
    Lines(Grid& grid, int from, int to, std::size_t skip)
        : grid_(grid),
          next_(from - static_cast<int>(std::min<std::size_t>(skip, 1 << 20))),
          from_(from),
          to_(to) {}

    bool room() const { return next_ < to_; }
    // Returns the line to draw to, or a line outside the grid.
    int next() {
        const int line = next_++;
        return line >= from_ && line < to_ ? line : -1;
    }
    void field(const char* name, std::string_view text, Style style = {}) {
        constexpr int kValue = 12;
        const int line = next();
        grid_.put(line, 1, name, {Ink::kDim, 0, false});
        grid_.put(line, kValue, text, style);
    }

  private:
    Grid& grid_;
    int next_;
    int from_;
    int to_;
};

void draw_lights(Grid& grid, Lines& lines, const TaskRow& row, const Glyphs& glyphs) {
    constexpr int kWidth = 12;
    int at = grid.size().columns;  // forces the first light to start a line
    int line = -1;
    for (std::size_t i = 0; i < row.lights.size(); ++i) {
        if (row.lights[i] == 0 || row.lights[i] > kMarkerColors) continue;
        const int color = row.lights[i] - 1;
        if (at + kWidth > grid.size().columns) {
            line = lines.next();
            at = 1;
        }
        grid.put(line, at, fmt::format("{:>3}", i), {Ink::kDim, 0, false});
        grid.put(line, at + 4, glyphs.light(color),
                 {Ink::kLight, static_cast<std::uint8_t>(color), false});
        grid.put(line, at + 6, kNamedColors[nearest_name(color)].name, {}, kWidth - 6);
        at += kWidth;
    }
}

void draw_marks(Grid& grid, Lines& lines, const Scene& scene, const Glyphs& glyphs) {
    if (scene.marks == nullptr || scene.marks->empty()) return;
    lines.field("MARKS", "");
    for (const Model::Mark& mark : *scene.marks) {
        if (!lines.room()) return;
        const int line = lines.next();
        grid.put_right(line, 11, time_words(scene.present - mark.at) + " ago",
                       {Ink::kDim, 0, false});
        int at = 12;
        const auto used = std::min<std::size_t>(scene.lights, 24);
        for (std::size_t i = 0; i < used; ++i) {
            const std::uint8_t light = mark.row.lights[i];
            const bool lit = light != 0 && light <= kMarkerColors;
            at = grid.put(line, at, lit ? glyphs.light(light - 1) : glyphs.unlit(),
                          lit ? Style{Ink::kLight, static_cast<std::uint8_t>(light - 1), false}
                              : Style{Ink::kDim, 0, false});
        }
        grid.put(line, at + (used > 0 ? 1 : 0), mark.row.text);
    }
}

// Before the marks, because those take more lines.
void draw_output(Grid& grid, Lines& lines, const Scene& scene) {
    constexpr std::size_t kMostLines = 10;
    if (scene.lines == nullptr || scene.lines->empty()) return;
    lines.field("OUTPUT", "");
    const std::size_t count = scene.lines->size();
    for (std::size_t i = count - std::min(count, kMostLines); i < count && lines.room(); ++i)
        grid.put(lines.next(), 3, (*scene.lines)[i]);
}

}  // namespace

void draw_task(Grid& grid, const Scene& scene, const Glyphs& glyphs, int from, int to) {
    const auto index = static_cast<std::size_t>(scene.view.selected);
    if (index >= scene.picture.rows.size()) return;
    const TaskRow& row = scene.picture.rows[index];
    Lines lines(grid, from, to, scene.view.top);
    lines.field("TASK",
                fmt::format("{} of {}, on {}{}", row.task, scene.picture.rows.size(),
                            node_words(row, scene.picture.job),
                            row.pid > 0 ? fmt::format(", process {}", row.pid) : ""),
                {Ink::kStrong, 0, false});
    lines.field("STATE", fmt::format("{} ({})", doing_words(row), activity_word(row.activity)),
                {Ink::kActivity, static_cast<std::uint8_t>(row.activity), false});
    if (row.cpu_percent >= 0) lines.field("PROCESSOR", fmt::format("{}%", row.cpu_percent));
    if (row.memory > 0) lines.field("MEMORY", size_words(row.memory));
    if (row.switches_per_second > 0)
        lines.field("SWITCHES", fmt::format("{}/s", size_words(row.switches_per_second)));
    if (row.disk_read_per_second + row.disk_written_per_second > 0)
        lines.field("DISK",
                    fmt::format("{}/s read, {}/s written", size_words(row.disk_read_per_second),
                                size_words(row.disk_written_per_second)));
    if (row.sent_per_second + row.received_per_second > 0)
        lines.field("MESSAGES", fmt::format("{}/s out, {}/s in", size_words(row.sent_per_second),
                                            size_words(row.received_per_second)));
    if (row.progress.total > 0) {
        const Pace pace = pace_of(row, scene.picture.at);
        lines.field(
            "PROGRESS",
            fmt::format("{} {} of {}  {}", glyphs.bar(20, share_of(row.progress)),
                        row.progress.done, row.progress.total, pace_words(row.progress, pace)));
    }
    if (row.text_count > 0) lines.field("TEXT", fmt::format("{}", row.text));
    draw_lights(grid, lines, row, glyphs);
    if (row.text_count > 0)
        lines.field("", count_words(row.text_count, "text") + " so far", {Ink::kDim, 0, false});
    draw_output(grid, lines, scene);
    draw_marks(grid, lines, scene, glyphs);
}

}  // namespace poe::markers
