// Implementation of controls.hpp.
#include "tracer/playback/controls.hpp"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "tracer/analysis/trace_words.hpp"
#include "tracer/playback/chart.hpp"
#include "tracer/playback/click.hpp"
#include "tracer/playback/panes.hpp"
#include "tracer/playback/search.hpp"

namespace poe::trace {

using markers::Command;
using terminal::Key;

namespace {

using KeyKind = Key::Kind;

constexpr std::size_t kLongestInput = 200;
constexpr int kSteps = 50;  // of the window, per arrow key

// One key press with everything that its handling needs.
struct Press {
    ViewState& look;
    Session& session;
    terminal::Size size;

    void go(Time moment) const { move_to(look, session.whole(), moment); }
    void step(int parts) const { go(look.now + look.window.length() * parts / kSteps); }

    void next(bool forward, const std::string& what, const Session::Condition& condition,
              std::uint64_t Ended::Events::*number) const {
        look.direction = 0;
        const auto event = session.find(
            look.now, forward, condition, [task = look.selected, number](const Ended& sums) {
                const auto known = sums.events.find(task);
                return known != sums.events.end() && known->second.*number > 0;
            });
        if (event) return go(event->time);
        look.notice = fmt::format("no {} of task {} {} this", what, look.selected,
                                  forward ? "after" : "before");
    }
    void next_of(bool forward, char key) const {
        const TaskId task = look.selected;
        const auto of_kind = [task](auto fits) {
            return [task, fits](const Event& event, TaskId of) {
                return of == task && fits(event.record.kind);
            };
        };
        if (key == 'm')
            next(forward, "message",
                 of_kind([](Kind kind) { return kind == Kind::kSend || kind == Kind::kReceive; }),
                 &Ended::Events::messages);
        else if (key == 'c')
            next(forward, "collective call",
                 of_kind([](Kind kind) { return kind == Kind::kCollective; }),
                 &Ended::Events::collectives);
        else if (key == 'k')
            next(forward, "marker", of_kind([](Kind kind) { return kind == Kind::kMarker; }),
                 &Ended::Events::markers);
        else
            next(forward, "event", of_kind([](Kind kind) { return kind != Kind::kDefine; }),
                 &Ended::Events::all);
    }

    void select(int by) const {
        const TaskId last = std::max(session.source().facts().tasks - 1, 0);
        look.selected = std::clamp(look.selected + by, 0, last);
        const int fit = std::max(main_chart().rows, 1);
        look.top = std::clamp(look.top, std::max(look.selected - fit + 1, 0), look.selected);
    }
    // The chart of the first view with rows of tasks; if there is none, as if it were the first
    // view.
    Chart main_chart() const {
        const auto panes = panes_of(look, size);
        const auto places = places_of(panes, size);
        std::size_t wanted = 0;
        for (std::size_t i = 0; i < places.size(); ++i)
            if (panes[i] == ViewKind::kTimeline || panes[i] == ViewKind::kStream) {
                wanted = i;
                break;
            }
        if (places.empty()) return {};
        return place_of_chart({places[wanted].columns, places[wanted].lines}, look,
                              session.source().facts().tasks);
    }
    void select_rows(int rows) const { select(rows * std::max(main_chart().group, 1)); }
    // Switches to the next kind of sums, cyclically.
    void next_sums() const {
        look.sums = look.sums == ViewState::Sums::kSoFar    ? ViewState::Sums::kWindow
                    : look.sums == ViewState::Sums::kWindow ? ViewState::Sums::kNow
                                                            : ViewState::Sums::kSoFar;
        look.notice = fmt::format("sums {}", sums_words(look));
    }

    void next_flame_task() const {
        const bool all = look.flame_tasks.empty();
        look.flame_tasks.clear();
        if (all) look.flame_tasks.insert(look.selected);
        look.notice = all ? fmt::format("samples of task {}", look.selected)
                          : std::string("samples of all tasks");
    }
    void next_flame_state() const {
        const std::size_t next =
            look.flame_state ? (static_cast<std::size_t>(*look.flame_state) + 1) % kStates : 1;
        look.flame_state.reset();
        if (next != 0) look.flame_state = static_cast<State>(next);
        look.notice = next == 0 ? std::string("samples of all states")
                                : fmt::format("samples while {}", state_word(*look.flame_state));
    }
    // The regions of the program in the order of their names, and then any.
    void next_flame_phase() const {
        std::set<std::string> names;
        for (const Region& region : session.definitions().regions())
            if (region.of_user && region.name != "computing") names.insert(region.name);
        const auto next = names.upper_bound(look.flame_phase);
        look.flame_phase = next == names.end() ? std::string() : *next;
        look.notice = look.flame_phase.empty() ? std::string("samples of all phases")
                                               : "samples in " + look.flame_phase;
    }

    void search(bool forward) const {
        const Result<Search> wanted = Search::parse(look.search);
        if (!wanted) {
            look.notice = wanted.error().str();
            return;
        }
        const auto hit = wanted.value().find(session, look.now, forward);
        if (!hit) {
            look.notice =
                fmt::format("nothing {} this is \"{}\"", forward ? "after" : "before", look.search);
            return;
        }
        look.direction = 0;
        select(hit->task - look.selected);
        go(hit->at);
    }

    void end_prompt() const {
        const ViewState::Prompt prompt = look.prompt;
        look.prompt = ViewState::Prompt::kNone;
        if (prompt == ViewState::Prompt::kSearch) {
            if (!look.typed.empty()) look.search = look.typed;  // otherwise repeat the last search
            return search(true);
        }
        const Stretch whole = session.whole();
        if (const auto time = read_time(look.typed, whole.from, whole.to))
            go(*time);
        else
            look.notice = "\"" + look.typed + "\" is no time: 1.5s, 300ms, 2:05 or 40%";
    }

    void nearest_mark(bool forward) const {
        std::optional<Time> best;
        for (const Time mark : look.marks) {
            const bool side = forward ? mark > look.now : mark < look.now;
            if (side && (!best || (forward ? mark < *best : mark > *best))) best = mark;
        }
        if (best)
            go(*best);
        else
            look.notice = "there is no mark; p puts one";
    }
};

Command type(const Press& now, const Key& key) {
    ViewState& look = now.look;
    if (key.kind == KeyKind::kEscape) {
        look.prompt = ViewState::Prompt::kNone;
    } else if (key.kind == KeyKind::kEnter) {
        now.end_prompt();
    } else if (key.kind == KeyKind::kBackspace) {
        while (!look.typed.empty() &&
               (static_cast<unsigned char>(look.typed.back()) & 0xc0u) == 0x80u)
            look.typed.pop_back();
        if (!look.typed.empty()) look.typed.pop_back();
    } else if (key.kind == KeyKind::kCharacter && key.character >= ' ' &&
               look.typed.size() < kLongestInput) {
        terminal::append_utf8(look.typed, key.character);
    }
    return Command::kNone;
}

void choose_view(ViewState& look, char32_t key, terminal::Size size) {
    if (key >= '1' && key < '1' + kViewGroups.size()) {
        look.panes.clear();
        for (const ViewName& view : view_names())
            if (view.group == kViewGroups[key - '1']) look.panes.push_back(view.kind);
    }
    for (const ViewName& view : view_names()) {
        const auto small = static_cast<char32_t>(view.key);
        if (key == small) look.panes = {view.kind};
        if (key != small - 32) continue;
        look.panes = panes_of(look, size);
        const auto known = std::find(look.panes.begin(), look.panes.end(), view.kind);
        if (known == look.panes.end())
            look.panes.push_back(view.kind);
        else if (look.panes.size() > 1)
            look.panes.erase(known);
        return;  // the menu stays open for more choices
    }
    look.sheet = ViewState::Sheet::kPanes;
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

template <bool kForward, char kKind>
Command next_of(const Press& now) {
    now.next_of(kForward, kKind);
    return Command::kNone;
}

void set_speed(ViewState& look, int speed) {
    look.speed = std::clamp(speed, kSlowest, kFastest);
    look.notice = "speed " + speed_words(look.speed);
}

void begin_prompt(ViewState& look, ViewState::Prompt prompt) {
    look.prompt = prompt;
    look.typed.clear();
}

constexpr Binding kBindings[] = {
    {U" ", done<[](const Press& now) {
         now.look.direction = now.look.direction == 0 ? 1 : 0;
         if (now.look.direction == 1 && now.look.now >= now.session.whole().to)
             now.go(now.session.whole().from);
     }>,
     "space  r", "play and pause; play backwards"},
    {U"r", done<[](const Press& now) { now.look.direction = now.look.direction < 0 ? 1 : -1; }>, "",
     ""},
    {U"+}", done<[](const Press& now) { set_speed(now.look, now.look.speed + 1); }>,
     "+  -  =", "faster, slower, as it was (1/1000 to 1000 times)"},
    {U"-{", done<[](const Press& now) { set_speed(now.look, now.look.speed - 1); }>, "", ""},
    {U"=", done<[](const Press& now) {
         now.look.speed = 0;
         now.look.notice = "speed 1x";
     }>,
     "", ""},
    {U"", nullptr, "left  right", "a fiftieth of the window back or on"},
    {U".>", next_of<true, 'e'>, ".  ,", "the next event of the selected task; the one before"},
    {U",<", next_of<false, 'e'>, "", ""},
    {U"m", next_of<true, 'm'>, "m  M", "the next message of it; the one before"},
    {U"M", next_of<false, 'm'>, "", ""},
    {U"c", next_of<true, 'c'>, "c  C", "the next collective call; the one before"},
    {U"C", next_of<false, 'c'>, "", ""},
    {U"k", next_of<true, 'k'>, "k  K", "the next marker; the one before"},
    {U"K", next_of<false, 'k'>, "", ""},
    {U"g", done<[](const Press& now) { now.go(now.session.whole().from); }>, "g  G  Home  End",
     "the begin; the end"},
    {U"G", done<[](const Press& now) { now.go(now.session.whole().to); }>, "", ""},
    {U"j:%", done<[](const Press& now) { begin_prompt(now.look, ViewState::Prompt::kJump); }>, "j",
     "go to a time or a share: 1.5s, 300ms, 2:05, 40%"},
    {U"p", done<[](const Press& now) {
         now.look.marks.push_back(now.look.now);
         now.look.notice = fmt::format("mark {} put here", now.look.marks.size());
     }>,
     "p  ]  [", "put a mark; go to the next, to the one before"},
    {U"]", done<[](const Press& now) { now.nearest_mark(true); }>, "", ""},
    {U"[", done<[](const Press& now) { now.nearest_mark(false); }>, "", ""},
    {U"a", done<[](const Press& now) {
         now.look.loop_from = now.look.now;
         now.look.notice = "a loop begins here; b ends it";
     }>,
     "a  b  x", "a loop begins here, ends here; no loop"},
    {U"b", done<[](const Press& now) {
         now.look.loop_to = now.look.now;
         now.look.notice = "a loop ends here; x takes it away";
     }>,
     "", ""},
    {U"x", done<[](const Press& now) {
         now.look.loop_from.reset();
         now.look.loop_to.reset();
     }>,
     "", ""},
    {U"/", done<[](const Press& now) { begin_prompt(now.look, ViewState::Prompt::kSearch); }>,
     "/  n  N", "search; again; backwards"},
    {U"n", done<[](const Press& now) { now.search(true); }>, "", ""},
    {U"N", done<[](const Press& now) { now.search(false); }>, "", ""},
    {U"", nullptr, "", "call=brecv dur>1ms  msg 3->7 bytes>1M  msg 3<>7  marker"},
    {U"z", done<[](const Press& now) { zoom(now.look, now.session.whole(), 0.5); }>, "z  Z  w",
     "half of the window, twice of it, all of the trace"},
    {U"Z", done<[](const Press& now) { zoom(now.look, now.session.whole(), 2); }>, "", ""},
    {U"w", done<[](const Press& now) { now.look.window = now.session.whole(); }>, "", ""},
    {U"e", done<[](const Press& now) {
         now.look.each = !now.look.each;
         now.look.notice =
             now.look.each ? "a row for each task" : "as many tasks to a row as have to";
         now.select(0);
     }>,
     "up  down  Page  e", "select a task; a row for each task, or for several"},
    {U"v", done<[](const Press& now) { now.look.sheet = ViewState::Sheet::kMenu; }>, "v",
     "the menu of views, one or several side by side"},
    {U"", nullptr, "Enter  Escape", "the time line with the source line; the views as at first"},
    {U"l", done<[](const Press& now) { now.look.lines = !now.look.lines; }>, "l  t  y",
     "messages; which sums: so far, window, now; bytes or counts"},
    {U"t", done<[](const Press& now) { now.next_sums(); }>, "", ""},
    {U"y", done<[](const Press& now) {
         now.look.count = !now.look.count;
         now.look.notice = now.look.count ? "messages are counted" : "bytes are counted";
     }>,
     "", ""},
    {U"f", done<[](const Press& now) { now.next_flame_task(); }>, "f  s  i  o",
     "flame: all tasks or the selected one; state; phase; asleep"},
    {U"s", done<[](const Press& now) { now.next_flame_state(); }>, "", ""},
    {U"i", done<[](const Press& now) { now.next_flame_phase(); }>, "", ""},
    {U"o", done<[](const Press& now) {
         now.look.flame_waiting = !now.look.flame_waiting;
         now.look.notice = now.look.flame_waiting ? "samples of threads that sleep"
                                                  : "samples of threads that run";
     }>,
     "", ""},
    {U"", nullptr, "click", "selects a task, goes to a moment, tells or finds messages"},
    {U"qQ\x03", leave<Command::kQuit>, "q  ^L  ^Z", "quit; draw again; suspend"},
    {U"\x0c", leave<Command::kRepaint>, "", ""},
    {U"\x1a", leave<Command::kSuspend>, "", ""},
    {U"?h", done<[](const Press& now) {
         now.look.sheet = ViewState::Sheet::kHelp;
         now.look.sheet_top = 0;
     }>,
     "?", "this help"},
};

Command press_character(const Press& now, char32_t character) {
    for (const Binding& binding : kBindings)
        if (binding.characters.find(character) != std::u32string_view::npos)
            return binding.act(now);
    return Command::kNone;
}

Command press_sheet(const Press& now, const Key& key) {
    ViewState& look = now.look;
    const bool help = look.sheet == ViewState::Sheet::kHelp;
    if (key.kind == KeyKind::kCharacter &&
        (key.character == 3 || key.character == 12 || key.character == 26))
        return press_character(now, key.character);
    if (key.kind == KeyKind::kDown || key.kind == KeyKind::kWheelDown)
        look.sheet_top = std::min(look.sheet_top + 1, control_help().size() - 1);
    else if (key.kind == KeyKind::kUp || key.kind == KeyKind::kWheelUp)
        look.sheet_top -= look.sheet_top > 0 ? 1 : 0;
    else if (!help && key.kind == KeyKind::kCharacter)
        choose_view(look, key.character, now.size);
    else
        look.sheet = ViewState::Sheet::kPanes;
    return Command::kNone;
}

}  // namespace

Command press(ViewState& look, const Key& key, Session& session, terminal::Size size) {
    const Press now{look, session, size};
    look.notice.clear();
    if (look.prompt != ViewState::Prompt::kNone) return type(now, key);
    if (look.sheet != ViewState::Sheet::kPanes) return press_sheet(now, key);
    switch (key.kind) {
        case KeyKind::kCharacter:
            return press_character(now, key.character);
        case KeyKind::kLeft:
            now.step(-1);
            break;
        case KeyKind::kRight:
            now.step(1);
            break;
        case KeyKind::kUp:
        case KeyKind::kWheelUp:
            now.select_rows(-1);
            break;
        case KeyKind::kDown:
        case KeyKind::kWheelDown:
            now.select_rows(1);
            break;
        case KeyKind::kPageUp:
            now.select_rows(-std::max(now.main_chart().rows, 1));
            break;
        case KeyKind::kPageDown:
            now.select_rows(std::max(now.main_chart().rows, 1));
            break;
        case KeyKind::kHome:
            now.go(session.whole().from);
            break;
        case KeyKind::kEnd:
            now.go(session.whole().to);
            break;
        case KeyKind::kClick:
            click(look, session, size, key.line, key.column);
            break;
        case KeyKind::kBackspace:
            return press_character(now, '=');
        case KeyKind::kEnter:
            look.panes = {ViewKind::kTimeline, ViewKind::kSource};
            break;
        case KeyKind::kEscape:
            look.panes.clear();
            break;
        default:
            break;
    }
    return Command::kNone;
}

const std::vector<markers::KeyHelp>& control_help() {
    static const std::vector<markers::KeyHelp> help = [] {
        std::vector<markers::KeyHelp> rows;
        for (const Binding& binding : kBindings)
            if (!binding.what.empty()) rows.push_back({binding.shown, binding.what});
        return rows;
    }();
    return help;
}

}  // namespace poe::trace
