// See node_query.hpp.
#include "poe/node_query.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <future>
#include <optional>
#include <sstream>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/parse.hpp"
#include "partition_manager/job/command_lines.hpp"
#include "partition_manager/job/commands_file.hpp"
#include "partition_manager/job/local_names.hpp"
#include "partition_manager/launch/remote_launcher.hpp"

namespace poe::cli {
namespace {

constexpr const char* kPatience = "timeout 10 ";

std::string last_line_of(const std::string& command) {
    try {
        const std::vector<std::string> lines = pm::lines_of_command(command + " 2>/dev/null");
        return lines.empty() ? kNoAnswer : lines.back();
    } catch (const Error&) {
        return kNoAnswer;
    }
}

std::string command_for(const std::string& node, bool is_here, const NodeQuery& query,
                        const std::string& arguments) {
    if (is_here) return pm::shell_quoted(query.pmd) + " " + arguments;
    pm::LaunchSpec launch;
    launch.remote_shell = query.remote_shell;
    launch.pmd = query.pmd;
    std::string line = kPatience;
    for (const std::string& word : pm::remote_shell_words(launch, node, arguments))
        line += pm::shell_quoted(word) + " ";
    return line;
}

using Cells = std::vector<std::string>;

// Columns are as wide as their widest cell.
std::string table_of(const std::vector<Cells>& lines) {
    std::vector<std::size_t> width;
    for (const Cells& cells : lines) {
        width.resize(std::max(width.size(), cells.size()));
        for (std::size_t i = 0; i < cells.size(); ++i)
            width[i] = std::max(width[i], cells[i].size());
    }
    std::string text;
    for (const Cells& cells : lines) {
        for (std::size_t i = 0; i < cells.size(); ++i) {
            text += cells[i];
            if (i + 1 < cells.size()) text += std::string(width[i] - cells[i].size() + 2, ' ');
        }
        text += "\n";
    }
    return text;
}

// The numbers of "name=number name=number ...".
std::map<std::string, double> numbers_of(const std::string& line) {
    std::map<std::string, double> numbers;
    std::istringstream words(line);
    for (std::string word; words >> word;) {
        const std::size_t equals = word.find('=');
        if (equals == std::string::npos) continue;
        if (const auto number = parse_number<double>(std::string_view(word).substr(equals + 1)))
            numbers[word.substr(0, equals)] = *number;
    }
    return numbers;
}

struct Column {
    const char* heading;
    const char* name;
    enum class Unit { kShare, kBytes, kPlain } unit;
};
constexpr std::array kColumns = {Column{"user", "user", Column::Unit::kShare},
                                 Column{"system", "system", Column::Unit::kShare},
                                 Column{"memory", "memory", Column::Unit::kBytes},
                                 Column{"read/s", "disk_read", Column::Unit::kBytes},
                                 Column{"written/s", "disk_written", Column::Unit::kBytes},
                                 Column{"in/s", "net_in", Column::Unit::kBytes},
                                 Column{"out/s", "net_out", Column::Unit::kBytes},
                                 Column{"packets/s", "packets_in", Column::Unit::kPlain},
                                 Column{"switches/s", "switches", Column::Unit::kPlain},
                                 Column{"faults/s", "faults", Column::Unit::kPlain}};

std::string cell(double value, Column::Unit unit) {
    char text[32];
    if (unit == Column::Unit::kShare) {
        std::snprintf(text, sizeof text, "%.0f %%", value * 100);
        return text;
    }
    const double step = unit == Column::Unit::kBytes ? 1024 : 1000;
    constexpr std::array kUnits = {"", "K", "M", "G", "T"};
    std::size_t at = 0;
    while (value >= step && at + 1 < kUnits.size()) {
        value /= step;
        ++at;
    }
    std::snprintf(text, sizeof text, value < 10 && at > 0 ? "%.1f%s%s" : "%.0f%s%s", value,
                  kUnits[at], unit == Column::Unit::kBytes ? "B" : "");
    return text;
}

}  // namespace

std::map<std::string, std::string> ask_nodes(std::vector<std::string> nodes, const NodeQuery& query,
                                             const std::string& arguments) {
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    const std::vector<bool> is_here = pm::find_this_node(nodes);
    std::map<std::string, std::future<std::string>> asked;
    for (std::size_t i = 0; i < nodes.size(); ++i)
        asked[nodes[i]] = std::async(std::launch::async, last_line_of,
                                     command_for(nodes[i], is_here[i], query, arguments));
    std::map<std::string, std::string> answers;
    for (auto& [node, answer] : asked) answers[node] = answer.get();
    return answers;
}

std::vector<PoolNode> ask_pools(const pm::Pools& pools, const NodeQuery& query) {
    std::vector<std::string> names;
    for (const auto& [pool, nodes] : pools.nodes)
        names.insert(names.end(), nodes.begin(), nodes.end());
    const auto uses = ask_nodes(std::move(names), query, pm::kUseArguments);
    std::vector<PoolNode> all;
    for (const auto& [pool, nodes] : pools.nodes)
        for (const std::string& node : nodes) all.push_back({pool, node, uses.at(node)});
    return all;
}

std::string pools_text(const std::vector<PoolNode>& nodes) {
    std::vector<Cells> lines{{"pool", "node", "use"}};
    for (const PoolNode& each : nodes) lines.push_back({each.pool, each.node, each.use});
    return table_of(lines);
}

std::string pools_json(const std::vector<PoolNode>& nodes) {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const PoolNode& each : nodes)
        all.push_back({{"pool", each.pool}, {"node", each.node}, {"use", each.use}});
    return all.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string loads_text(const std::map<std::string, std::string>& answers) {
    Cells head{"node"};
    for (const Column& column : kColumns) head.emplace_back(column.heading);
    std::vector<Cells> lines{head};
    for (const auto& [node, answer] : answers) {
        const auto numbers = numbers_of(answer);
        Cells cells{node};
        if (numbers.empty()) cells.push_back(answer);
        for (const Column& column : kColumns) {
            if (numbers.empty()) break;
            const auto found = numbers.find(column.name);
            cells.push_back(found == numbers.end() ? "-" : cell(found->second, column.unit));
        }
        lines.push_back(std::move(cells));
    }
    return table_of(lines);
}

std::string loads_json(const std::map<std::string, std::string>& answers) {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const auto& [node, answer] : answers) {
        nlohmann::ordered_json one = {{"node", node}};
        const auto numbers = numbers_of(answer);
        if (numbers.empty()) one["trouble"] = answer;
        for (const auto& [name, number] : numbers) one[name] = number;
        all.push_back(std::move(one));
    }
    return all.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace poe::cli
