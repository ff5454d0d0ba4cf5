// Implementation of keys.hpp.
#include "markerarray/keys.hpp"

#include <algorithm>
#include <csignal>
#include <utility>

namespace poe::markers {
namespace {

using Kind = Key::Kind;

constexpr Moment kStep{1'000};
constexpr Moment kSmallStep{100};
constexpr int kMaxZoom = 20;
constexpr int kTextStep = 8;
constexpr std::size_t kLongestInput = 200;

// One key press with everything that its handling needs.
struct Press {
    View& view;
    const Scene& scene;
    Size size;
    Moment earliest;

    Display display() const { return display_of(view, scene.order.size(), size, scene.progress); }
    bool lists() const { return display() == Display::kRows || display() == Display::kCells; }

    // Moves the selection, in tasks; scrolls the page in displays without tasks.
    void move(long by) const {
        if (display() == Display::kJobs) {
            const long count = scene.jobs == nullptr ? 0 : static_cast<long>(scene.jobs->size());
            const long to = static_cast<long>(view.job_at) + by;
            view.job_at = static_cast<std::size_t>(std::clamp(to, 0L, std::max(0L, count - 1)));
            return;
        }
        if (!lists()) {
            const long top = static_cast<long>(view.top) + by;
            view.top = static_cast<std::size_t>(std::max(0L, top));
            return;
        }
        if (scene.order.empty()) return;
        const long last = static_cast<long>(scene.order.size()) - 1;
        const long from = static_cast<long>(position_of(scene.order, view.selected));
        view.selected = static_cast<TaskId>(
            scene.order[static_cast<std::size_t>(std::clamp(from + by, 0L, last))]);
    }
    CellPlan plan() const { return cell_plan(scene.order.size(), view, size, scene.progress); }
    // The number of tasks from one line to the next.
    long line() const {
        if (display() != Display::kCells) return 1;
        return static_cast<long>(plan().tasks_per_cell * plan().cells_per_line);
    }
    long page() const {
        const long fit = std::max(1, rows_that_fit(size, scene.progress));
        return display() == Display::kCells ? line() * static_cast<long>(plan().lines) : fit;
    }
    void sideways(int direction) const {
        if (display() == Display::kCells)
            move(direction * static_cast<long>(plan().tasks_per_cell));
        else
            view.text_from = std::clamp(view.text_from + direction * kTextStep, 0,
                                        static_cast<int>(kMarkerColumns));
    }
    void look_at(Display display) const {
        if (view.display != Display::kTask && view.display != Display::kHelp &&
            view.display != Display::kJobs)
            view.before = view.display;
        view.display = display;
        view.top = 0;
    }
    void back() const {
        view.display = view.before;
        view.top = 0;
    }
    void stand(Moment by) const {
        const Moment from = view.standing.value_or(scene.present);
        const Moment to = from + by;
        if (to >= scene.present && by > Moment{0})
            view.standing.reset();
        else
            view.standing = std::clamp(to, earliest, scene.present);
    }
    void find(long direction) const {
        if (view.search.empty() || scene.order.empty()) return;
        const auto count = static_cast<long>(scene.order.size());
        const long from = static_cast<long>(position_of(scene.order, view.selected));
        for (long i = 1; i <= count; ++i) {
            const long at = ((from + direction * i) % count + count) % count;
            const std::uint32_t row = scene.order[static_cast<std::size_t>(at)];
            if (!row_contains(scene.picture.rows[row], view.search)) continue;
            view.selected = static_cast<TaskId>(row);
            return;
        }
        view.notice = "no task shows \"" + view.search + "\"";
    }
    void click(const Key& key) const {
        if (!lists()) return back();
        const int first = size.lines - 1 - std::max(1, rows_that_fit(size, scene.progress));
        const long line_of = key.line - first + static_cast<long>(view.top);
        long at = line_of;
        if (display() == Display::kCells) {
            const CellPlan now = plan();
            at = (line_of * static_cast<long>(now.cells_per_line) + std::max(0, key.column - 1)) *
                 static_cast<long>(now.tasks_per_cell);
        }
        if (key.line < first || at < 0 || at >= static_cast<long>(scene.order.size())) return;
        const auto task = static_cast<TaskId>(scene.order[static_cast<std::size_t>(at)]);
        if (task == view.selected) look_at(Display::kTask);
        view.selected = task;
    }
};

void begin_prompt(View& view, Prompt prompt, const std::string& text) {
    view.prompt = prompt;
    view.typed = text;
}

// Accepts "TERM", "SIGTERM" or "15"; returns 0 for a signal that may not be sent.
int signal_named(std::string_view word) {
    constexpr std::pair<std::string_view, int> kSignals[] = {
        {"TERM", SIGTERM}, {"INT", SIGINT},   {"QUIT", SIGQUIT}, {"HUP", SIGHUP},
        {"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"STOP", SIGTSTP}, {"TSTP", SIGTSTP},
        {"CONT", SIGCONT}, {"KILL", SIGKILL}};
    std::string upper(word);
    for (char& c : upper)
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    std::string_view name = upper;
    if (name.starts_with("SIG")) name.remove_prefix(3);
    for (const auto& [known, number] : kSignals)
        if (name == known || name == std::to_string(number)) return number;
    return 0;
}

Command end_prompt(const Press& now) {
    View& view = now.view;
    if (view.prompt == Prompt::kSearch) {
        view.search = view.typed;
        now.find(1);
    } else if (view.prompt == Prompt::kSignal) {
        view.signal = signal_named(view.typed);
        if (view.signal == 0) {
            view.notice = "expected TERM, INT, QUIT, HUP, USR1, USR2, STOP, CONT or KILL";
            return Command::kNone;  // the user can correct the input
        }
        view.prompt = Prompt::kNone;
        return Command::kSignal;
    } else {
        Result<Filter> filter = Filter::parse(view.typed);
        if (!filter) {
            view.notice = filter.error().str();
            return Command::kNone;  // the user can correct the input
        }
        view.filter = filter.value();
        view.filter_text = view.typed;
    }
    view.prompt = Prompt::kNone;
    return Command::kNone;
}

Command press_at_prompt(const Press& now, const Key& key) {
    View& view = now.view;
    if (key.kind == Kind::kEnter) return end_prompt(now);
    if (key.kind == Kind::kEscape) {
        view.prompt = Prompt::kNone;
    } else if (key.kind == Kind::kBackspace) {
        while (!view.typed.empty() &&
               (static_cast<unsigned char>(view.typed.back()) & 0xc0u) == 0x80u)
            view.typed.pop_back();
        if (!view.typed.empty()) view.typed.pop_back();
    } else if (key.kind == Kind::kCharacter && key.character == 0x15) {  // Ctrl-U
        view.typed.clear();
    } else if (key.kind == Kind::kCharacter && key.character >= 0x20 &&
               view.typed.size() < kLongestInput) {
        append_utf8(view.typed, key.character);
    }
    return Command::kNone;
}

void next_sort(View& view) {
    view.sort = static_cast<SortBy>((static_cast<std::size_t>(view.sort) + 1) % kSortKeys);
    view.notice = "sorted by " + std::string(sort_word(view.sort));
}

void toggle_pin(View& view) {
    if (view.pinned.erase(view.selected) == 0) view.pinned.insert(view.selected);
}

void zoom(const Press& now, int by) {
    if (now.display() != Display::kCells) return;
    if (by > 0 && now.plan().tasks_per_cell == 1) return;
    now.view.zoom = std::clamp(now.view.zoom + by, 0, kMaxZoom);
}

void escape(const Press& now) {
    View& view = now.view;
    if (!now.lists())
        now.back();
    else if (view.standing)
        view.standing.reset();
    else if (!view.filter_text.empty()) {
        view.filter = {};
        view.filter_text.clear();
    }
}

void enter(const Press& now) {
    if (now.display() == Display::kTask || now.display() == Display::kHelp) return now.back();
    // In kCells, selects the task that the cell shows.
    if (now.display() == Display::kCells && !now.scene.order.empty()) {
        const CellContent cell = cell_at(now.scene.picture, now.scene.order, now.plan(),
                                         position_of(now.scene.order, now.view.selected));
        now.view.selected = static_cast<TaskId>(now.scene.order[cell.worst]);
    }
    now.look_at(Display::kTask);
}

// What each key does, and how the help names it. A row without help belongs to the row before it. A
// key that is no character has help only; press() handles it.
struct Binding {
    std::u32string_view characters;
    Command (*act)(const Press&);
    std::string_view shown;
    std::string_view what;
};

// An action that leaves nothing to the caller.
template <auto Act>
Command done(const Press& now) {
    Act(now);
    return Command::kNone;
}

template <Command kCommand>
Command leave(const Press&) {
    return kCommand;
}

constexpr char32_t kCtrlC = 0x03;
constexpr long kAllLines = 1L << 40;

constexpr Binding kBindings[] = {
    {U"k", done<[](const Press& now) { now.move(-now.line()); }>, "up down j k",
     "the task before, after"},
    {U"j", done<[](const Press& now) { now.move(now.line()); }>, "", ""},
    {U"", nullptr, "PgUp PgDn", "a screenful"},
    {U"g", done<[](const Press& now) { now.move(-kAllLines); }>, "g G Home End",
     "the first, the last"},
    {U"G", done<[](const Press& now) { now.move(kAllLines); }>, "", ""},
    {U"", nullptr, "Enter, click", "all about the task, of a cell about its worst; back"},
    {U"", nullptr, "left right", "move texts; in cells: the cell beside"},
    {U"a", done<[](const Press& now) {
         now.view.display = now.display() == Display::kCells ? Display::kRows : Display::kCells;
         now.view.top = 0;
     }>,
     "a", "grid: a cell for each task; or a line for each"},
    {U"+", done<[](const Press& now) { zoom(now, 1); }>, "+ -",
     "in cells: fewer or more tasks in each"},
    {U"-", done<[](const Press& now) { zoom(now, -1); }>, "", ""},
    {U"s", done<[](const Press& now) { next_sort(now.view); }>, "s",
     "sort by the next of: task, state, cpu, memory, traffic, ..."},
    {U"r", done<[](const Press& now) { now.view.backwards = !now.view.backwards; }>, "r",
     "the other way round"},
    {U"f",
     done<[](const Press& now) { begin_prompt(now.view, Prompt::kFilter, now.view.filter_text); }>,
     "f", "filter: state=waiting node=n3 rank=0-63,70, or words"},
    {U"/", done<[](const Press& now) { begin_prompt(now.view, Prompt::kSearch, ""); }>, "/ n N",
     "search; next, previous"},
    {U"n", done<[](const Press& now) { now.find(1); }>, "", ""},
    {U"N", done<[](const Press& now) { now.find(-1); }>, "", ""},
    {U" ", done<[](const Press& now) { toggle_pin(now.view); }>, "space",
     "pin the task: it stays on top"},
    {U"p", done<[](const Press& now) {
         if (now.view.standing)
             now.view.standing.reset();
         else
             now.view.standing = now.scene.present;
     }>,
     "p", "pause; go on"},
    {U"[", done<[](const Press& now) { now.stand(-kStep); }>, "[ ]", "a second back, forward"},
    {U"]", done<[](const Press& now) { now.stand(kStep); }>, "", ""},
    {U"{", done<[](const Press& now) { now.stand(-kSmallStep); }>, "{ }", "a tenth of a second"},
    {U"}", done<[](const Press& now) { now.stand(kSmallStep); }>, "", ""},
    {U"J", leave<Command::kNextJob>, "J", "the next job"},
    {U"L",
     [](const Press& now) {
         now.look_at(Display::kJobs);
         return Command::kListJobs;
     },
     "L", "the list of jobs; Enter: the selected one"},
    {U"K", done<[](const Press& now) { begin_prompt(now.view, Prompt::kSignal, "TERM"); }>, "K",
     "end the job, or send it another signal"},
    {U"", nullptr, "Esc", "back; go on; no filter"},
    {U"\x0c", leave<Command::kRepaint>, "Ctrl-L", "draw all again"},
    {U"q",
     [](const Press& now) {
         if (now.lists()) return Command::kQuit;
         now.back();
         return Command::kNone;
     },
     "q", "back, or quit;  Q, Ctrl-C: quit"},
    {U"Q\x03", leave<Command::kQuit>, "", ""},
    {U"?h", done<[](const Press& now) { now.look_at(Display::kHelp); }>, "", ""},
    {U"\x1a", leave<Command::kSuspend>, "", ""},
};

Command press_character(const Press& now, char32_t character) {
    for (const Binding& binding : kBindings)
        if (binding.characters.find(character) != std::u32string_view::npos)
            return binding.act(now);
    now.view.notice = "no such key; ? shows all";
    return Command::kNone;
}

}  // namespace

Command press(View& view, const Key& key, const Scene& scene, Size size, Moment earliest) {
    const Press now{view, scene, size, earliest};
    view.notice.clear();
    if (view.prompt != Prompt::kNone) {
        if (key.kind == Kind::kCharacter && key.character == kCtrlC) return Command::kQuit;
        return press_at_prompt(now, key);
    }
    switch (key.kind) {
        case Kind::kCharacter:
            return press_character(now, key.character);
        case Kind::kUp:
            now.move(-now.line());
            break;
        case Kind::kDown:
            now.move(now.line());
            break;
        case Kind::kLeft:
            now.sideways(-1);
            break;
        case Kind::kRight:
            now.sideways(1);
            break;
        case Kind::kPageUp:
            now.move(-now.page());
            break;
        case Kind::kPageDown:
            now.move(now.page());
            break;
        case Kind::kHome:
            now.move(-kAllLines);
            break;
        case Kind::kEnd:
            now.move(kAllLines);
            break;
        case Kind::kEnter:
            if (now.display() == Display::kJobs) {
                now.back();
                return Command::kThisJob;
            }
            enter(now);
            break;
        case Kind::kEscape:
        case Kind::kBackspace:
            escape(now);
            break;
        case Kind::kClick:
            now.click(key);
            break;
        case Kind::kWheelUp:
            now.move(-3 * now.line());
            break;
        case Kind::kWheelDown:
            now.move(3 * now.line());
            break;
    }
    return Command::kNone;
}

const std::vector<KeyHelp>& key_help() {
    static const std::vector<KeyHelp> help = [] {
        std::vector<KeyHelp> rows;
        for (const Binding& binding : kBindings)
            if (!binding.shown.empty()) rows.push_back({binding.shown, binding.what});
        return rows;
    }();
    return help;
}

}  // namespace poe::markers
