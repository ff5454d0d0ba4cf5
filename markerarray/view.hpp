// View: what somebody has chosen to look at: which display, sorted how, which tasks, which one is
// selected, now or some time ago. Plain data and what keys do to it; pure.
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
    kAuto,   // rows, or cells when there are far more rows than fit
    kRows,   // a line per task
    kCells,  // a cell per task or group of tasks
    kTask,   // all about the selected task
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
    Display before = Display::kAuto;  // where the way back from kTask, kJobs and kHelp leads
    SortBy sort = SortBy::kTask;
    bool backwards = false;
    Filter filter;
    std::string filter_text;
    std::string search;
    std::set<TaskId> pinned;  // always on top
    TaskId selected = 0;
    std::size_t job_at = 0;  // the selected line of the list of jobs
    int signal = 0;          // to be sent to the job (Command::kSignal)
    std::size_t top = 0;     // first line shown, of the order, of the help or of a task's marks
    int text_from = 0;       // columns of the texts that are scrolled away
    int zoom = 0;            // of kCells: twice as few tasks per cell with every step
    Prompt prompt = Prompt::kNone;
    std::string typed;               // at the prompt
    std::string notice;              // one line for the user, until the next key
    std::optional<Moment> standing;  // looks at this moment instead of at the present
};

// The tasks that are shown, in their order: indices into picture.rows.
using Order = std::vector<std::uint32_t>;
Order order_of(const Picture& picture, const View& view);

// What a display of this size has to show.
struct Scene {
    const Picture& picture;
    const Order& order;
    const View& view;
    std::size_t lights = 0;  // columns of lights
    bool progress = false;   // some task has told its progress
    Moment present{0};       // differs from picture.at when the view stands still
    const std::vector<Model::Mark>* marks = nullptr;  // of the selected task; kTask only
    const std::vector<std::string>* lines = nullptr;  // of its output, likewise
    const std::vector<JobLine>* jobs = nullptr;       // kJobs only
};

// Lines of tasks that fit below the heads, and the display that kAuto means.
int rows_that_fit(Size size, bool progress);
Display display_of(const View& view, std::size_t tasks, Size size, bool progress);

// How kCells shares out tasks: so many to a cell, so many cells in a line.
struct CellPlan {
    std::size_t tasks_per_cell = 1;
    std::size_t cells_per_line = 1;
    std::size_t lines = 1;
};
CellPlan cell_plan(std::size_t tasks, const View& view, Size size, bool progress);

// Keeps the selection among the tasks that are shown and on the screen. Called before drawing.
void settle(View& view, const Order& order, Size size, bool progress);

// The cell that has the task at this position of the order: the positions of its first task and
// behind its last, and the task in it that is most alarming.
struct CellContent {
    std::size_t first = 0;
    std::size_t last = 0;
    std::size_t worst = 0;
};
CellContent cell_at(const Picture& picture, const Order& order, const CellPlan& plan,
                    std::size_t position);

// The position of the selected task in the order; 0 when it is not there.
std::size_t position_of(const Order& order, TaskId task);

}  // namespace poe::markers
