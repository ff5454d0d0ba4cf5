// Views of what vt -summary says of the whole trace: wait states, root causes, the critical path,
// efficiencies.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/suggest.hpp"
#include "tracer/analysis/trace_words.hpp"
#include "tracer/playback/view_parts.hpp"

namespace poe::trace {

using terminal::Grid;
using terminal::kDim;
using terminal::kStrong;

namespace {

// Draws the first line. Returns false, after saying why, if there is nothing to show.
bool begin(Grid& grid, const Diagnosis& diagnosis, bool has_rows, const char* nothing) {
    constexpr int kAfterName = 14;
    grid.put(0, kAfterName, "of the whole trace", kDim);
    if (diagnosis.too_long)
        grid.put(1, 1, "the trace has too many calls to keep them all in memory", kDim);
    else if (!has_rows)
        grid.put(1, 1, nothing, kDim);
    return !diagnosis.too_long && has_rows;
}

std::string percent(double part, double whole) {
    return percent_words(whole > 0 ? part / whole : 0);
}
std::string percent(Time part, Time whole) {
    return percent(seconds_of(part), seconds_of(whole));
}

// One of the four sums of all wait states together, as rows of a table. `words_of` names a row.
int draw_sums(Grid& grid, const Diagnosis& diagnosis, int line, const char* title,
              std::vector<NamedWaits> WaitState::*rows, auto words_of) {
    struct Row {
        const WaitState* state;
        const NamedWaits* sum;
    };
    std::vector<Row> all;
    for (const WaitState& state : diagnosis.waits)
        for (const NamedWaits& sum : state.*rows)
            if (!words_of(sum).empty()) all.push_back({&state, &sum});
    if (all.empty() || line >= grid.size().lines) return line;
    std::stable_sort(all.begin(), all.end(),
                     [](const Row& a, const Row& b) { return a.sum->sum.time > b.sum->sum.time; });
    grid.put(line++, 1, title, kDim);
    constexpr std::size_t kRows = 8;
    for (std::size_t i = 0; i < std::min(all.size(), kRows); ++i) {
        const WaitTotal& sum = all[i].sum->sum;
        grid.put(line++, 1,
                 fmt::format("{:<16} {:>7} {:>10}  {}", pattern_word(all[i].state->pattern),
                             amount_words(static_cast<double>(sum.count)), span_words(sum.time),
                             words_of(*all[i].sum)));
    }
    return line + 1;
}

std::string site_words(const NamedWaits& row) {
    return row.line.empty() ? row.name : row.name + " from " + row.line;
}
std::string name_words(const NamedWaits& row) {
    return row.name == "no communicator" ? std::string() : row.name;
}

// Marks, in the row of each task, when the path was on it. Returns the line after the chart.
int draw_path_chart(Grid& grid, const ViewState& look, const ViewContext& easel,
                    const Diagnosis& diagnosis, int lines) {
    const int tasks = easel.session.source().facts().tasks;
    Chart chart = place_of_chart({grid.size().columns, lines}, look, tasks);
    if (chart.columns <= 0 || chart.rows <= 0) return 1;
    draw_labels(grid, look, easel, chart);
    for (int row = 0; row < chart.rows; ++row)
        for (int column = 0; column < chart.columns; ++column)
            grid.put(chart.line_of(row), chart.left + column, easel.glyphs.unicode() ? U'·' : U'.',
                     kDim);
    for (const PathPart& part : diagnosis.path) {
        const auto row = chart.row_of(part.task);
        if (!row || part.to < chart.window.from || part.from > chart.window.to) continue;
        const int first = std::max(chart.column(part.from), 0);
        const int last = std::min(chart.column(part.to), chart.columns - 1);
        for (int column = first; column <= last; ++column)
            grid.put(chart.line_of(*row), chart.left + column, easel.glyphs.unicode() ? U'█' : U'#',
                     style_of(State::kComputing));
    }
    return chart.top + chart.lines() + 1;
}

}  // namespace

void draw_wait_states(Grid& grid, const ViewState&, const ViewContext& easel) {
    const Diagnosis& diagnosis = easel.analysis().diagnosis;
    if (!begin(grid, diagnosis, !diagnosis.waits.empty(), "no task waited for another one")) return;
    int line = 1;
    grid.put(line++, 1, fmt::format("{:<16} {:>7} {:>10} {:>7}", "STATE", "COUNT", "TIME", "SHARE"),
             kDim);
    for (const WaitState& state : diagnosis.waits)
        grid.put(
            line++, 1,
            fmt::format("{:<16} {:>7} {:>10} {:>7}", pattern_word(state.pattern),
                        amount_words(static_cast<double>(state.all.count)),
                        span_words(state.all.time), percent(state.all.time, diagnosis.traced)));
    ++line;
    line = draw_sums(grid, diagnosis, line, "BY CALL", &WaitState::by_site, site_words);
    line = draw_sums(grid, diagnosis, line, "BY TASK", &WaitState::by_task, name_words);
    line = draw_sums(grid, diagnosis, line, "BY PHASE", &WaitState::by_phase, name_words);
    line = draw_sums(grid, diagnosis, line, "BY COMMUNICATOR", &WaitState::by_communicator,
                     name_words);
    tell_rest(grid, line - 1);
}

void draw_causes(Grid& grid, const ViewState&, const ViewContext& easel) {
    const Diagnosis& diagnosis = easel.analysis().diagnosis;
    if (!begin(grid, diagnosis, !diagnosis.causes.empty(), "no task waited for another one"))
        return;
    const double waited = 1e9 * seconds_of(diagnosis.waited());
    int line = 1;
    grid.put(line++, 1, fmt::format("{:>10} {:>7} {:>9}  {}", "COST", "SHARE", "INDIRECT", "CAUSE"),
             kDim);
    for (const NamedCause& row : diagnosis.causes) {
        const Time cost(std::llround(row.cause.cost()));
        grid.put(line++, 1,
                 fmt::format(
                     "{:>10} {:>7} {:>9}  {}", span_words(cost), percent(row.cause.cost(), waited),
                     percent(row.cause.long_term, row.cause.cost()), activity_words(row.activity)));
        grid.put(line++, 33, victims_words(row.cause) + " waited", kDim);
    }
    tell_rest(grid, line);
}

void draw_path(Grid& grid, const ViewState& look, const ViewContext& easel) {
    const Diagnosis& diagnosis = easel.analysis().diagnosis;
    if (!begin(grid, diagnosis, !diagnosis.path.empty(), "no task has recorded anything")) return;
    const Time whole = diagnosis.path_length();
    grid.put(0, 14,
             fmt::format("{} in {}", span_words(whole), count_words(diagnosis.path.size(), "part")),
             kDim);
    const int lines = grid.size().lines;
    int line = draw_path_chart(grid, look, easel, diagnosis, lines / 2 + 1);
    grid.put(line++, 1, fmt::format("{:>10} {:>7}  {}", "TIME", "SHARE", "ON THE PATH"), kDim);
    for (const NamedShare& share : diagnosis.path_shares)
        grid.put(line++, 1,
                 fmt::format("{:>10} {:>7}  {}", span_words(share.time), percent(share.time, whole),
                             activity_words(share.activity)));
    tell_rest(grid, line);
}

void draw_efficiency(Grid& grid, const ViewState&, const ViewContext& easel) {
    const Diagnosis& diagnosis = easel.analysis().diagnosis;
    const bool computes = diagnosis.job.efficiency.max_computing > Time{0};
    if (!begin(grid, diagnosis, computes, "no task has computed")) return;
    int line = 1;
    grid.put(line++, 1,
             fmt::format("{:<16} {:>8} = {:>7} x {:>6} x {:>8} {:>10} {:>10}", "PHASE", "PARALLEL",
                         "BALANCE", "SERIAL", "TRANSFER", "ELAPSED", "IDEAL"),
             kDim);
    const auto row = [&](const std::string& name, const Efficiency& each, terminal::Style style) {
        grid.put(line++, 1,
                 fmt::format("{:<16} {:>8}   {:>7}   {:>6}   {:>8} {:>10} {:>10}", name,
                             percent_words(each.parallel()), percent_words(each.load_balance()),
                             percent_words(each.serialisation()), percent_words(each.transfer()),
                             span_words(each.elapsed), span_words(each.ideal)),
                 style);
    };
    row("job", diagnosis.job.efficiency, kStrong);
    for (const NamedEfficiency& phase : diagnosis.phases)
        row(phase.phase.empty() ? "(no phase)" : phase.phase, phase.efficiency, {});
    tell_rest(grid, line);
}

}  // namespace poe::trace
