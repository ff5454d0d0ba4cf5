// The start of the server, and the job's facts under libpmix's keys.
#include "partition_manager/pmi/pmix_host.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <future>
#include <map>
#include <memory>
#include <sys/stat.h>

#include <pmix.h>
#include <pmix_server.h>

#include "base/error.hpp"
#include "partition_manager/pmi/pmix_info.hpp"

namespace poe::pm {

namespace {

constexpr std::chrono::seconds kAnswerDeadline{30};

void require(pmix_status_t status, const char* what) {
    if (status != PMIX_SUCCESS && status != PMIX_OPERATION_SUCCEEDED)
        throw Error(std::string("libpmix: ") + what + ": " + pmix_error_text(status));
}

// Makes a call that answers by a callback on libpmix's thread, and blocks until the answer arrives.
template <typename Call>
void wait_for(const char* what, Call call) {
    // The callback shares the ownership, because it may be called after this function has given up.
    auto* answer = new std::promise<pmix_status_t>();
    std::future<pmix_status_t> status = answer->get_future();
    const pmix_status_t started = call(
        [](pmix_status_t result, void* data) {
            const std::unique_ptr<std::promise<pmix_status_t>> owned(
                static_cast<std::promise<pmix_status_t>*>(data));
            owned->set_value(result);
        },
        static_cast<void*>(answer));
    if (started != PMIX_SUCCESS) {
        delete answer;
        return require(started, what);
    }
    if (status.wait_for(kAnswerDeadline) != std::future_status::ready)
        throw Error(std::string("libpmix: ") + what + ": no answer");
    require(status.get(), what);
}

void make_directory(const std::string& path) {
    struct stat found = {};
    if (::mkdir(path.c_str(), 0700) == 0) return;
    if (errno != EEXIST || ::stat(path.c_str(), &found) != 0 || !S_ISDIR(found.st_mode))
        throw Error("making the directory " + path, errno);
}

JobSummary summary_of(const PmixJob& job) {
    return {job.job_id, job.nodes, job.node_of_task, job.appnum_of_task};
}

// "h0,h1" and "0,1;2,3": the names of all nodes, and the tasks of each node.
struct Maps {
    std::string nodes;
    std::string tasks;
};

Maps maps_of(const JobSummary& job) {
    std::vector<std::string> tasks(job.nodes.size());
    for (std::size_t task = 0; task < job.node_of_task.size(); ++task) {
        std::string& list = tasks.at(static_cast<std::size_t>(job.node_of_task[task]));
        list += (list.empty() ? "" : ",") + std::to_string(task);
    }
    Maps maps;
    for (std::size_t node = 0; node < job.nodes.size(); ++node) {
        maps.nodes += (node == 0 ? "" : ",") + job.nodes[node];
        maps.tasks += (node == 0 ? "" : ";") + tasks[node];
    }
    return maps;
}

std::uint32_t appnum_of(const JobSummary& job, std::size_t task) {
    return task < job.appnum_of_task.size() ? job.appnum_of_task[task] : 0;
}

// Returns the first task and the number of tasks of each program.
std::map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>> apps_of(const JobSummary& job) {
    std::map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>> apps;
    for (std::size_t task = 0; task < job.node_of_task.size(); ++task) {
        const auto at =
            apps.try_emplace(appnum_of(job, task), static_cast<std::uint32_t>(task), 0).first;
        ++at->second.second;
    }
    return apps;
}

void add_maps(const JobSummary& job, PmixInfo& info) {
    const Maps maps = maps_of(job);
    using Text = std::unique_ptr<char, decltype(&std::free)>;
    char* text = nullptr;
    require(PMIx_generate_regex(maps.nodes.c_str(), &text), "generate_regex");
    const Text nodes(text, &std::free);
    require(PMIx_generate_ppn(maps.tasks.c_str(), &text), "generate_ppn");
    const Text tasks(text, &std::free);
    info.add(PMIX_NODE_MAP, PmixRegex{nodes.get()});
    info.add(PMIX_PROC_MAP, PmixRegex{tasks.get()});
}

void add_apps(const JobSummary& job, PmixInfo& info) {
    for (const auto& [appnum, first_and_count] : apps_of(job)) {
        PmixInfo app;
        app.add(PMIX_APPNUM, appnum);
        app.add(PMIX_APP_SIZE, first_and_count.second);
        app.add(PMIX_APPLDR, PmixRank{first_and_count.first});
        info.add(PMIX_APP_INFO_ARRAY, std::move(app));
    }
}

void add_tasks(const JobSummary& job, PmixInfo& info) {
    std::vector<std::uint16_t> on_node(job.nodes.size(), 0);
    std::map<std::uint32_t, std::uint32_t> in_app;
    for (std::size_t task = 0; task < job.node_of_task.size(); ++task) {
        const auto rank = static_cast<pmix_rank_t>(task);
        const auto node = static_cast<std::size_t>(job.node_of_task[task]);
        const std::uint32_t appnum = appnum_of(job, task);
        const std::uint16_t local = on_node.at(node)++;
        PmixInfo facts;
        facts.add(PMIX_RANK, PmixRank{rank});
        facts.add(PMIX_GLOBAL_RANK, PmixRank{rank});
        facts.add(PMIX_APP_RANK, PmixRank{in_app[appnum]++});
        facts.add(PMIX_APPNUM, appnum);
        facts.add(PMIX_LOCAL_RANK, local);
        facts.add(PMIX_NODE_RANK, local);
        facts.add(PMIX_NODEID, static_cast<std::uint32_t>(node));
        facts.add(PMIX_HOSTNAME, job.nodes[node]);
        info.add(PMIX_PROC_DATA, std::move(facts));
    }
}

// Adds the facts about a job that are the same on all nodes.
void add_facts(const JobSummary& job, PmixInfo& info) {
    const auto size = static_cast<std::uint32_t>(job.node_of_task.size());
    info.add(PMIX_JOBID, job.id);
    info.add(PMIX_UNIV_SIZE, size);
    info.add(PMIX_MAX_PROCS, size);
    info.add(PMIX_JOB_SIZE, size);
    info.add(PMIX_JOB_NUM_APPS, static_cast<std::uint32_t>(apps_of(job).size()));
    info.add(PMIX_NUM_NODES, static_cast<std::uint32_t>(job.nodes.size()));
    add_maps(job, info);
    add_apps(job, info);
    add_tasks(job, info);
}

void register_nspace(const std::string& name, std::uint32_t local_tasks, PmixInfo& info) {
    wait_for("register_nspace", [&](pmix_op_cbfunc_t answer, void* data) {
        return PMIx_server_register_nspace(name.c_str(), static_cast<int>(local_tasks), info.data(),
                                           info.size(), answer, data);
    });
}

}  // namespace

PmixHost::PmixHost(PmixJob job, PmixOutlet outlet)
    : job_(std::move(job)), local_tasks_(job_.local_tasks()) {
    if (local_tasks_.empty()) throw Error("PMIx: no task of the job is on this node");
    make_directory(job_.pmix_directory());
    pmix_server_module_t module = pmix_upcalls(std::move(outlet), job_);
    PmixInfo info;
    info.add(PMIX_SERVER_NSPACE, job_.server_nspace());
    info.add(PMIX_SERVER_RANK, PmixRank{static_cast<pmix_rank_t>(job_.this_node)});
    info.add(PMIX_SERVER_TMPDIR, job_.pmix_directory());
    info.add(PMIX_HOSTNAME, job_.hostname());
    require(PMIx_server_init(&module, info.data(), info.size()), "server_init");
}

Environment PmixHost::start() {
    for (const JobSummary& other : job_.others) know(other);
    register_job();
    register_tasks();
    return ask_environment();
}

void PmixHost::register_job() {
    const auto local_size = static_cast<std::uint32_t>(local_tasks_.size());
    std::string peers;
    for (const TaskId task : local_tasks_)
        peers += (peers.empty() ? "" : ",") + std::to_string(task);
    PmixInfo info;
    add_facts(summary_of(job_), info);
    info.add(PMIX_NODEID, static_cast<std::uint32_t>(job_.this_node));
    info.add(PMIX_NODE_SIZE, local_size);
    info.add(PMIX_LOCAL_SIZE, local_size);
    info.add(PMIX_LOCAL_PEERS, peers);
    info.add(PMIX_LOCALLDR, PmixRank{static_cast<pmix_rank_t>(local_tasks_.front())});
    info.add(PMIX_TMPDIR, job_.pmix_directory());
    info.add(PMIX_NSDIR, job_.pmix_directory());
    if (!job_.parent.empty()) {
        pmix_proc_t parent;
        PMIX_PROC_LOAD(&parent, pmix_nspace(job_.parent).c_str(),
                       static_cast<pmix_rank_t>(job_.parent_task));
        info.add(PMIX_PARENT_ID, parent);
    }
    register_nspace(job_.nspace, local_size, info);
    PmixInfo none;
    wait_for("setup_local_support", [&](pmix_op_cbfunc_t answer, void* data) {
        return PMIx_server_setup_local_support(job_.nspace.c_str(), none.data(), 0, answer, data);
    });
}

// No task of that job is a client of this server, not even those on this node.
void PmixHost::know(const JobSummary& other) {
    PmixInfo info;
    add_facts(other, info);
    register_nspace(pmix_nspace(other.id), 0, info);
}

void PmixHost::register_tasks() {
    for (const TaskId task : local_tasks_) {
        pmix_proc_t proc;
        PMIX_PROC_LOAD(&proc, job_.nspace.c_str(), static_cast<pmix_rank_t>(task));
        wait_for("register_client", [&](pmix_op_cbfunc_t answer, void* data) {
            return PMIx_server_register_client(&proc, job_.uid, job_.gid, nullptr, answer, data);
        });
    }
}

Environment PmixHost::ask_environment() {
    pmix_proc_t proc;
    PMIX_PROC_LOAD(&proc, job_.nspace.c_str(), static_cast<pmix_rank_t>(local_tasks_.front()));
    char** entries = nullptr;
    require(PMIx_server_setup_fork(&proc, &entries), "setup_fork");
    Environment environment;
    for (char** entry = entries; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string text = *entry;
        const std::size_t equals = text.find('=');
        if (equals == std::string::npos || text.substr(0, equals) == "PMIX_RANK") continue;
        environment.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    }
    PMIX_ARGV_FREE(entries);
    return environment;
}

}  // namespace poe::pm
