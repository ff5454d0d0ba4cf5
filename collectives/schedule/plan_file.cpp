// The text of plans; see plan_file.hpp.
#include "collectives/schedule/plan_file.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "base/parse.hpp"
#include "base/suggest.hpp"

namespace poe::collectives {
namespace {

constexpr Bytes kKilobyte = 1024;
constexpr std::size_t kMostTasks = 1 << 16;

std::string bytes_text(Bytes bytes) {
    if (bytes > 0 && bytes % kKilobyte == 0) return std::to_string(bytes / kKilobyte) + "K";
    return std::to_string(bytes);
}

std::string lengths_text(const std::vector<Bytes>& lengths, std::size_t n) {
    std::string text;
    for (std::size_t row = 0; row < n; ++row) {
        if (row > 0) text += '/';
        for (std::size_t at = 0; at < n;) {
            const Bytes bytes = lengths[row * n + at];
            std::size_t same = 1;
            while (at + same < n && lengths[row * n + at + same] == bytes) ++same;
            text += (at > 0 ? "," : "") + bytes_text(bytes);
            if (same > 1) text += "*" + std::to_string(same);
            at += same;
        }
    }
    return text;
}

// Calls `item` for each part of `text` between separators; false as soon as one call is false.
template <typename Item>
bool each_part(std::string_view text, char separator, const Item& item) {
    for (;;) {
        const std::size_t end = text.find(separator);
        if (!item(text.substr(0, end))) return false;
        if (end == std::string_view::npos) return true;
        text.remove_prefix(end + 1);
    }
}

std::optional<std::vector<TaskId>> read_tasks(std::string_view text) {
    std::vector<TaskId> tasks;
    const bool good = each_part(text, ',', [&](std::string_view part) {
        const auto first = take_number<TaskId>(part);
        if (!first || *first < 0) return false;
        TaskId last = *first;
        if (!part.empty()) {
            if (part.front() != '-') return false;
            const auto number = parse_number<TaskId>(part.substr(1));
            if (!number) return false;
            last = *number;
        }
        if (last < *first || (!tasks.empty() && *first <= tasks.back()) ||
            static_cast<std::size_t>(last - *first) >= kMostTasks - tasks.size())
            return false;
        for (TaskId task = *first; task <= last; ++task) tasks.push_back(task);
        return true;
    });
    if (!good) return std::nullopt;
    return tasks;
}

std::optional<std::vector<Bytes>> read_lengths(std::string_view text, std::size_t n) {
    std::vector<Bytes> lengths;
    std::size_t rows = 0;
    const bool good = each_part(text, '/', [&](std::string_view row) {
        ++rows;
        return each_part(row, ',',
                         [&](std::string_view part) {
                             auto bytes = take_number<Bytes>(part);
                             if (!bytes || *bytes > Bytes{1} << 48) return false;
                             if (!part.empty() && part.front() == 'K') {
                                 *bytes *= kKilobyte;
                                 part.remove_prefix(1);
                             }
                             std::size_t same = 1;
                             if (!part.empty()) {
                                 if (part.front() != '*') return false;
                                 const auto number = parse_number<std::size_t>(part.substr(1));
                                 if (!number || *number == 0) return false;
                                 same = *number;
                             }
                             if (same > rows * n - std::min(rows * n, lengths.size())) return false;
                             lengths.insert(lengths.end(), same, *bytes);
                             return true;
                         }) &&
               lengths.size() == rows * n;
    });
    if (!good || rows != n) return std::nullopt;
    return lengths;
}

// The words of a line up to a comment; a value may be in quotes. Empty: a quote is missing.
std::optional<std::vector<std::pair<std::string, std::string>>> words_of(std::string_view line) {
    std::vector<std::pair<std::string, std::string>> words;
    for (;;) {
        line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
        if (line.empty() || line.front() == '#') return words;
        const std::size_t end = std::min(line.find_first_of(" \t\r="), line.size());
        std::pair<std::string, std::string> word(line.substr(0, end), "");
        line.remove_prefix(end);
        if (!line.empty() && line.front() == '=') {
            line.remove_prefix(1);
            const bool quoted = !line.empty() && line.front() == '"';
            if (quoted) line.remove_prefix(1);
            const std::size_t stop =
                quoted ? line.find('"') : std::min(line.find_first_of(" \t\r"), line.size());
            if (stop == std::string_view::npos) return std::nullopt;
            word.second = line.substr(0, stop);
            line.remove_prefix(stop + (quoted ? 1 : 0));
        }
        words.push_back(std::move(word));
    }
}

template <typename Number>
bool store(Number& into, std::string_view text) {
    const auto number = parse_number<Number>(text);
    if (number) into = *number;
    return number.has_value();
}

std::optional<PhaseMethod> method_named(std::string_view text) {
    for (const PhaseMethod method :
         {PhaseMethod::kSimple, PhaseMethod::kGreedy, PhaseMethod::kAllToAll,
          PhaseMethod::kAutomatic, PhaseMethod::kCombined})
        if (text == name_of(method)) return method;
    return std::nullopt;
}

// A key of a line, what its value must be, and how it is stored.
struct Key {
    std::string_view name;
    std::string_view expected;
    bool (*store)(PlannedCall&, std::string_view);
};
constexpr std::array<Key, 11> kKeys{{
    {"group", "a number from 0 on",
     [](PlannedCall& c, std::string_view v) { return store(c.group, v) && c.group >= 0; }},
    {"tasks", "ascending tasks, as in 0-3,7",
     [](PlannedCall& c, std::string_view v) {
         const auto tasks = read_tasks(v);
         if (tasks) c.tasks = *tasks;
         return tasks.has_value();
     }},
    {"first", "a number from 0 on",
     [](PlannedCall& c, std::string_view v) { return store(c.first, v); }},
    {"every", "a number from 1 on",
     [](PlannedCall& c, std::string_view v) { return store(c.every, v) && c.every > 0; }},
    {"calls", "a number from 0 on",
     [](PlannedCall& c, std::string_view v) { return store(c.calls, v); }},
    {"schedule", "simple, combined, greedy, all-to-all or automatic",
     [](PlannedCall& c, std::string_view v) {
         const auto method = method_named(v);
         if (method) c.schedule = *method;
         return method.has_value();
     }},
    {"radix", "a number from 2 on",
     [](PlannedCall& c, std::string_view v) { return store(c.radix, v) && c.radix >= 2; }},
    {"limit", "1 to 32768 bytes, as in 500 or 2K",
     [](PlannedCall& c, std::string_view v) {
         const auto limit = read_lengths(v, 1);
         if (limit) c.limit = limit->front();
         return limit && c.limit > 0 && c.limit <= kMostCombined;
     }},
    {"bytes", "a number from 0 on",
     [](PlannedCall& c, std::string_view v) { return store(c.bytes, v); }},
    {"lengths", "for each task, after its tasks=, a row of lengths to all, as in 0,8K/100,0",
     [](PlannedCall& c, std::string_view v) {
         const auto lengths = read_lengths(v, c.tasks.size());
         if (lengths) c.lengths = *lengths;
         return lengths.has_value();
     }},
    {"at", "a place in the program",
     [](PlannedCall& c, std::string_view v) {
         c.site = v;
         return true;
     }},
}};

UserError wrong_line(const std::string& source, int line, std::string text, std::string expected) {
    return {source, line, 0, std::move(text), std::move(expected), 0};
}

}  // namespace

std::string tasks_text(const std::vector<TaskId>& tasks) {
    std::string text;
    for (std::size_t at = 0; at < tasks.size();) {
        std::size_t end = at + 1;
        while (end < tasks.size() && tasks[end] == tasks[end - 1] + 1) ++end;
        text += (at > 0 ? "," : "") + std::to_string(tasks[at]);
        if (end - at > 1) text += "-" + std::to_string(tasks[end - 1]);
        at = end;
    }
    return text;
}

std::string plan_line(const PlannedCall& call) {
    std::string line = call.operation + " group=" + std::to_string(call.group) +
                       " tasks=" + tasks_text(call.tasks);
    if (!call.lengths.empty())
        line += " first=" + std::to_string(call.first) + " every=" + std::to_string(call.every);
    line += " calls=" + std::to_string(call.calls);
    if (call.lengths.empty()) {
        line += " bytes=" + std::to_string(call.bytes);
    } else {
        line += std::string(" schedule=") + name_of(call.schedule);
        if (call.schedule == PhaseMethod::kCombined)
            line += " radix=" + std::to_string(call.radix) + " limit=" + bytes_text(call.limit);
        line += " lengths=" + lengths_text(call.lengths, call.tasks.size());
    }
    std::string site = call.site;
    std::erase(site, '"');
    if (!site.empty()) line += " at=\"" + site + "\"";
    return line;
}

Result<std::vector<PlannedCall>> read_plan(std::string_view text, const std::string& source) {
    std::vector<PlannedCall> calls;
    int number = 0;
    while (!text.empty()) {
        ++number;
        const std::size_t end = std::min(text.find('\n'), text.size());
        const auto words = words_of(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        if (!words)
            return wrong_line(source, number, "a quotation mark is missing",
                              "a value with blanks is between two of them");
        if (words->empty()) continue;
        PlannedCall call;
        call.operation = words->front().first;
        if (!words->front().second.empty())
            return wrong_line(source, number,
                              "the line begins with " + in_quotes(call.operation + "="),
                              "a line begins with the name of an operation, as in alltoallv");
        for (std::size_t i = 1; i < words->size(); ++i) {
            const auto& [name, value] = (*words)[i];
            const auto* key = std::find_if(kKeys.begin(), kKeys.end(),
                                           [&](const Key& each) { return each.name == name; });
            if (key == kKeys.end()) {
                std::vector<std::string_view> names;
                for (const Key& each : kKeys) names.push_back(each.name);
                return wrong_line(source, number,
                                  "there is no key " + in_quotes(name) + did_you_mean(name, names),
                                  "keys are group, tasks, first, every, calls, schedule, radix, "
                                  "limit, bytes, lengths and at");
            }
            if (!key->store(call, value))
                return wrong_line(source, number, name + "=" + value + " is not allowed",
                                  "expected " + std::string(key->expected));
        }
        if (call.tasks.empty())
            return wrong_line(source, number, "the line has no tasks", "add tasks=0-3 or the like");
        if (call.schedule == PhaseMethod::kCombined && (call.radix == 0 || call.limit == 0))
            return wrong_line(source, number, "schedule=combined needs a radix and a limit",
                              "add radix=2 limit=1K or the like");
        calls.push_back(std::move(call));
    }
    return calls;
}

std::vector<PhasedMessage> messages_of(const PlannedCall& call) {
    Shape shape;
    shape.operation = Operation::kIndex;
    shape.n = static_cast<std::uint32_t>(call.tasks.size());
    shape.matrix = call.lengths;
    return messages_between(shape);
}

std::uint32_t calls_to_reach_all(std::uint32_t n, const std::vector<PhasedMessage>& messages) {
    std::vector<std::vector<std::uint32_t>> next(n);
    for (const PhasedMessage& each : messages)
        if (each.bytes >= kShortBlock) next[each.from].push_back(each.to);
    std::uint32_t most = 0;
    for (std::uint32_t start = 0; start < n; ++start) {
        std::vector<bool> reached(n);
        reached[start] = true;
        std::vector<std::uint32_t> border{start};
        std::uint32_t many = 1;
        std::uint32_t hops = 0;
        while (many < n) {
            std::vector<std::uint32_t> further;
            for (const std::uint32_t from : border)
                for (const std::uint32_t to : next[from])
                    if (!reached[to]) {
                        reached[to] = true;
                        further.push_back(to);
                    }
            if (further.empty()) return 0;
            many += static_cast<std::uint32_t>(further.size());
            border = std::move(further);
            ++hops;
        }
        most = std::max(most, hops);
    }
    return most;
}

}  // namespace poe::collectives
