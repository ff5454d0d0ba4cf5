// Look: what the user has chosen to see of a trace: views, moment, window, task. Plain data,
// changed by keys (controls.hpp) and drawn by views (views.hpp).
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tracer/analysis/session.hpp"

namespace poe::trace {

enum class ViewKind : std::uint8_t {
    kTimeline,
    kStream,
    kMatrix,
    kConnections,
    kMessages,
    kBalance,
    kUtilization,
    kCalls,
    kMarkers,
    kSystem,
    kSource,
    kWaits,
    kCauses,
    kPath,
    kEfficiency,
    kFlame,
};
inline constexpr std::size_t kViews = 16;

// The names for the menu and for -view; grouped as in the view selector of the Visualization Tool.
struct ViewName {
    ViewKind kind;
    char key;
    std::string_view name;
    std::string_view group;
    std::string_view what;
};
const std::array<ViewName, kViews>& view_names();
// The groups in the order of the menu; the key of the first one is 1.
inline constexpr std::array<std::string_view, 5> kViewGroups{"Computation", "Communication",
                                                             "Program", "System", "Diagnosis"};
inline const ViewName& name_of(ViewKind kind) {
    return view_names()[static_cast<std::size_t>(kind)];
}

struct ViewState {
    enum class Prompt : std::uint8_t { kNone, kJump, kSearch };
    enum class Sheet : std::uint8_t { kPanes, kMenu, kHelp };
    // The range of sums: from the start of the trace to `now`, the window, or a short time before
    // `now`.
    enum class Sums : std::uint8_t { kSoFar, kWindow, kNow };

    Time now{0};
    Stretch window;  // of views that show a range; contains `now`
    Sums sums = Sums::kSoFar;
    bool count = false;  // show numbers of messages instead of bytes
    bool lines = false;  // draw messages in the time line
    bool each = false;   // one row per task, even if not all fit
    TaskId selected = 0;
    TaskId top = 0;               // first task shown if not all fit
    std::vector<ViewKind> panes;  // empty: as many as the screen has room for

    // Which samples the flame view sums; the range of sums applies, too.
    std::set<TaskId> flame_tasks;  // empty: all
    std::optional<State> flame_state;
    std::string flame_phase;     // empty: any
    bool flame_waiting = false;  // threads that sleep instead of those that run

    int direction = 0;  // 1 plays, -1 plays backwards, 0 is stopped
    int speed = 0;      // a step of kSpeeds
    std::vector<Time> marks;
    std::optional<Time> loop_from;
    std::optional<Time> loop_to;

    Sheet sheet = Sheet::kPanes;
    std::size_t sheet_top = 0;
    Prompt prompt = Prompt::kNone;
    std::string typed;
    std::string search;
    std::string notice;  // one line, until the next key
};

// Speeds of playback, 1/1000 to 1000, in steps of 1, 2, 5.
inline constexpr int kSlowest = -9;
inline constexpr int kFastest = 9;
double speed_of(int step);
std::string speed_words(int step);

// Returns the initial look: the whole trace, at its end, so that sums are totals; with a speed that
// plays it in about half a minute.
ViewState look_at(const Session& session);
// Return the range of sums, and its name: "so far".
Stretch stretch_of(const ViewState& look, const Session& session);
std::string_view sums_words(const ViewState& look);
// Returns a short range before `now`: a fiftieth of the window.
Stretch lately(const ViewState& look, const Session& session);
// Moves to a moment within the trace; the window follows.
void move_to(ViewState& look, Stretch whole, Time moment);
// Multiplies the window's length by `factor`; `now` keeps its relative position in it.
void zoom(ViewState& look, Stretch whole, double factor);
// Advances a look that plays by `passed` on the viewer's clock; stops it at the end.
void play(ViewState& look, Stretch whole, Time passed);

}  // namespace poe::trace
