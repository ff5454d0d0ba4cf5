// The table: one line per task. The columns depend on the width and on the data: task, lights and
// text come first, then what the task does, then the rest.
#include <algorithm>

#include <fmt/format.h>

#include "markerarray/pace.hpp"
#include "markerarray/render_parts.hpp"
#include "terminal/words.hpp"

namespace poe::markers {
namespace {

constexpr Style kHead{Ink::kDim, 0, false};

// Widths in columns; 0: not shown. A blank separates two columns.
struct Columns {
    int task = 4;
    int node = 0;
    int lights = 0;
    int text = 0;
    int progress = 0;
    int doing = 0;
    int cpu = 0;
    int memory = 0;
    int sent = 0;
    int received = 0;
    int switches = 0;
    int disk = 0;
};

Columns columns_for(const Scene& scene, int width) {
    constexpr int kNode = 8;
    constexpr int kProgress = 12;
    constexpr int kDoing = 28;
    constexpr int kCpu = 4;
    constexpr int kMemory = 4;
    constexpr int kRate = 5;
    constexpr int kEnoughText = 16;
    constexpr int kGoodText = 40;
    Columns columns;
    columns.task =
        std::max(width < 40 ? 1 : 4,
                 static_cast<int>(
                     fmt::format_int(scene.picture.rows.empty() ? 0 : scene.picture.rows.size() - 1)
                         .size()));
    // The state's glyph is between task and lights.
    int room = width - columns.task - 3;
    columns.lights = std::clamp(static_cast<int>(scene.lights), 0, std::max(0, room / 2));
    room -= columns.lights + (columns.lights > 0 ? 1 : 0);
    const auto give = [&room](int& column, int wanted) {
        if (room - wanted - 1 < kEnoughText) return;
        column = wanted;
        room -= wanted + 1;
    };
    give(columns.doing, kDoing);
    if (scene.progress) give(columns.progress, kProgress);
    give(columns.cpu, kCpu);
    give(columns.memory, kMemory);
    if (scene.picture.job.nodes.size() > 1) give(columns.node, kNode);
    if (room >= kGoodText + 2 * (kRate + 1)) {
        give(columns.sent, kRate);
        give(columns.received, kRate);
    }
    if (room >= kGoodText + 2 * (kRate + 1)) {
        give(columns.switches, kRate);
        give(columns.disk, kRate);
    }
    columns.text = std::min(std::max(0, room), static_cast<int>(kMarkerColumns));
    const int rest = room - columns.text;
    if (rest > 0 && columns.doing > 0) columns.doing += rest;
    return columns;
}

void draw_heads(Grid& grid, const Columns& columns, int line) {
    int at = columns.task;
    grid.put_right(line, at, "TASK", kHead);
    at += 3;
    const auto head = [&](int width, const char* text) {
        if (width == 0) return;
        grid.put(line, at, text, kHead, width);
        at += width + 1;
    };
    head(columns.node, "NODE");
    head(columns.lights, "LIGHTS");
    head(columns.text, "TEXT");
    head(columns.progress, "PROGRESS");
    head(columns.doing, "STATE");
    head(columns.cpu, " CPU");
    head(columns.memory, " MEM");
    head(columns.sent, "OUT/s");
    head(columns.received, " IN/s");
    head(columns.switches, " SW/s");
    head(columns.disk, "DSK/s");
}

Style style_of(Activity activity) {
    return {Ink::kActivity, static_cast<std::uint8_t>(activity), false};
}

void draw_lights(Grid& grid, const TaskRow& row, const Glyphs& glyphs, int line, int at,
                 int count) {
    for (int i = 0; i < count; ++i) {
        const std::uint8_t light = row.lights[static_cast<std::size_t>(i)];
        if (light == 0 || light > kMarkerColors)
            grid.put(line, at + i, glyphs.unlit(), {Ink::kDim, 0, false});
        else
            grid.put(line, at + i, glyphs.light(light - 1),
                     {Ink::kLight, static_cast<std::uint8_t>(light - 1), false});
    }
}

// Returns the part of a text after its first `columns` characters.
std::string_view behind(std::string_view text, int columns) {
    while (columns > 0 && !text.empty()) {
        text.remove_prefix(1);
        while (!text.empty() && (static_cast<unsigned char>(text[0]) & 0xc0u) == 0x80u)
            text.remove_prefix(1);
        --columns;
    }
    return text;
}

void draw_progress(Grid& grid, const TaskRow& row, const Glyphs& glyphs, int line, int at,
                   int width) {
    if (row.progress.total == 0) return;
    constexpr int kPercent = 4;
    grid.put(line, at, glyphs.bar(width - kPercent - 1, share_of(row.progress)),
             {Ink::kBar, 0, false});
    grid.put_right(line, at + width, fmt::format("{:.0f}%", 100 * share_of(row.progress)));
}

// Draws the call without its prefix, and at the right how long it has waited.
void draw_doing(Grid& grid, const TaskRow& row, int line, int at, int width) {
    constexpr std::string_view kPrefix = "mpc_";
    std::string_view doing = row.doing;
    if (doing.starts_with(kPrefix)) doing.remove_prefix(kPrefix.size());
    const std::string time = row.waits_ms == 0 ? "" : time_words(Moment(row.waits_ms));
    const int taken = time.empty() ? 0 : columns_of(time) + 1;
    grid.put(line, at, doing, style_of(row.activity), width - taken);
    grid.put_right(line, at + width, time, style_of(row.activity));
}

void draw_row(Grid& grid, const Scene& scene, const TaskRow& row, const Glyphs& glyphs,
              const Columns& columns, int line) {
    const bool pinned = scene.view.pinned.contains(row.task);
    int at = columns.task;
    grid.put_right(line, at, std::to_string(row.task),
                   {pinned ? Ink::kStrong : Ink::kPlain, 0, false});
    grid.put(line, at + 1, glyphs.activity(row.activity), style_of(row.activity));
    at += 3;
    if (columns.node > 0) {
        grid.put(line, at, node_words(row, scene.picture.job), {}, columns.node);
        at += columns.node + 1;
    }
    if (columns.lights > 0) {
        draw_lights(grid, row, glyphs, line, at, columns.lights);
        at += columns.lights + 1;
    }
    if (columns.text > 0) {
        grid.put(line, at, behind(row.text, scene.view.text_from), {}, columns.text);
        at += columns.text + 1;
    }
    if (columns.progress > 0) {
        draw_progress(grid, row, glyphs, line, at, columns.progress);
        at += columns.progress + 1;
    }
    if (columns.doing > 0) {
        draw_doing(grid, row, line, at, columns.doing);
        at += columns.doing + 1;
    }
    if (columns.cpu > 0) {
        if (row.cpu_percent >= 0)
            grid.put_right(line, at + columns.cpu, fmt::format("{}%", row.cpu_percent));
        at += columns.cpu + 1;
    }
    const auto size = [&](int width, Bytes bytes) {
        if (width == 0) return;
        if (bytes > 0) grid.put_right(line, at + width, size_words(bytes));
        at += width + 1;
    };
    size(columns.memory, row.memory);
    size(columns.sent, row.sent_per_second);
    size(columns.received, row.received_per_second);
    size(columns.switches, row.switches_per_second);
    size(columns.disk, row.disk_read_per_second + row.disk_written_per_second);
}

}  // namespace

std::string doing_words(const TaskRow& row) {
    if (row.waits_ms == 0) return row.doing;
    return row.doing + ", " + time_words(Moment(row.waits_ms));
}

std::string node_words(const TaskRow& row, const JobFacts& job) {
    const auto node = static_cast<std::size_t>(row.node);
    if (row.node < 0) return "?";
    return node < job.nodes.size() ? job.nodes[node] : std::to_string(row.node);
}

void draw_rows(Grid& grid, const Scene& scene, const Glyphs& glyphs, int from, int to,
               bool select) {
    const Columns columns = columns_for(scene, grid.size().columns);
    const int fit = rows_that_fit(grid.size(), scene.progress);
    if (to - from > fit) draw_heads(grid, columns, from++);
    // A display that cannot scroll shows in its last line how many rows are omitted.
    const auto room = static_cast<std::size_t>(std::max(0, to - from));
    const bool cut = !select && room > 1 && scene.order.size() > room;
    if (cut) {
        grid.put(--to, 0,
                 fmt::format("{} more; pmarray in a terminal of its own shows all",
                             scene.order.size() - room + 1),
                 kHead);
    }
    for (std::size_t i = scene.view.top; i < scene.order.size() && from < to; ++i, ++from) {
        const TaskRow& row = scene.picture.rows[scene.order[i]];
        draw_row(grid, scene, row, glyphs, columns, from);
        if (select && row.task == scene.view.selected) grid.select(from);
    }
}

}  // namespace poe::markers
