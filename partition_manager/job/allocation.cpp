// See allocation.hpp.
#include "partition_manager/job/allocation.hpp"

#include <algorithm>
#include <unordered_map>

#include "base/check.hpp"
#include "base/suggest.hpp"

namespace poe::pm {

namespace {

UserError mistake(const std::string& source, std::string text, std::string expected) {
    UserError error;
    error.source = source;
    error.text = std::move(text);
    error.expected = std::move(expected);
    return error;
}

}  // namespace

Result<std::vector<TaskId>> deal_tasks(const NodeRequest& request, std::size_t available,
                                       const std::string& source) {
    POE_CHECK(request.tasks > 0, request.tasks);
    const auto tasks = static_cast<std::size_t>(request.tasks);
    const auto most = static_cast<std::size_t>(request.tasks_per_node);
    std::size_t needed = static_cast<std::size_t>(request.nodes);
    if (needed == 0 && most > 0) needed = (tasks + most - 1) / most;
    if (needed == 0) needed = std::min(tasks, std::max<std::size_t>(available, 1));
    if (needed > tasks)
        return mistake(source, count_words(needed, "node") + " for " + count_words(tasks, "task"),
                       "expected at least one task for each node");
    if (needed > available)
        return mistake(source,
                       "it has " + count_words(available, "node") + ", but the job needs " +
                           std::to_string(needed),
                       "use fewer -nodes, or more -tasks_per_node");
    if (most > 0 && needed * most < tasks)
        return mistake(source,
                       count_words(tasks, "task") + " do not fit on " +
                           count_words(needed, "node") + " with " + std::to_string(most) + " each",
                       "use more -nodes or -tasks_per_node");
    std::vector<TaskId> dealt;
    std::size_t left = tasks;
    for (std::size_t node = 0; node < needed; ++node) {
        // With tasks_per_node, the last nodes get the rest, but at least one task each.
        const std::size_t after = needed - node - 1;
        const std::size_t share =
            most > 0 ? std::min(most, left - after) : (left + after) / (after + 1);
        dealt.push_back(static_cast<TaskId>(share));
        left -= share;
    }
    return dealt;
}

Result<std::vector<std::string>> allocate(const NodeRequest& request,
                                          const std::vector<std::string>& nodes,
                                          const std::string& source) {
    const auto dealt = deal_tasks(request, nodes.size(), source);
    if (!dealt) return dealt.error();
    std::vector<std::string> result;
    for (std::size_t node = 0; node < dealt.value().size(); ++node)
        result.insert(result.end(), static_cast<std::size_t>(dealt.value()[node]), nodes[node]);
    return result;
}

Result<std::vector<std::string>> nodes_of_pool(const Pools& pools, const std::string& pool) {
    const auto found = pools.nodes.find(pool);
    if (found != pools.nodes.end()) return found->second;
    std::string known;
    for (const auto& [name, nodes] : pools.nodes) known += (known.empty() ? "" : ", ") + name;
    return mistake(pools.path, "there is no pool " + in_quotes(pool),
                   known.empty() ? "the file names no pools" : "expected one of " + known);
}

Result<std::vector<std::string>> allocate_from_pools(const NodeRequest& request,
                                                     const HostFile& host_file,
                                                     const Pools& pools) {
    POE_CHECK(!host_file.lines.empty() && host_file.lines[0].is_pool, host_file.lines.size());
    const auto pool_of = [&](TaskId task) -> const std::string& {
        const auto line = std::min(static_cast<std::size_t>(task), host_file.lines.size() - 1);
        return host_file.lines[line].name;
    };
    std::unordered_map<std::string, std::vector<TaskId>> tasks_of;
    for (TaskId task = 0; task < request.tasks; ++task) tasks_of[pool_of(task)].push_back(task);
    std::vector<std::string> result(static_cast<std::size_t>(request.tasks));
    for (const auto& [pool, tasks] : tasks_of) {
        const auto nodes = nodes_of_pool(pools, pool);
        if (!nodes) return nodes.error();
        NodeRequest part = request;
        part.tasks = static_cast<TaskId>(tasks.size());
        if (tasks_of.size() > 1) part.nodes = 0;  // the number applies to the job, not to each pool
        const auto names = allocate(part, nodes.value(), "pool " + pool);
        if (!names) return names.error();
        for (std::size_t i = 0; i < tasks.size(); ++i)
            result[static_cast<std::size_t>(tasks[i])] = names.value()[i];
    }
    return result;
}

HostFile host_file_of(const std::vector<std::string>& node_of_task, const std::string& source) {
    HostFile file;
    file.path = source;
    for (const std::string& node : node_of_task) {
        HostLine line;
        line.name = node;
        file.lines.push_back(std::move(line));
    }
    return file;
}

}  // namespace poe::pm
