// View: what the user has chosen to see: the display, its order, the tasks, the selected task, the
// present or a past moment. Plain data, and pure functions on it.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "markerarray/filter.hpp"
#include "markerarray/model.hpp"
#include "markerarray/snapshot.hpp"
#include "terminal/grid.hpp"

namespace poe::markers {

enum class Display : std::uint8_t {
    kAuto,   // rows, or cells if there are far more rows than fit
    kRows,   // one line per task
    kCells,  // one cell per task or group of tasks
    kTask,   // the details of the selected task
    kJobs,   // the list of jobs
    kHelp,
};

enum class SortBy : std::uint8_t {
    kTask,
    kState,
    kCpu,
    kMemory,
    kTraffic,
    kWait,
    kProgress,
    kText
};
inline constexpr std::size_t kSortKeys = 8;
std::string_view sort_word(SortBy sort);

enum class Prompt : std::uint8_t { kNone, kFilter, kSearch, kSignal };

// A line of the list of jobs.
struct JobLine {
    std::string id;
    std::uint32_t tasks = 0;
    Moment elapsed{0};
    std::string program;
    std::string directory;
};

struct View {
    Display display = Display::kAuto;
    Display before = Display::kAuto;  // the display to return to from kTask, kJobs and kHelp
    SortBy sort = SortBy::kTask;
    bool backwards = false;
    Filter filter;
    std::string filter_text;
    std::string search;
    std::set<TaskId> pinned;  // always on top
    TaskId selected = 0;
    std::size_t job_at = 0;  // the selected line of the list of jobs
    int signal = 0;          // to send to the job (Command::kSignal)
    std::size_t top = 0;     // first line shown, of the order, the help or a task's marks
    int text_from = 0;       // columns of the texts that are scrolled out
    int zoom = 0;            // for kCells: each step halves the tasks per cell
    Prompt prompt = Prompt::kNone;
    std::string typed;               // input at the prompt
    std::string notice;              // one line for the user, until the next key
    std::optional<Moment> standing;  // the past moment that is shown; empty: the present
};

// The visible tasks in their order: indices into picture.rows.
using Order = std::vector<std::uint32_t>;
Order order_of(const Picture& picture, const View& view);

// The data that a display of this size draws.
struct Scene {
    const Picture& picture;
    const Order& order;
    const View& view;
    std::size_t lights = 0;  // columns of lights
    bool progress = false;   // some task has reported progress
    Moment present{0};       // differs from picture.at while a past moment is shown
    const std::vector<Model::Mark>* marks = nullptr;  // of the selected task; kTask only
    const std::vector<std::string>* lines = nullptr;  // of its output, likewise
    const std::vector<JobLine>* jobs = nullptr;       // kJobs only
};

// The number of task lines that fit, and the display that kAuto selects.
int rows_that_fit(Size size, bool progress);
Display display_of(const View& view, std::size_t tasks, Size size, bool progress);

// The division of the tasks by kCells: tasks per cell, cells per line, lines.
struct CellPlan {
    std::size_t tasks_per_cell = 1;
    std::size_t cells_per_line = 1;
    std::size_t lines = 1;
};
CellPlan cell_plan(std::size_t tasks, const View& view, Size size, bool progress);

// Keeps the selection among the visible tasks and on the screen. Call before drawing.
void settle(View& view, const Order& order, Size size, bool progress);

// The cell with the task at this position of the order: the positions of its first task and after
// its last, and of its most severe task.
struct CellContent {
    std::size_t first = 0;
    std::size_t last = 0;
    std::size_t worst = 0;
};
CellContent cell_at(const Picture& picture, const Order& order, const CellPlan& plan,
                    std::size_t position);

// Returns the position of the selected task in the order; 0 if it is not there.
std::size_t position_of(const Order& order, TaskId task);

}  // namespace poe::markers
