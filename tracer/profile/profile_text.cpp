// Text and JSON of profile_sums.hpp.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tracer/analysis/trace_words.hpp"
#include "tracer/profile/profile_sums.hpp"

namespace poe::trace {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kFunctionsShown = 12;
constexpr std::size_t kLinesShown = 6;

double share(double part, double whole) {
    return whole > 0 ? part / whole : 0;
}

Time whole_time(const StackProfile& profile) {
    Time whole{0};
    for (std::size_t state = 1; state < kStates; ++state) whole += profile.spent[state];
    return whole;
}

std::string samples_part(const StackProfile& profile, const ProfileSums& sums) {
    const double rate = 1 / seconds_of(profile.period);
    const double cost = share(seconds_of(profile.cost), seconds_of(whole_time(profile)));
    std::string out = fmt::format(
        "\nSAMPLES: {} of threads that ran, {} of threads that slept\n"
        "  {:.0f} per second of each thread; {} lost; taking them cost {} of the tasks' time\n",
        things_words(sums.samples, "stack"), amount_words(static_cast<double>(sums.waiting)), rate,
        profile.lost, percent_words(cost));
    if (profile.left_out > 0)
        out +=
            fmt::format("  {} more did not fit into memory and are left out\n", profile.left_out);
    if (sums.cut > 0)
        out += fmt::format("  {} stacks are incomplete: their outermost functions are not known\n",
                           sums.cut);
    if (profile.by_signals)
        out +=
            "  The kernel has allowed no perf events, so a timer signal took the stacks (man "
            "pmd-sample).\n";
    if (profile.without_kernel)
        out +=
            "  The kernel has allowed no samples in system calls (kernel.perf_event_paranoid is "
            "2).\n";
    if (profile.without_sleepers)
        out +=
            "  The kernel has allowed no samples of sleeping threads (kernel.yama.ptrace_scope is "
            "not 0).\n";
    if (sums.functions.empty()) return out;
    out += "     SELF    TOTAL  FUNCTION\n";
    const auto all = static_cast<double>(sums.samples);
    for (std::size_t i = 0; i < std::min(sums.functions.size(), kFunctionsShown); ++i) {
        const FunctionSum& each = sums.functions[i];
        out += fmt::format("  {:>7}  {:>7}  {}\n",
                           percent_words(share(static_cast<double>(each.self), all)),
                           percent_words(share(static_cast<double>(each.total), all)), each.name);
    }
    if (sums.functions.size() > kFunctionsShown)
        out += fmt::format("  and {} more functions; -json has all\n",
                           sums.functions.size() - kFunctionsShown);
    return out;
}

std::string lines_part(const StackProfile& profile, const ProfileSums& sums) {
    if (sums.lines.empty()) return "";
    const double whole = seconds_of(whole_time(profile));
    std::string out = "\nSOURCE LINES BY STATE\n";
    std::pair<State, bool> part{State::kOff, false};
    std::size_t shown = 0;
    for (const LineSum& line : sums.lines) {
        if (std::pair(line.state, line.waiting) != part) {
            part = {line.state, line.waiting};
            shown = 0;
            out += fmt::format("  {}{}\n", state_word(line.state),
                               line.waiting ? ", threads that slept outside of calls" : "");
        }
        if (++shown > kLinesShown) continue;
        out +=
            fmt::format("  {:>7}  {:>10}  {}\n", percent_words(share(seconds_of(line.time), whole)),
                        span_words(line.time), line.line);
    }
    return out;
}

std::string rate_words(double rate) {
    return amount_words(rate) + "/s";
}

std::string counters_part(const StackProfile& profile) {
    if (profile.counters.empty() && (!profile.without_counters || profile.by_signals)) return "";
    std::string out = "\nCOUNTERS BY STATE, per second of a task\n";
    if (profile.without_counters && !profile.by_signals)
        out +=
            "  This computer offers no hardware counters (cycles, instructions, cache misses).\n";
    if (profile.counters.empty()) return out;
    out += "  STATE       ";
    for (const auto& [metric, sums] : profile.counters)
        out += fmt::format(" {:>16}", metric_word(static_cast<std::size_t>(metric)));
    out += "\n";
    for (std::size_t state = 1; state < kStates; ++state) {
        std::string row;
        bool any = false;
        for (const auto& [metric, sums] : profile.counters) {
            const double rate = share(sums.counts[state], seconds_of(sums.times[state]));
            any = any || sums.counts[state] > 0;
            row += fmt::format(" {:>16}", metric == Metric::kTaskClock ? percent_words(rate * 1e-9)
                                                                       : rate_words(rate));
        }
        if (any) out += fmt::format("  {:<12}{}\n", state_word(static_cast<State>(state)), row);
    }
    return out;
}

}  // namespace

std::string profile_text(const StackProfile& profile, const ProfileSums& sums) {
    if (!profile.sampled()) return "";
    return samples_part(profile, sums) + lines_part(profile, sums) + counters_part(profile);
}

nlohmann::json profile_json(const StackProfile& profile, const ProfileSums& sums) {
    Json json = Json::object();
    if (!profile.sampled()) return json;
    json["samples"] = {{"count", sums.samples},
                       {"waiting", sums.waiting},
                       {"sleepers_seen", !profile.without_sleepers},
                       {"period_seconds", seconds_of(profile.period)},
                       {"lost", profile.lost},
                       {"left_out", profile.left_out},
                       {"cut", sums.cut},
                       {"in_kernel", sums.in_kernel},
                       {"system_calls_seen", !profile.without_kernel},
                       {"by_signals", profile.by_signals},
                       {"sampler_seconds", seconds_of(profile.cost)}};
    json["functions"] = Json::array();
    for (const FunctionSum& each : sums.functions)
        json["functions"].push_back(
            {{"name", each.name}, {"self", each.self}, {"total", each.total}});
    json["lines"] = Json::array();
    for (const LineSum& line : sums.lines)
        json["lines"].push_back({{"state", state_word(line.state)},
                                 {"slept", line.waiting},
                                 {"line", line.line},
                                 {"seconds", seconds_of(line.time)}});
    json["stacks"] = Json::array();
    for (const StackSum& each : sums.stacks)
        json["stacks"].push_back({{"task", each.task},
                                  {"phase", each.phase.empty() ? Json() : Json(each.phase)},
                                  {"slept", each.waiting},
                                  {"functions", each.functions},
                                  {"samples", each.samples}});
    json["hardware_counters"] = !profile.without_counters;
    json["counters"] = Json::object();
    for (const auto& [metric, sum] : profile.counters) {
        Json states = Json::object();
        for (std::size_t state = 0; state < kStates; ++state)
            if (sum.counts[state] > 0)
                states[std::string(state_word(static_cast<State>(state)))] = {
                    {"count", sum.counts[state]}, {"seconds", seconds_of(sum.times[state])}};
        json["counters"][std::string(metric_word(static_cast<std::size_t>(metric)))] = states;
    }
    return json;
}

}  // namespace poe::trace
