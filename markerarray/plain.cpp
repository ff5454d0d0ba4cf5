// Implementation of plain.hpp.
#include "markerarray/plain.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "markerarray/pace.hpp"
#include "markerarray/render.hpp"
#include "markerarray/render_parts.hpp"
#include "terminal/colors.hpp"
#include "terminal/words.hpp"

namespace poe::markers {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kTenths = 10;

int tenths_of(const Progress& progress) {
    return progress.total == 0 ? -1 : static_cast<int>(kTenths * share_of(progress));
}

double seconds(Moment time) {
    return static_cast<double>(time.count()) / 1000;
}

std::string dump(const Json& json) {
    // Replaces bytes that are not valid UTF-8.
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool worth_telling(Activity activity) {
    return activity == Activity::kEnded || activity == Activity::kFailed ||
           activity == Activity::kStopped;
}

}  // namespace

std::vector<std::string> change_lines(const TaskRow& before, const TaskRow& after, Moment elapsed) {
    std::vector<std::string> lines;
    const auto tell = [&](const std::string& what) {
        lines.push_back(fmt::format("{:8.3f} s  task {}  {}", seconds(elapsed), after.task, what));
    };
    for (std::size_t i = 0; i < after.lights.size(); ++i)
        if (after.lights[i] != before.lights[i] && after.lights[i] != 0)
            tell(fmt::format("light {} {}", i,
                             kNamedColors[nearest_name(after.lights[i] - 1)].name));
    if (after.text != before.text) {
        // Makes one line of the text, whatever it contains.
        Grid line({static_cast<int>(kMarkerColumns), 1});
        line.put(0, 0, after.text);
        std::string text = line.text();
        text.pop_back();
        tell("\"" + text + "\"");
    }
    if (tenths_of(after.progress) != tenths_of(before.progress) && after.progress.total != 0)
        tell(fmt::format("{} of {}, {}", after.progress.done, after.progress.total,
                         pace_words(after.progress, {})));
    if (after.activity != before.activity) {
        if (worth_telling(after.activity))
            tell(after.doing);
        else if (before.activity == Activity::kStopped)
            tell("goes on");
    }
    return lines;
}

std::string row_json(const TaskRow& row, const JobFacts& job, Moment elapsed) {
    Json json{{"time", seconds(elapsed)},
              {"task", row.task},
              {"node", node_words(row, job)},
              {"state", activity_word(row.activity)},
              {"doing", row.doing}};
    if (row.waits_ms > 0) json["waits"] = static_cast<double>(row.waits_ms) / 1000;
    if (row.pid > 0) json["pid"] = row.pid;
    if (row.cpu_percent >= 0) json["cpu_percent"] = row.cpu_percent;
    if (row.memory > 0) json["memory"] = row.memory;
    if (row.switches_per_second > 0) json["switches_per_second"] = row.switches_per_second;
    if (row.disk_read_per_second > 0) json["disk_read_per_second"] = row.disk_read_per_second;
    if (row.disk_written_per_second > 0)
        json["disk_written_per_second"] = row.disk_written_per_second;
    json["sent_per_second"] = row.sent_per_second;
    json["received_per_second"] = row.received_per_second;
    auto lights = Json::array();
    for (const std::uint8_t light : row.lights) {
        if (light == 0)
            lights.push_back(nullptr);
        else
            lights.push_back(light - 1);
    }
    while (!lights.empty() && lights.back().is_null()) lights.erase(lights.size() - 1);
    json["lights"] = std::move(lights);
    json["text"] = row.text;
    json["texts"] = row.text_count;
    if (row.progress.total > 0)
        json["progress"] = {{"done", row.progress.done}, {"total", row.progress.total}};
    return dump(json);
}

std::string job_json(const JobFacts& job, Moment elapsed, bool ended) {
    Json json{{"time", seconds(elapsed)},
              {"job", job.id},
              {"program", job.program},
              {"tasks", job.tasks},
              {"nodes", job.nodes}};
    if (ended) json["ended"] = true;
    return dump(json);
}

std::string table_text(const Picture& picture, const Order& order, std::size_t lights,
                       bool progress, int columns, bool unicode) {
    constexpr int kAround = 3;  // title, the job's progress, headings
    constexpr int kFewest = 8;  // with fewer lines there are no headings
    View view;
    view.display = Display::kRows;
    const Scene scene{picture, order, view, lights, progress, picture.at, nullptr};
    const Size size{columns, std::max(static_cast<int>(order.size()) + kAround, kFewest)};
    std::string text = render_rows_only(scene, size, Glyphs(unicode)).text();
    text.erase(text.find_last_not_of('\n') + 1);
    return text + "\n";
}

}  // namespace poe::markers
