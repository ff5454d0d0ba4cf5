// Implementation of view_state.hpp.
#include "tracer/playback/view_state.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace poe::trace {
namespace {

constexpr Time kShortestWindow{100};

Time times(Time time, double factor) {
    const double count = static_cast<double>(time.count()) * factor;
    const auto most = static_cast<double>(kFarthest.count());
    return Time(static_cast<std::int64_t>(std::clamp(count, -most, most)));
}

}  // namespace

const std::array<ViewName, kViews>& view_names() {
    using View = ViewKind;
    static constexpr std::array<ViewName, kViews> kNames{
        {{View::kTimeline, 't', "timeline", "Computation", "what each task does over time"},
         {View::kStream, 's', "stream", "Communication", "messages of each task as they stream by"},
         {View::kMatrix, 'm', "matrix", "Communication", "who sends how much to whom"},
         {View::kConnections, 'c', "connections", "Communication",
          "a graph of who exchanges with whom, who waits"},
         {View::kMessages, 'n', "messages", "Communication", "numbers of messages, their sizes"},
         {View::kBalance, 'b', "balance", "Computation", "how the load is spread over tasks"},
         {View::kUtilization, 'u', "utilization", "Computation", "how many tasks compute"},
         {View::kCalls, 'a', "calls", "Computation", "which states and calls take how long"},
         {View::kMarkers, 'p', "markers", "Program", "the Program Marker Array"},
         {View::kSystem, 'y', "system", "System", "counters and statistics over time"},
         {View::kSource, 'l', "source", "Program", "the source line that the task is at"},
         {View::kWaits, 'w', "waits", "Diagnosis", "wait states by call, task and phase"},
         {View::kCauses, 'r', "causes", "Diagnosis", "what others waited for, their root causes"},
         {View::kPath, 'h', "path", "Diagnosis", "the critical path: what made the job this long"},
         {View::kEfficiency, 'e', "efficiency", "Diagnosis",
          "load balance, serialisation, transfer"},
         {View::kFlame, 'f', "flame", "Computation",
          "which functions, by their callers (-sample)"}}};
    return kNames;
}

double speed_of(int step) {
    constexpr std::array<double, 3> kSteps{1, 2, 5};
    const int decade = step >= 0 ? step / 3 : -((2 - step) / 3);
    return kSteps[static_cast<std::size_t>(step - 3 * decade)] * std::pow(10.0, decade);
}

std::string speed_words(int step) {
    const double speed = speed_of(step);
    return speed >= 1 ? fmt::format("{:.0f}x", speed) : fmt::format("1/{:.0f}x", 1 / speed);
}

ViewState look_at(const Session& session) {
    constexpr double kSeconds = 30;
    ViewState look;
    look.window = session.whole();
    look.window.to = std::max(look.window.to, look.window.from + kShortestWindow);
    look.now = session.whole().to;
    const double wanted = seconds_of(look.window.length()) / kSeconds;
    look.speed = kSlowest;
    while (look.speed < kFastest && speed_of(look.speed) < wanted) ++look.speed;
    return look;
}

Stretch lately(const ViewState& look, const Session& session) {
    constexpr int kPart = 50;
    return {std::max(session.whole().from, look.now - look.window.length() / kPart), look.now};
}

Stretch stretch_of(const ViewState& look, const Session& session) {
    switch (look.sums) {
        case ViewState::Sums::kWindow:
            return look.window;
        case ViewState::Sums::kNow:
            return lately(look, session);
        case ViewState::Sums::kSoFar:
            break;
    }
    return {session.whole().from, look.now};
}

std::string_view sums_words(const ViewState& look) {
    constexpr std::array<std::string_view, 3> kWords{"so far", "in the window", "just now"};
    return kWords[static_cast<std::size_t>(look.sums)];
}

void move_to(ViewState& look, Stretch whole, Time moment) {
    look.now = std::clamp(moment, whole.from, whole.to);
    if (look.now >= look.window.from && look.now <= look.window.to) return;
    // Places the moment near the side at which it entered the window.
    constexpr int kPart = 10;
    const Time length = look.window.length();
    const Time before = look.now > look.window.to ? length / kPart : length - length / kPart;
    look.window.from =
        std::clamp(look.now - before, whole.from, std::max(whole.from, whole.to - length));
    look.window.to = look.window.from + length;
}

void zoom(ViewState& look, Stretch whole, double factor) {
    const Time all = std::max(whole.length(), kShortestWindow);
    const Time length = std::clamp(times(look.window.length(), factor), kShortestWindow, all);
    const double place =
        seconds_of(look.now - look.window.from) / std::max(seconds_of(look.window.length()), 1e-9);
    look.window.from = std::clamp(look.now - times(length, std::clamp(place, 0.0, 1.0)), whole.from,
                                  std::max(whole.from, whole.to - length));
    look.window.to = look.window.from + length;
}

void play(ViewState& look, Stretch whole, Time passed) {
    if (look.direction == 0) return;
    Time to = look.now + times(passed, speed_of(look.speed) * look.direction);
    if (look.loop_from && look.loop_to && *look.loop_from < *look.loop_to) {
        if (look.direction > 0 && to > *look.loop_to) to = *look.loop_from;
        if (look.direction < 0 && to < *look.loop_from) to = *look.loop_to;
    }
    const bool over = look.direction > 0 ? to >= whole.to : to <= whole.from;
    move_to(look, whole, to);
    if (over) look.direction = 0;
}

}  // namespace poe::trace
