// Formats a Diagnosis as sections of text and as JSON.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/suggest.hpp"
#include "terminal/words.hpp"
#include "tracer/analysis/trace_words.hpp"
#include "tracer/diagnosis/diagnosis.hpp"

namespace poe::trace {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kRowsOfText = 10;
constexpr std::size_t kRowsOfJson = 1000;

double share_of(Time part, Time whole) {
    return whole <= Time{0} ? 0 : seconds_of(part) / seconds_of(whole);
}

Time time_of(double ns) {
    return Time(static_cast<Time::rep>(ns + 0.5));
}

// Returns how many rows of a list, which is sorted by size, are worth a line: those of at least one
// percent, and not more than kRowsOfText.
template <typename Rows, typename TimeOf>
std::size_t rows_shown(const Rows& rows, Time whole, TimeOf time_of) {
    std::size_t shown = 0;
    while (shown < std::min(rows.size(), kRowsOfText) &&
           (shown == 0 || share_of(time_of(rows[shown]), whole) >= 0.01))
        ++shown;
    return shown;
}

std::string and_more(std::size_t rows, std::size_t shown) {
    if (rows == shown) return "";
    return rows == shown + 1 ? "  and a smaller one\n"
                             : fmt::format("  and {} smaller ones\n", rows - shown);
}

std::string waits_part(const Diagnosis& diagnosis) {
    if (diagnosis.waits.empty()) return "";
    std::string out = "\nWAIT STATES        COUNT       TIME   SHARE  MOST OF IT\n";
    for (const WaitState& state : diagnosis.waits) {
        std::string most = fmt::format("task {} in {}", state.most.task, state.most.call);
        if (!state.most.line.empty()) most += " from " + state.most.line;
        if (state.most.communicator != "no communicator") most += ", " + state.most.communicator;
        if (!state.most.phase.empty()) most += ", phase " + state.most.phase;
        out += fmt::format("  {:<15} {:>6} {:>10} {:>7}  {}\n", pattern_word(state.pattern),
                           amount_words(static_cast<double>(state.all.count)),
                           span_words(state.all.time),
                           percent_words(share_of(state.all.time, diagnosis.traced)), most);
    }
    return out;
}

std::string causes_part(const Diagnosis& diagnosis) {
    if (diagnosis.causes.empty()) return "";
    std::string out = "\nROOT CAUSES OF WAITS\n";
    const std::size_t shown = rows_shown(diagnosis.causes, diagnosis.waited(),
                                         [](const auto& row) { return time_of(row.cause.cost()); });
    for (std::size_t i = 0; i < shown; ++i) {
        const NamedCause& row = diagnosis.causes[i];
        const Time cost = time_of(row.cause.cost());
        const Time indirect = time_of(row.cause.long_term);
        out += fmt::format(
            "  {:>10} {:>7}  {}\n{:22}{} waited{}\n", span_words(cost),
            percent_words(share_of(cost, diagnosis.waited())), activity_words(row.activity), "",
            victims_words(row.cause),
            indirect > Time{0} ? ", " + span_words(indirect) + " of it indirectly" : "");
    }
    out += and_more(diagnosis.causes.size(), shown);
    if (diagnosis.causes_cut > Time{0})
        out += fmt::format(
            "  the search stopped after {} calls and computations: {} of the waits may have "
            "earlier "
            "causes\n",
            kMostLookedAt, span_words(diagnosis.causes_cut));
    return out;
}

std::string path_part(const Diagnosis& diagnosis) {
    if (diagnosis.path.empty()) return "";
    const Time whole = diagnosis.path_length();
    std::string out = fmt::format("\nCRITICAL PATH: {} in {}\n", span_words(whole),
                                  count_words(diagnosis.path.size(), "part"));
    std::string states;
    for (std::size_t state = 0; state < kStates; ++state)
        if (diagnosis.path_by_state[state] > Time{0})
            states += fmt::format("{}{} {}", states.empty() ? "" : ", ",
                                  state_word(static_cast<State>(state)),
                                  percent_words(share_of(diagnosis.path_by_state[state], whole)));
    out += "  " + states + "\n";
    const std::size_t shown =
        rows_shown(diagnosis.path_shares, whole, [](const auto& row) { return row.time; });
    for (std::size_t i = 0; i < shown; ++i) {
        const NamedShare& share = diagnosis.path_shares[i];
        out +=
            fmt::format("  {:>10} {:>7}  {}\n", span_words(share.time),
                        percent_words(share_of(share.time, whole)), activity_words(share.activity));
    }
    out += and_more(diagnosis.path_shares.size(), shown);
    for (const NamedImbalance& row : diagnosis.imbalances) {
        if (share_of(row.imbalance.excess(), whole) < 0.01) break;
        if (row.imbalance.state != State::kComputing) continue;
        out += fmt::format("  a better balance of {} could save up to {} of the path\n", row.what,
                           span_words(row.imbalance.excess()));
    }
    return out;
}

std::string efficiency_part(const Diagnosis& diagnosis) {
    if (diagnosis.job.efficiency.max_computing <= Time{0}) return "";
    std::string out =
        "\nEFFICIENCY        PARALLEL =  BALANCE x  SERIAL x TRANSFER     ELAPSED  IDEAL NETWORK\n";
    const auto line = [&out](const std::string& name, const Efficiency& row) {
        out += fmt::format("  {:<16} {:>7}    {:>7}   {:>6}   {:>7}  {:>10}     {:>10}\n", name,
                           percent_words(row.parallel()), percent_words(row.load_balance()),
                           percent_words(row.serialisation()), percent_words(row.transfer()),
                           span_words(row.elapsed), span_words(row.ideal));
    };
    line("job", diagnosis.job.efficiency);
    const std::size_t shown = rows_shown(diagnosis.phases, diagnosis.job.efficiency.elapsed,
                                         [](const auto& row) { return row.efficiency.elapsed; });
    for (std::size_t i = 0; i < shown; ++i) {
        const NamedEfficiency& phase = diagnosis.phases[i];
        line(phase.phase.empty() ? "(no phase)" : phase.phase, phase.efficiency);
    }
    return out + and_more(diagnosis.phases.size(), shown);
}

Json rows_json(const std::vector<NamedWaits>& rows) {
    Json json = Json::array();
    for (std::size_t i = 0; i < std::min(rows.size(), kRowsOfJson); ++i) {
        const NamedWaits& row = rows[i];
        json.push_back(
            {{"name", row.name}, {"count", row.sum.count}, {"seconds", seconds_of(row.sum.time)}});
        if (row.task >= 0) json.back()["task"] = row.task;
        if (!row.line.empty()) json.back()["line"] = row.line;
    }
    return json;
}

Json activity_json(const NamedActivity& activity) {
    return {{"task", activity.task},           {"state", state_word(activity.state)},
            {"region", activity.region},       {"line", activity.line},
            {"next_call", activity.next_call}, {"phase", activity.phase}};
}

Json cause_json(const NamedCause& row) {
    Json json = activity_json(row.activity);
    json["seconds"] = row.cause.cost() / 1e9;
    json["direct_seconds"] = row.cause.short_term / 1e9;
    json["indirect_seconds"] = row.cause.long_term / 1e9;
    json["more_victims"] = row.cause.more_victims;
    json["victims"] = Json::array();
    for (const Cause::Victim& victim : row.cause.victims)
        json["victims"].push_back({{"task", victim.task}, {"seconds", victim.time / 1e9}});
    return json;
}

Json efficiency_json(const NamedEfficiency& row) {
    const Efficiency& efficiency = row.efficiency;
    return {{"phase", row.phase},
            {"tasks", efficiency.tasks},
            {"parallel_efficiency", efficiency.parallel()},
            {"load_balance", efficiency.load_balance()},
            {"communication_efficiency", efficiency.communication()},
            {"serialisation", efficiency.serialisation()},
            {"transfer", efficiency.transfer()},
            {"mean_computing_seconds", efficiency.mean_computing / 1e9},
            {"max_computing_seconds", seconds_of(efficiency.max_computing)},
            {"elapsed_seconds", seconds_of(efficiency.elapsed)},
            {"ideal_seconds", seconds_of(efficiency.ideal)}};
}

Json path_json(const Diagnosis& diagnosis) {
    Json json{{"seconds", seconds_of(diagnosis.path_length())},
              {"parts", Json::array()},
              {"part_count", diagnosis.path.size()},
              {"by_task", Json::array()},
              {"by_state", Json::object()},
              {"shares", Json::array()},
              {"imbalances", Json::array()}};
    for (std::size_t i = 0; i < std::min(diagnosis.path.size(), kRowsOfJson); ++i) {
        const PathPart& part = diagnosis.path[i];
        json["parts"].push_back({{"task", part.task},
                                 {"from", seconds_of(part.from)},
                                 {"seconds", seconds_of(part.to - part.from)}});
    }
    for (const Time time : diagnosis.path_by_task) json["by_task"].push_back(seconds_of(time));
    for (std::size_t state = 0; state < kStates; ++state)
        json["by_state"][std::string(state_word(static_cast<State>(state)))] =
            seconds_of(diagnosis.path_by_state[state]);
    for (std::size_t i = 0; i < std::min(diagnosis.path_shares.size(), kRowsOfJson); ++i) {
        json["shares"].push_back(activity_json(diagnosis.path_shares[i].activity));
        json["shares"].back()["seconds"] = seconds_of(diagnosis.path_shares[i].time);
    }
    for (const NamedImbalance& row : diagnosis.imbalances)
        json["imbalances"].push_back({{"what", row.what},
                                      {"on_path_seconds", seconds_of(row.imbalance.on_path)},
                                      {"mean_seconds", seconds_of(row.imbalance.mean)}});
    return json;
}

// Where most of the waiting comes from, in a sentence; empty if the tasks hardly wait.
std::string verdict(const Diagnosis& diagnosis) {
    constexpr double kWorthALine = 0.05;
    const double waited = share_of(diagnosis.waited(), diagnosis.traced);
    if (diagnosis.causes.empty() || waited < kWorthALine) return "";
    const NamedCause& first = diagnosis.causes.front();
    return fmt::format(
        "Tasks wait for others in {} of their time. The largest cause, {} of it:\n  {}\n",
        percent_words(waited),
        percent_words(share_of(time_of(first.cause.cost()), diagnosis.waited())),
        activity_words(first.activity));
}

std::string diagnosis_text(const Diagnosis& diagnosis) {
    if (diagnosis.too_long)
        return "\nWAIT STATES, ROOT CAUSES, CRITICAL PATH, EFFICIENCY\n  The trace has too many "
               "calls to "
               "keep them all in memory. Trace a part of the run, with VT_trc_start_c\n  and "
               "VT_trc_stop_c or MPI_Pcontrol, or fewer tasks.\n";
    return waits_part(diagnosis) + causes_part(diagnosis) + path_part(diagnosis) +
           efficiency_part(diagnosis);
}

Json diagnosis_json(const Diagnosis& diagnosis) {
    Json json{{"wait_states", Json::array()},
              {"root_causes", Json::array()},
              {"root_causes_cut_seconds", seconds_of(diagnosis.causes_cut)},
              {"critical_path", path_json(diagnosis)},
              {"efficiency", efficiency_json(diagnosis.job)},
              {"too_long_to_diagnose", diagnosis.too_long}};
    json["efficiency"].erase("phase");
    json["efficiency"]["phases"] = Json::array();
    for (const NamedEfficiency& phase : diagnosis.phases)
        json["efficiency"]["phases"].push_back(efficiency_json(phase));
    for (const WaitState& state : diagnosis.waits)
        json["wait_states"].push_back({{"name", pattern_word(state.pattern)},
                                       {"count", state.all.count},
                                       {"seconds", seconds_of(state.all.time)},
                                       {"by_task", rows_json(state.by_task)},
                                       {"by_site", rows_json(state.by_site)},
                                       {"by_communicator", rows_json(state.by_communicator)},
                                       {"by_phase", rows_json(state.by_phase)}});
    for (std::size_t i = 0; i < std::min(diagnosis.causes.size(), kRowsOfJson); ++i)
        json["root_causes"].push_back(cause_json(diagnosis.causes[i]));
    return json;
}

}  // namespace

std::string activity_words(const NamedActivity& activity) {
    std::string words = fmt::format("task {} {}", activity.task, activity.what);
    if (!activity.next_call.empty()) words += " before " + activity.next_call;
    if (!activity.line.empty())
        words += (activity.state != State::kComputing               ? " from "
                  : activity.next_call.empty()                      ? " before "
                  : activity.line.find(" at ") == std::string::npos ? " at "
                                                                    : " in ") +
                 activity.line;
    if (!activity.phase.empty() && activity.phase != activity.region)
        words += " in phase " + activity.phase;
    return words;
}

std::string victims_words(const Cause& cause) {
    constexpr std::size_t kShown = 6;
    std::string words = cause.victims.size() == 1 && !cause.more_victims ? "task" : "tasks";
    for (std::size_t i = 0; i < std::min(cause.victims.size(), kShown); ++i)
        words += fmt::format("{} {}", i == 0 ? "" : ",", cause.victims[i].task);
    if (cause.victims.size() > kShown || cause.more_victims) words += " and others";
    return words;
}

std::string analysis_text(const Analysis& analysis) {
    return summary_text(
        analysis.summary, verdict(analysis.diagnosis),
        profile_text(analysis.profile, analysis.profile_sums) + diagnosis_text(analysis.diagnosis));
}

std::string analysis_json(const Analysis& analysis) {
    Json more = diagnosis_json(analysis.diagnosis);
    more.update(profile_json(analysis.profile, analysis.profile_sums));
    return summary_json_with(analysis.summary, more);
}

}  // namespace poe::trace
