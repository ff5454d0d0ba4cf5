// See nodes.hpp.
#include "poe/nodes.hpp"

#include <algorithm>

#include "base/suggest.hpp"
#include "partition_manager/job/allocation.hpp"
#include "partition_manager/job/loadleveler.hpp"
#include "partition_manager/job/local_names.hpp"
#include "partition_manager/job/text_file.hpp"

namespace poe::cli {

namespace {

pm::NodeRequest request_of(const Options& options) {
    const bool exclusive = options.reserved.processors || options.reserved.adapter;
    return {options.procs, options.nodes, options.tasks_per_node, exclusive};
}

Result<pm::TaskMap> map_of(const std::vector<std::string>& node_of_task, const std::string& source,
                           const Options& options) {
    return pm::make_task_map(options.procs, pm::host_file_of(node_of_task, source),
                             pm::local_host_name(), pm::find_this_node);
}

// If a pool is requested and no host file is given, a file host.list that happens to exist is
// ignored.
Result<std::optional<pm::HostFile>> host_file_of(const Options& options) {
    if (!options.pool.empty() && options.host_file_use == pm::HostFileUse::kDefault)
        return std::optional<pm::HostFile>();
    return pm::load_host_file(options.host_file_use, options.host_file);
}

// Returns an error if the flags require more nodes than this one and nothing names other nodes.
std::optional<UserError> more_than_this_node(const Options& options) {
    const int most = options.tasks_per_node;
    const int nodes = options.nodes > 0 ? options.nodes
                      : most > 0        ? (options.procs + most - 1) / most
                                        : 1;
    if (nodes > 1)
        return UserError{
            options.origin(options.nodes > 0 ? "nodes" : "tasks_per_node"),
            0,
            0,
            "nothing says which " + std::to_string(nodes) + " nodes",
            "name them in a host file (-hostfile FILE), or give a pool (-rmpool) or -resd yes",
            0};
    const auto dealt = pm::deal_tasks(request_of(options), 1, "this node");
    return dealt ? std::nullopt : std::optional(dealt.error());
}

bool names_pools(const std::optional<pm::HostFile>& file) {
    return file && !file->lines.empty() && file->lines[0].is_pool;
}

// Completes a map that has been found. `host_file` is the file that has named the nodes or pools,
// if any.
Result<pm::TaskMap> with_reservations(Result<pm::TaskMap> map,
                                      const std::optional<pm::HostFile>& host_file,
                                      const Options& options) {
    if (map) map.value().reserved = pm::reservations_of(map.value(), host_file, options.reserved);
    return map;
}

void leave_out(const std::vector<std::string>& avoided, pm::Pools& pools) {
    for (auto& [pool, nodes] : pools.nodes)
        std::erase_if(nodes, [&](const std::string& node) {
            return std::find(avoided.begin(), avoided.end(), node) != avoided.end();
        });
}

Result<pm::TaskMap> map_from_pools(const Options& options,
                                   const std::optional<pm::HostFile>& host_file) {
    auto pools = pm::load_pools(options.pool_file);
    if (!pools) {
        UserError error = pools.error();
        error.expected =
            "pools are named there, or in the file that MP_POOLFILE names; with Slurm, "
            "-resd yes takes them for partitions";
        return error;
    }
    leave_out(options.avoided_nodes, pools.value());
    if (names_pools(host_file)) {
        const auto names = pm::allocate_from_pools(request_of(options), *host_file, pools.value());
        if (!names) return names.error();
        auto map =
            with_reservations(map_of(names.value(), host_file->path, options), host_file, options);
        if (!map) return map;
        for (std::size_t task = 0; task < map.value().node_of_task.size(); ++task)
            map.value().pool_of_task.push_back(
                host_file->lines[std::min(task, host_file->lines.size() - 1)].name);
        return map;
    }
    const auto nodes = pm::nodes_of_pool(pools.value(), options.pool);
    if (!nodes) return nodes.error();
    const auto names = pm::allocate(request_of(options), nodes.value(), "pool " + options.pool);
    if (!names) return names.error();
    auto map = with_reservations(map_of(names.value(), "pool " + options.pool, options),
                                 std::nullopt, options);
    if (map) map.value().pool_of_task.assign(map.value().node_of_task.size(), options.pool);
    return map;
}

Result<pm::TaskMap> map_in_slurm(Options& options, const pm::SlurmAllocation& allocation,
                                 const Diagnostics& diagnostics) {
    const std::vector<std::string> nodes = pm::slurm_nodes(allocation);
    if (options.source("procs") == Source::kDefault && options.nodes == 0)
        options.procs = allocation.tasks > 0 ? allocation.tasks : static_cast<TaskId>(nodes.size());
    if (options.source("MP_REMOTE_SHELL") == Source::kDefault)
        options.remote_shell = pm::slurm_remote_shell();
    diagnostics.info(kAllocated, "taking the nodes of Slurm's job " + allocation.job + ": " +
                                     allocation.node_list);
    const std::string source = "Slurm's job " + allocation.job;
    const auto names = pm::allocate(request_of(options), nodes, source);
    if (!names) return names.error();
    return with_reservations(map_of(names.value(), source, options), std::nullopt, options);
}

// True if the nodes of this process's allocation are to be used: the user has neither named other
// nodes nor specified -resd no.
bool wants_allocation(const Options& options, const std::optional<pm::HostFile>& host_file) {
    if (options.resource_manager) return true;
    return options.source("resd") == Source::kDefault && !host_file &&
           options.host_file_use == pm::HostFileUse::kDefault && options.pool.empty();
}

void notice_ignored_host_file(const std::optional<pm::HostFile>& file, const std::string& chooser,
                              const Diagnostics& diagnostics) {
    if (!file || names_pools(file)) return;
    diagnostics.attention(kAttention, "the host file " + file->path +
                                          " is ignored: with -resd yes " + chooser +
                                          " chooses the nodes");
}

// Old scripts name a pool everywhere, even where there are no pools. If there is no pools file, the
// pool is ignored, provided that nodes can be found in another way: by a host file, or because of
// -resd no.
void drop_unknown_pool(Options& options, const Diagnostics& diagnostics) {
    if (options.pool.empty() || options.source("MP_POOLFILE") != Source::kDefault ||
        pm::file_exists(options.pool_file))
        return;
    const bool has_host_file = options.host_file_use == pm::HostFileUse::kGiven ||
                               (options.host_file_use == pm::HostFileUse::kDefault &&
                                pm::file_exists(pm::kDefaultHostFile));
    const bool no_manager = options.source("resd") != Source::kDefault && !options.resource_manager;
    if (!has_host_file && !no_manager) return;
    diagnostics.attention(
        kAttention, options.origin("rmpool") + " " + in_quotes(options.pool) +
                        " is ignored: there is no pools file " + options.pool_file + ", and " +
                        (has_host_file ? "a host file names the nodes" : "-resd is no"));
    options.pool.clear();
}

Result<pm::TaskMap> map_in_loadleveler(Options& options,
                                       const pm::LoadLevelerAllocation& allocation) {
    if (options.source("procs") == Source::kDefault && options.nodes == 0)
        options.procs =
            allocation.tasks > 0 ? allocation.tasks : static_cast<TaskId>(allocation.nodes.size());
    const auto names = pm::nodes_of_tasks(allocation, request_of(options));
    if (!names) return names.error();
    return with_reservations(map_of(names.value(), allocation.source, options), std::nullopt,
                             options);
}

}  // namespace

Result<pm::TaskMap> find_nodes(Options& options, const pm::GetVariable& variable,
                               const Diagnostics& diagnostics) {
    drop_unknown_pool(options, diagnostics);
    const auto host_file = host_file_of(options);
    if (!host_file) return host_file.error();
    if (wants_allocation(options, host_file.value())) {
        if (const auto allocation = pm::slurm_allocation(variable)) {
            notice_ignored_host_file(host_file.value(), "Slurm", diagnostics);
            return map_in_slurm(options, *allocation, diagnostics);
        }
        const auto allocation = pm::loadleveler_allocation(variable);
        if (!allocation) return allocation.error();
        if (allocation.value()) {
            notice_ignored_host_file(host_file.value(), "LoadLeveler", diagnostics);
            return map_in_loadleveler(options, *allocation.value());
        }
    }
    if (names_pools(host_file.value()) || (!host_file.value() && !options.pool.empty()))
        return map_from_pools(options, host_file.value());
    if (!host_file.value())
        if (auto trouble = more_than_this_node(options)) return *trouble;
    if (host_file.value() && (options.nodes > 0 || options.tasks_per_node > 0))
        diagnostics.attention(kAttention, "-nodes and -tasks_per_node are ignored: the host file " +
                                              host_file.value()->path +
                                              " names the node of each task");
    return with_reservations(pm::make_task_map(options.procs, host_file.value(),
                                               pm::local_host_name(), pm::find_this_node),
                             host_file.value(), options);
}

Result<std::optional<Handover>> hand_over(const Options& options, const pm::GetVariable& variable,
                                          const std::string& poe,
                                          const std::vector<std::string>& arguments) {
    const bool inside = pm::slurm_allocation(variable) || pm::loadleveler_names_nodes(variable);
    // A dry run is not queued. It shows a correct map only if the nodes have been allocated.
    const bool batch = options.batch && !options.dry_run;
    const bool resource_manager = options.resource_manager || options.batch;
    if (!batch && (!resource_manager || inside)) return std::optional<Handover>();
    const auto host_file = host_file_of(options);
    if (!host_file) return host_file.error();
    std::string pool = options.pool;
    if (names_pools(host_file.value())) {
        const auto& lines = host_file.value()->lines;
        pool = lines[0].name;
        for (const pm::HostLine& line : lines)
            if (line.name != pool)
                return UserError{host_file.value()->path,
                                 line.line,
                                 line.column,
                                 "a second pool, " + in_quotes("@" + line.name),
                                 "expected one: Slurm gives nodes of one partition to a job",
                                 0};
    }
    pm::Command words{poe};
    // Without an explicit -resd, a pool would be looked up in the pools file, and a host file would
    // determine the nodes.
    if (options.batch && options.source("resd") == Source::kDefault)
        words.insert(words.end(), {"-resd", "yes"});
    bool batch_left = options.batch;
    for (const std::string& word : arguments) {
        if (batch_left && (word == "-batch" || word == "--batch")) {
            batch_left = false;
            continue;
        }
        words.push_back(word);
    }
    const bool wait = options.retry_until_ready || options.retry.count() > 0;
    if (batch)
        return std::optional(
            Handover{pm::slurm_sbatch(request_of(options), pool), pm::slurm_batch_script(words)});
    return std::optional(Handover{pm::slurm_salloc(request_of(options), pool, wait, words), ""});
}

}  // namespace poe::cli
