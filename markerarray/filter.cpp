// Implementation of filter.hpp.
#include "markerarray/filter.hpp"

#include <algorithm>

#include "base/parse.hpp"
#include "base/suggest.hpp"

namespace poe::markers {
namespace {

UserError mistake(const std::string& what, const std::string& expected) {
    UserError error;
    error.text = what;
    error.expected = expected;
    return error;
}

// Calls `use` with each nonempty part between separators.
template <typename Use>
void each_part(std::string_view text, char separator, Use use) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(separator), text.size());
        if (end > 0) use(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

bool read_number(std::string_view text, TaskId& number) {
    number = parse_number<TaskId>(text).value_or(-1);
    return number >= 0;
}

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool contains(std::string_view text, std::string_view word) {
    return std::search(text.begin(), text.end(), word.begin(), word.end(),
                       [](char a, char b) { return lower(a) == lower(b) || a == b; }) != text.end();
}

// Adds the state with this name, or three states for "waiting". False: no such state.
bool add_states(std::string_view word, std::vector<Activity>& states) {
    if (word == "waiting") {
        states.insert(states.end(),
                      {Activity::kSending, Activity::kReceiving, Activity::kCollective});
        return true;
    }
    for (std::size_t i = 0; i < kActivities; ++i) {
        const auto activity = static_cast<Activity>(i);
        if (activity_word(activity) != word) continue;
        states.push_back(activity);
        return true;
    }
    return false;
}

std::vector<std::string_view> state_words() {
    std::vector<std::string_view> words{"waiting"};
    for (std::size_t i = 0; i < kActivities; ++i)
        words.push_back(activity_word(static_cast<Activity>(i)));
    return words;
}

template <typename Things, typename Test>
bool any_or_none(const Things& things, Test test) {
    return things.empty() || std::any_of(things.begin(), things.end(), test);
}

}  // namespace

Result<Filter> Filter::parse(std::string_view text) {
    Filter filter;
    std::optional<UserError> error;
    each_part(text, ' ', [&](std::string_view word) {
        if (word.starts_with("state=")) {
            each_part(word.substr(6), ',', [&](std::string_view state) {
                if (!add_states(state, filter.states_))
                    error = mistake("no state is called \"" + std::string(state) + "\"",
                                    "waiting, computing, sending, receiving, collective, idle, "
                                    "stopped, failed, ended, unstarted or unknown" +
                                        did_you_mean(state, state_words()));
            });
        } else if (word.starts_with("node=")) {
            each_part(word.substr(5), ',',
                      [&](std::string_view node) { filter.nodes_.emplace_back(node); });
        } else if (word.starts_with("rank=")) {
            each_part(word.substr(5), ',', [&](std::string_view range) {
                const std::size_t dash = range.find('-');
                Range one{};
                const bool good =
                    read_number(range.substr(0, dash), one.first) &&
                    read_number(dash == std::string_view::npos ? range : range.substr(dash + 1),
                                one.last) &&
                    one.first <= one.last;
                if (good)
                    filter.ranks_.push_back(one);
                else
                    error = mistake("\"" + std::string(range) + "\" is no range of tasks",
                                    "as in rank=0-63,70");
            });
        } else {
            filter.words_.emplace_back(word);
        }
    });
    if (error) return *error;
    return filter;
}

bool Filter::passes(const TaskRow& row, const JobFacts& job) const {
    const auto node = static_cast<std::size_t>(row.node);
    const std::string_view node_name =
        node < job.nodes.size() ? std::string_view(job.nodes[node]) : "";
    return any_or_none(states_, [&](Activity state) { return state == row.activity; }) &&
           any_or_none(nodes_, [&](const std::string& name) { return name == node_name; }) &&
           any_or_none(ranks_,
                       [&](const Range& range) {
                           return row.task >= range.first && row.task <= range.last;
                       }) &&
           std::all_of(words_.begin(), words_.end(),
                       [&](const std::string& word) { return row_contains(row, word); });
}

bool row_contains(const TaskRow& row, std::string_view text) {
    return contains(row.text, text) || contains(row.doing, text);
}

}  // namespace poe::markers
