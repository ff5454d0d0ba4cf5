// Process sets; see process_sets.hpp.
#include "mpi/process/process_sets.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <numeric>

#include "mpi/process/environment.hpp"

namespace poe::mpi {
namespace {

// Removes the part before `separator` from `rest` and returns it.
std::string_view cut_at(std::string_view& rest, char separator) {
    const std::size_t end = std::min(rest.find(separator), rest.size());
    const std::string_view part = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return part;
}

bool read_number(std::string_view text, std::uint32_t limit, TaskId& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() && number >= 0 &&
           static_cast<std::uint32_t>(number) < limit;
}

bool read_ranges(std::string_view text, std::uint32_t tasks, std::vector<TaskId>& found) {
    while (!text.empty()) {
        std::string_view range = cut_at(text, ',');
        const std::string_view low = cut_at(range, '-');
        TaskId first = 0;
        if (!read_number(low, tasks, first)) return false;
        TaskId last = first;
        if (!range.empty() && !read_number(range, tasks, last)) return false;
        for (TaskId task = first; task <= last; ++task) found.push_back(task);
    }
    return !found.empty();
}

bool equal_in_any_case(std::string_view one, std::string_view other) {
    const auto small = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    return std::ranges::equal(one, other, {}, small, small);
}

}  // namespace

std::vector<ProcessSet> parse_process_sets(std::string_view text, TaskId own, std::uint32_t tasks) {
    std::vector<TaskId> all(tasks);
    std::iota(all.begin(), all.end(), 0);
    std::vector<ProcessSet> sets{{"mpi://WORLD", std::move(all)}, {"mpi://SELF", {own}}};
    while (!text.empty()) {
        std::string_view entry = cut_at(text, ' ');
        const std::string_view name = cut_at(entry, '=');
        ProcessSet set{std::string(name), {}};
        if (!name.empty() && name.size() < MPI_MAX_PSET_NAME_LEN &&
            find_process_set(sets, name) == nullptr && read_ranges(entry, tasks, set.tasks))
            sets.push_back(std::move(set));
    }
    return sets;
}

const ProcessSet* find_process_set(const std::vector<ProcessSet>& sets, std::string_view name) {
    // In a URI, the scheme and the host may be written in capitals or small letters. The sets of
    // the standard consist of these.
    constexpr std::string_view kOfStandard = "mpi://";
    const bool any_case = name.size() > kOfStandard.size() &&
                          equal_in_any_case(name.substr(0, kOfStandard.size()), kOfStandard);
    const auto found = std::ranges::find_if(sets, [&](const ProcessSet& set) {
        return set.name == name || (any_case && equal_in_any_case(set.name, name));
    });
    return found == sets.end() ? nullptr : &*found;
}

const std::vector<ProcessSet>& process_sets(std::uint32_t tasks) {
    static const auto* const sets = [tasks] {
        const char* const text = std::getenv("MP_PSETS");
        return new std::vector<ProcessSet>(
            parse_process_sets(text != nullptr ? text : "", environment().task, tasks));
    }();
    return *sets;
}

}  // namespace poe::mpi
