// Maps tasks to nodes.
#include "partition_manager/job/task_map.hpp"

#include <algorithm>
#include <fstream>
#include <unordered_map>

#include "base/check.hpp"
#include "base/error.hpp"
#include "base/suggest.hpp"
#include "partition_manager/job/commands_file.hpp"

namespace poe::pm {
namespace {

constexpr int kFewerNodesThanTasks = 125;

UserError at_line(const HostFile& file, const HostLine& entry) {
    UserError error;
    error.source = file.path;
    error.line = entry.line;
    error.column = entry.column;
    return error;
}

UserError fewer_nodes(const HostFile& file, std::size_t tasks) {
    const std::size_t nodes = file.lines.size();
    UserError error;
    error.source = file.path;
    error.number = kFewerNodesThanTasks;
    error.text = "the host file names " + count_words(nodes, "node") + ", but the job has " +
                 count_words(tasks, "task");
    error.expected = "add " + count_words(tasks - nodes, "line") + " (a node may come again)";
    if (nodes > 0) error.expected += ", or use -procs " + std::to_string(nodes);
    error.expected += ", or -hostfile NULL to run all tasks on this node";
    return error;
}

UserError no_pools(const HostFile& file, const HostLine& entry) {
    UserError error = at_line(file, entry);
    error.text = "pool " + in_quotes("@" + entry.name) + " is not known";
    error.expected =
        "pools need a resource manager, which this version does not have; name nodes, "
        "or use -hostfile NULL to run all tasks on this node";
    return error;
}

}  // namespace

Result<TaskMap> make_task_map(TaskId procs, const std::optional<HostFile>& host_file,
                              const std::string& this_node, const FindThisNode& find_this_node) {
    POE_CHECK(procs > 0, procs);
    const auto tasks = static_cast<std::size_t>(procs);
    TaskMap map;
    if (!host_file) {
        map.nodes.push_back(this_node);
        map.node_of_task.assign(tasks, 0);
        map.home = 0;
        return map;
    }
    const std::vector<HostLine>& lines = host_file->lines;
    if (!lines.empty() && lines[0].is_pool) return no_pools(*host_file, lines[0]);
    if (lines.size() < tasks) return fewer_nodes(*host_file, tasks);
    std::vector<std::string> names;
    std::unordered_map<std::string_view, std::size_t> known;
    for (std::size_t task = 0; task < tasks; ++task)
        if (known.try_emplace(lines[task].name, names.size()).second)
            names.push_back(lines[task].name);
    const std::vector<bool> is_home = find_this_node(names);
    std::vector<NodeIndex> node_of_name(names.size());
    for (std::size_t name = 0; name < names.size(); ++name) {
        // This node may have appeared before, under another name.
        const bool again = is_home[name] && map.home >= 0;
        node_of_name[name] = again ? map.home : static_cast<NodeIndex>(map.nodes.size());
        if (again) continue;
        map.nodes.push_back(is_home[name] ? this_node : names[name]);
        if (is_home[name]) map.home = node_of_name[name];
    }
    for (std::size_t task = 0; task < tasks; ++task)
        map.node_of_task.push_back(node_of_name[known.at(lines[task].name)]);
    return map;
}

std::vector<NodeReservation> reservations_of(const TaskMap& map,
                                             const std::optional<HostFile>& host_file,
                                             const NodeReservation& usual) {
    std::vector<NodeReservation> reserved(map.nodes.size());
    for (std::size_t task = 0; task < map.node_of_task.size(); ++task) {
        NodeReservation& node = reserved[static_cast<std::size_t>(map.node_of_task[task])];
        NodeReservation wanted = usual;
        if (host_file && !host_file->lines.empty()) {
            const HostLine& line = host_file->lines[std::min(task, host_file->lines.size() - 1)];
            if (line.cpu_use != CpuUse::kUnspecified)
                wanted.processors = line.cpu_use == CpuUse::kUnique;
            if (line.adapter_use != AdapterUse::kUnspecified)
                wanted.adapter = line.adapter_use == AdapterUse::kDedicated;
        }
        node.processors |= wanted.processors;
        node.adapter |= wanted.adapter;
    }
    const bool none =
        std::all_of(reserved.begin(), reserved.end(),
                    [](const NodeReservation& node) { return node == NodeReservation{}; });
    return none ? std::vector<NodeReservation>() : reserved;
}

std::string save_host_file_text(const TaskMap& map) {
    std::string text;
    for (const NodeIndex node : map.node_of_task)
        text += map.nodes.at(static_cast<std::size_t>(node)) + "\n";
    return text;
}

void save_host_file(const TaskMap& map, const std::string& path) {
    errno = 0;
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    if (file) file << save_host_file_text(map) << std::flush;
    if (!file) throw Error("cannot write the nodes to " + path + " (-savehostfile)", errno);
}

std::string dry_run_text(const TaskMap& map, const std::vector<Command>& commands,
                         const std::vector<std::uint32_t>& command_of_task) {
    POE_CHECK(command_of_task.size() == map.node_of_task.size(), command_of_task.size());
    const auto padded = [](const std::string& text, std::size_t width) {
        return std::string(width - std::min(width, text.size()), ' ');
    };
    const std::size_t id_width =
        std::max<std::size_t>(4, std::to_string(map.node_of_task.size() - 1).size());
    std::size_t node_width = 4;
    for (const std::string& node : map.nodes) node_width = std::max(node_width, node.size());

    std::string text =
        padded("task", id_width) + "task  node" + padded("node", node_width) + "  program\n";
    for (std::size_t task = 0; task < map.node_of_task.size(); ++task) {
        const std::string id = std::to_string(task);
        const std::string& node = map.nodes.at(static_cast<std::size_t>(map.node_of_task[task]));
        text.append(padded(id, id_width)).append(id).append("  ");
        text.append(node).append(padded(node, node_width)).append(" ");
        for (const std::string& word : commands.at(command_of_task[task]))
            text.append(" ").append(shell_quoted(word));
        text += "\n";
    }
    return text;
}

}  // namespace poe::pm
