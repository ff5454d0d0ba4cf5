// Formats a Summary as text and as JSON.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/suggest.hpp"
#include "terminal/words.hpp"
#include "tracer/analysis/summary.hpp"
#include "tracer/analysis/trace_words.hpp"

namespace poe::trace {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kTasksShown = 16;

double share(Time part, Time whole) {
    return whole <= Time{0} ? 0 : seconds_of(part) / seconds_of(whole);
}

Time whole_of(const std::array<Time, kStates>& spent) {
    Time whole{0};
    for (std::size_t state = 1; state < kStates; ++state) whole += spent[state];
    return whole;
}

std::string head(const Summary& summary) {
    const TraceFacts& facts = summary.facts;
    return fmt::format("{}: {} on {}, {}, level {}, {}, {}\n",
                       facts.program.empty() ? "(unknown program)" : facts.program,
                       count_words(static_cast<std::size_t>(facts.tasks), "task"),
                       count_words(std::max<std::size_t>(facts.nodes.size(), 1), "node"),
                       span_words(summary.end - summary.begin), facts.level,
                       things_words(summary.records, "record"),
                       things_words(summary.messages, "message"));
}

std::string states_part(const Summary& summary) {
    const auto spent = summary.spent();
    const Time whole = whole_of(spent);
    std::string out = "\nTIME OF ALL TASKS\n";
    for (std::size_t state = 1; state < kStates; ++state) {
        if (spent[state] <= Time{0}) continue;
        out += fmt::format("  {:<12} {:>7}  {:>10}\n", state_word(static_cast<State>(state)),
                           percent_words(share(spent[state], whole)), span_words(spent[state]));
        if (static_cast<State>(state) != State::kComputing) continue;
        for (const RegionSum& region : summary.regions)
            out += fmt::format("    {:<10} {:>7}  {:>10}\n", region.name,
                               percent_words(share(region.time, whole)), span_words(region.time));
    }
    if (summary.calls.empty())
        out +=
            "  No calls were recorded, so a task that waits for others may look as if it "
            "computed.\n";
    else if (summary.tasks.size() > 1)
        out += fmt::format("  imbalance    {:>7}  task {} computes longest\n",
                           percent_words(summary.imbalance()), summary.busiest());
    return out;
}

std::string tasks_part(const Summary& summary) {
    std::string out =
        fmt::format("\nTASK   COMPUTE    SEND RECEIVE COLLECT   OTHER    POLL   SENT   BYTES\n");
    for (std::size_t id = 0; id < std::min(summary.tasks.size(), kTasksShown); ++id) {
        const TaskSum& task = summary.tasks[id];
        const Time whole = whole_of(task.spent);
        out += fmt::format("{:>4}  ", id);
        for (std::size_t state = 1; state < kStates; ++state)
            out += fmt::format(" {:>7}", percent_words(share(task.spent[state], whole)));
        const std::string name =
            id < summary.facts.names.size() ? summary.facts.names[id] : std::string();
        out += fmt::format(" {:>6} {:>7}{}\n", amount_words(static_cast<double>(task.sends)),
                           bytes_words(task.bytes_sent), name.empty() ? "" : "  " + name);
    }
    if (summary.tasks.size() > kTasksShown)
        out += fmt::format("      and {} more tasks; -json has all\n",
                           summary.tasks.size() - kTasksShown);
    return out;
}

std::string calls_part(const Summary& summary) {
    if (summary.calls.empty()) return "";
    const Time whole = whole_of(summary.spent());
    std::string out = "\nCALL                       COUNT    BYTES       TIME   SHARE    LONGEST\n";
    for (const CallSum& call : summary.calls)
        out += fmt::format("{:<24} {:>7} {:>8} {:>10} {:>7} {:>10}\n", call.name,
                           amount_words(static_cast<double>(call.calls)),
                           call.bytes > 0 ? bytes_words(call.bytes) : "", span_words(call.time),
                           percent_words(share(call.time, whole)), span_words(call.longest));
    return out;
}

std::string paths_part(const Summary& summary) {
    if (summary.paths.empty()) return "";
    std::string out =
        "\nCOLLECTIVE CALL            COUNT    BYTES       TIME  ROUNDS  CARRIED OUT BY\n";
    for (const PathSum& sum : summary.paths)
        out += fmt::format("{:<24} {:>7} {:>8} {:>10} {:>7}  {}\n", sum.call,
                           amount_words(static_cast<double>(sum.calls)),
                           sum.bytes > 0 ? bytes_words(sum.bytes) : "", span_words(sum.time),
                           sum.rounds > 0 ? std::to_string(sum.rounds) : "", sum.path);
    return out;
}

std::string waits_part(const Summary& summary) {
    const Time whole = whole_of(summary.spent());
    std::string out = "\nWAITING FOR OTHERS\n";
    for (const WaitSum& wait : summary.waits) {
        // Few programs lock windows.
        if (wait.why == Wait::Why::kLock && wait.count == 0) continue;
        out += fmt::format("  {:<14} {:>7} {:>10} {:>7}\n", why_word(wait.why),
                           amount_words(static_cast<double>(wait.count)), span_words(wait.time),
                           percent_words(share(wait.time, whole)));
    }
    if (!summary.blame.empty()) out += "  most of it:\n";
    for (std::size_t i = 0; i < std::min(summary.blame.size(), Summary::kTop); ++i) {
        const WaitSum& wait = summary.blame[i];
        out += fmt::format(
            "  task {} for task {}: {} in {} ({})\n", wait.task, wait.whom, span_words(wait.time),
            count_words(static_cast<std::size_t>(wait.count), "wait"), why_word(wait.why));
    }
    if (summary.stalls.empty()) return out;
    out += "\nLONGEST WAITS\n";
    const Time apart = (summary.end - summary.begin) / 10000;
    for (const Stall& stall : summary.stalls)
        out += fmt::format("  {:>10} at {}: task {} in {}{} for task {} ({})\n",
                           span_words(stall.to - stall.from), moment_words(stall.from, apart),
                           stall.task, stall.call, stall.line.empty() ? "" : " from " + stall.line,
                           stall.whom, why_word(stall.why));
    return out;
}

std::string messages_part(const Summary& summary) {
    if (summary.pairs.empty() && summary.inner_messages == 0) return "";
    std::string out = fmt::format("\nMESSAGES: {} of tasks; most bytes\n",
                                  count_words(summary.all_pairs, "pair"));
    if (summary.inner_messages > 0)
        out += fmt::format("  and within collective calls {}, {} bytes\n",
                           things_words(summary.inner_messages, "message"),
                           bytes_words(summary.inner_bytes));
    for (const PairSum& sum : summary.pairs)
        out += fmt::format("  {:>4} -> {:<4} {:>8} {:<8} {:>8} bytes\n", sum.from, sum.to,
                           amount_words(static_cast<double>(sum.count)),
                           sum.count == 1 ? "message" : "messages", bytes_words(sum.bytes));
    return out;
}

std::string clocks_part(const Summary& summary) {
    if (summary.clocks.empty()) return "";
    std::string out = "\nCLOCKS: times of a node are off by at most\n";
    for (std::size_t i = 0; i < std::min(summary.clocks.size(), Summary::kTop); ++i) {
        const ClockSum& clock = summary.clocks[i];
        out += fmt::format("  {:<24} {:>10}\n", clock.node,
                           clock.within ? span_words(*clock.within) : "not known");
    }
    if (summary.clocks.size() > Summary::kTop)
        out += fmt::format("  and {} more nodes\n", summary.clocks.size() - Summary::kTop);
    return out;
}

std::string ends_part(const Summary& summary) {
    std::string out;
    const Time apart = (summary.end - summary.begin) / 10000;
    if (!summary.unfinished.empty()) out += "\nCALLS THAT THE TRACE ENDS IN\n";
    for (std::size_t i = 0; i < std::min(summary.unfinished.size(), Summary::kTop); ++i) {
        const Unfinished& call = summary.unfinished[i];
        out += fmt::format("  task {} is in {}{}{} since {}\n", call.task, call.call,
                           call.peer < 0 ? "" : fmt::format(" with task {}", call.peer),
                           call.line.empty() ? "" : " from " + call.line,
                           moment_words(call.since, apart));
    }
    if (summary.unfinished.size() > Summary::kTop)
        out += fmt::format("  and {} more tasks\n", summary.unfinished.size() - Summary::kTop);
    std::string missing;
    const auto tell = [&missing](std::uint64_t count, const char* thing, const char* what) {
        const std::string all(thing);
        if (count > 0) missing += fmt::format("  {}: {}\n", count_words(count, all), what);
    };
    tell(summary.lost, "record", "missing");
    tell(summary.holes, "record", "not finished by the task that wrote it");
    tell(summary.implausible, "record", "damaged, and left out");
    tell(summary.unmatched, "message", "one of its two ends is missing");
    tell(summary.backwards, "message", "received before it was sent, because clocks differ");
    for (const std::string& problem : summary.problems) missing += "  " + problem + "\n";
    return missing.empty() ? out : out + "\nMISSING OR DAMAGED\n" + missing;
}

Json spent_json(const std::array<Time, kStates>& spent) {
    Json json = Json::object();
    for (std::size_t state = 0; state < kStates; ++state)
        json[std::string(state_word(static_cast<State>(state)))] = seconds_of(spent[state]);
    return json;
}

Json sums_json(const Summary& summary) {
    Json json{{"tasks", Json::array()},      {"calls", Json::array()}, {"pairs", Json::array()},
              {"waits", Json::array()},      {"blame", Json::array()}, {"stalls", Json::array()},
              {"unfinished", Json::array()}, {"clocks", Json::array()}};
    for (const ClockSum& clock : summary.clocks)
        json["clocks"].push_back(
            {{"node", clock.node},
             {"within_seconds", clock.within ? Json(seconds_of(*clock.within)) : Json()}});
    for (std::size_t id = 0; id < summary.tasks.size(); ++id) {
        const TaskSum& task = summary.tasks[id];
        const bool named = id < summary.facts.names.size() && !summary.facts.names[id].empty();
        json["tasks"].push_back({{"seconds", spent_json(task.spent)},
                                 {"sends", task.sends},
                                 {"receives", task.receives},
                                 {"collectives", task.collectives},
                                 {"bytes_sent", task.bytes_sent},
                                 {"bytes_received", task.bytes_received},
                                 {"device", summary.facts.is_device(static_cast<TaskId>(id))}});
        if (named) json["tasks"].back()["name"] = summary.facts.names[id];
    }
    for (const CallSum& call : summary.calls)
        json["calls"].push_back({{"name", call.name},
                                 {"state", state_word(call.state)},
                                 {"count", call.calls},
                                 {"bytes", call.bytes},
                                 {"seconds", seconds_of(call.time)},
                                 {"longest", seconds_of(call.longest)}});
    for (const PairSum& sum : summary.pairs)
        json["pairs"].push_back(
            {{"from", sum.from}, {"to", sum.to}, {"messages", sum.count}, {"bytes", sum.bytes}});
    for (const WaitSum& wait : summary.waits)
        json["waits"].push_back({{"why", why_word(wait.why)},
                                 {"count", wait.count},
                                 {"seconds", seconds_of(wait.time)}});
    for (const WaitSum& wait : summary.blame)
        json["blame"].push_back({{"why", why_word(wait.why)},
                                 {"task", wait.task},
                                 {"whom", wait.whom},
                                 {"count", wait.count},
                                 {"seconds", seconds_of(wait.time)}});
    for (const Stall& stall : summary.stalls)
        json["stalls"].push_back({{"why", why_word(stall.why)},
                                  {"task", stall.task},
                                  {"whom", stall.whom},
                                  {"call", stall.call},
                                  {"line", stall.line},
                                  {"from", seconds_of(stall.from)},
                                  {"seconds", seconds_of(stall.to - stall.from)}});
    for (const Unfinished& call : summary.unfinished)
        json["unfinished"].push_back({{"task", call.task},
                                      {"call", call.call},
                                      {"peer", call.peer},
                                      {"line", call.line},
                                      {"since", seconds_of(call.since)}});
    return json;
}

}  // namespace

std::string summary_text(const Summary& summary, const std::string& verdict,
                         const std::string& more) {
    return head(summary) + verdict + states_part(summary) + tasks_part(summary) +
           calls_part(summary) + paths_part(summary) + waits_part(summary) + more +
           messages_part(summary) + clocks_part(summary) + ends_part(summary);
}

std::string summary_json(const Summary& summary) {
    return summary_json_with(summary, Json());
}

std::string summary_json_with(const Summary& summary, const nlohmann::json& more) {
    Json json = sums_json(summary);
    if (more.is_object()) json.update(more);
    json["program"] = summary.facts.program;
    json["job"] = summary.facts.job;
    json["nodes"] = summary.facts.nodes;
    json["level"] = summary.facts.level;
    json["seconds"] = seconds_of(summary.end - summary.begin);
    json["spent"] = spent_json(summary.spent());
    json["collective_paths"] = Json::array();
    for (const PathSum& sum : summary.paths)
        json["collective_paths"].push_back({{"call", sum.call},
                                            {"path", sum.path},
                                            {"rounds", sum.rounds},
                                            {"calls", sum.calls},
                                            {"bytes", sum.bytes},
                                            {"seconds", seconds_of(sum.time)}});
    json["regions"] = Json::object();
    for (const RegionSum& region : summary.regions)
        json["regions"][region.name] = seconds_of(region.time);
    json["imbalance"] = summary.imbalance();
    json["busiest"] = summary.busiest();
    json["records"] = summary.records;
    json["messages"] = summary.messages;
    json["collective_messages"] = summary.inner_messages;
    json["collective_bytes"] = summary.inner_bytes;
    json["unmatched"] = summary.unmatched;
    json["received_before_sent"] = summary.backwards;
    json["holes"] = summary.holes;
    json["damaged"] = summary.implausible;
    json["lost"] = summary.lost;
    json["problems"] = summary.problems;
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string diff_text(const Summary& before, const Summary& after) {
    std::string out = "                              BEFORE      AFTER\n";
    const auto line = [&out](std::string_view what, Time a, Time b) {
        if (a == Time{0} && b == Time{0}) return;
        const std::string change =
            a <= Time{0} ? "new"
                         : fmt::format("{:+.1f}%", 100 * (seconds_of(b) / seconds_of(a) - 1));
        out +=
            fmt::format("{:<26} {:>10} {:>10}  {}\n", what, span_words(a), span_words(b), change);
    };
    line("duration", before.end - before.begin, after.end - after.begin);
    const auto spent_before = before.spent();
    const auto spent_after = after.spent();
    for (std::size_t state = 1; state < kStates; ++state)
        line(state_word(static_cast<State>(state)), spent_before[state], spent_after[state]);
    for (std::size_t why = 0; why < before.waits.size(); ++why)
        line(fmt::format("wait: {}", why_word(before.waits[why].why)), before.waits[why].time,
             after.waits[why].time);
    // Sorted by the size of the change, so that the most important changes come first.
    struct Call {
        std::string name;
        Time before{0};
        Time after{0};
    };
    std::vector<Call> calls;
    for (const CallSum& call : before.calls) calls.push_back({call.name, call.time, Time{0}});
    for (const CallSum& call : after.calls) {
        const auto known = std::find_if(calls.begin(), calls.end(),
                                        [&call](const Call& c) { return c.name == call.name; });
        if (known == calls.end())
            calls.push_back({call.name, Time{0}, call.time});
        else
            known->after += call.time;
    }
    std::stable_sort(calls.begin(), calls.end(), [](const Call& a, const Call& b) {
        return std::chrono::abs(a.after - a.before) > std::chrono::abs(b.after - b.before);
    });
    for (const Call& call : calls) line(call.name, call.before, call.after);
    out += fmt::format("{:<26} {:>10} {:>10}\n", "messages",
                       amount_words(static_cast<double>(before.messages)),
                       amount_words(static_cast<double>(after.messages)));
    out += fmt::format("{:<26} {:>10} {:>10}\n", "imbalance", percent_words(before.imbalance()),
                       percent_words(after.imbalance()));
    return out;
}

}  // namespace poe::trace
