// See loadleveler.hpp.
#include "partition_manager/job/loadleveler.hpp"

#include <algorithm>

#include "base/parse.hpp"
#include "base/suggest.hpp"
#include "partition_manager/job/host_file.hpp"

namespace poe::pm {

namespace {

constexpr const char* kTotalTasks = "LOADL_TOTAL_TASKS";
constexpr const char* kHostFileVariable = "LOADL_HOSTFILE";
constexpr const char* kProcessorList = "LOADL_PROCESSOR_LIST";

std::string value_of(const std::function<const char*(const char*)>& variable, const char* name) {
    const char* text = variable(name);
    return text != nullptr ? text : "";
}

// Blanks separate the names. They become the lines of a host file, so that the same names are
// allowed.
Result<HostFile> parse_list(std::string text, const char* name) {
    std::replace(text.begin(), text.end(), ' ', '\n');
    auto file = parse_host_file(text, name);
    if (file) return file;
    UserError error = file.error();
    error.line = 0;
    error.column = 0;
    return error;
}

Result<HostFile> load_list(const std::string& path, const std::string& list) {
    if (path.empty()) return parse_list(list, kProcessorList);
    auto file = load_host_file(HostFileUse::kGiven, path);
    if (file) return std::move(*file.value());
    UserError error = file.error();
    error.expected = std::string(kHostFileVariable) + " names this file; -hostfile names another";
    return error;
}

}  // namespace

bool loadleveler_names_nodes(const std::function<const char*(const char*)>& variable) {
    return !value_of(variable, kHostFileVariable).empty() ||
           value_of(variable, kProcessorList).find_first_not_of(' ') != std::string::npos;
}

Result<std::optional<LoadLevelerAllocation>> loadleveler_allocation(
    const std::function<const char*(const char*)>& variable) {
    const std::string path = value_of(variable, kHostFileVariable);
    const std::string list = value_of(variable, kProcessorList);
    if (!loadleveler_names_nodes(variable)) return std::optional<LoadLevelerAllocation>();
    auto file = load_list(path, list);
    if (!file) return file.error();
    LoadLevelerAllocation allocation;
    allocation.source = path.empty() ? kProcessorList : kHostFileVariable;
    for (const HostLine& line : file.value().lines) allocation.nodes.push_back(line.name);
    if (allocation.nodes.empty())
        return UserError{allocation.source,
                         0,
                         0,
                         "it names no node",
                         "expected a node for each task, or unset it",
                         0};
    const std::string total = value_of(variable, kTotalTasks);
    if (total.empty()) return std::optional(std::move(allocation));
    allocation.tasks = parse_number<TaskId>(total).value_or(0);
    if (allocation.tasks < 1)
        return UserError{kTotalTasks,
                         0,
                         0,
                         in_quotes(total) + " is not allowed",
                         "expected a number of tasks",
                         0};
    return std::optional(std::move(allocation));
}

Result<std::vector<std::string>> nodes_of_tasks(const LoadLevelerAllocation& allocation,
                                                NodeRequest request) {
    const auto wanted = static_cast<std::size_t>(request.tasks);
    const bool dealt = request.nodes > 0 || request.tasks_per_node > 0;
    if (!dealt && wanted <= allocation.nodes.size())
        return std::vector<std::string>(allocation.nodes.begin(),
                                        allocation.nodes.begin() + static_cast<long>(wanted));
    std::vector<std::string> nodes;
    for (const std::string& node : allocation.nodes)
        if (std::find(nodes.begin(), nodes.end(), node) == nodes.end()) nodes.push_back(node);
    if (!dealt) request.nodes = static_cast<TaskId>(nodes.size());
    return allocate(request, nodes, allocation.source);
}

}  // namespace poe::pm
