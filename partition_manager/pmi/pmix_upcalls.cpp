// The server module. A function that answers at once returns PMIX_OPERATION_SUCCEEDED. A function
// that answers by a callback must return before the callback is called, so it posts.
#include "partition_manager/pmi/pmix_upcalls.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pmix.h>

#include "base/check.hpp"
#include "base/error.hpp"
#include "partition_manager/pmi/pmix_info.hpp"
#include "partition_manager/pmi/pmix_names.hpp"
#include "partition_manager/pmi/pmix_spawn.hpp"

namespace poe::pm {

namespace {

// A request that waits for data from other nodes.
struct Waiting {
    pmix_modex_cbfunc_t answer;
    void* request;
};

// A request to start tasks.
struct Spawning {
    pmix_spawn_cbfunc_t answer;
    void* request;
};

struct Context {
    PmixOutlet outlet;
    std::string nspace;
    TaskId first;  // the number by which users know task 0
    std::mutex jobs_mutex;
    // By namespace: this job and the other jobs of the same poe.
    std::map<std::string, JobSummary> jobs;
    // Only for the program's own event loop:
    std::map<std::string, std::function<void(const PmixFenced&)>> fences;
    // By ReplyTo::request.
    std::map<std::uint32_t, Waiting> fetches;
    // By ReplyTo::request.
    std::map<std::uint32_t, std::function<void(const NameReply&)>> questions;
    // By ReplyTo::request.
    std::map<std::uint32_t, Spawning> spawnings;
    std::uint32_t last_request = 0;
};

// libpmix's C API has one server per process and passes no user pointer to its functions.
Context* context = nullptr;

// Only for the program's own event loop.
std::uint32_t next_request() {
    context->last_request = (context->last_request + 1) % kPmi1Requests;
    return context->last_request;
}

TaskId task_of(const pmix_proc_t* proc) {
    return static_cast<TaskId>(proc->rank);
}

void tell(PmixMessage message) {
    context->outlet.post(
        [message = std::move(message)]() mutable { context->outlet.send(std::move(message)); });
}

// Answers the task after pmd has been informed, so that nothing that the task does next, such as
// exit, can overtake the message.
pmix_status_t tell_first(PmixMessage message, pmix_op_cbfunc_t answer, void* request) {
    context->outlet.post([=, message = std::move(message)]() mutable {
        context->outlet.send(std::move(message));
        answer(PMIX_SUCCESS, request);
    });
    return PMIX_SUCCESS;
}

pmix_status_t client_connected(const pmix_proc_t* proc, void*, pmix_info_t*, size_t,
                               pmix_op_cbfunc_t, void*) {
    tell(PmixConnected{task_of(proc)});
    return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t client_finalized(const pmix_proc_t* proc, void*, pmix_op_cbfunc_t answer,
                               void* request) {
    return tell_first(PmixFinalized{task_of(proc)}, answer, request);
}

// The whole job ends, even if the request names only some tasks. Open MPI passes "N/A" if there is
// no message.
pmix_status_t abort_job(const pmix_proc_t* proc, void*, int status, const char* message,
                        pmix_proc_t*, size_t, pmix_op_cbfunc_t answer, void* request) {
    const std::string_view said = message != nullptr ? message : "";
    return tell_first(PmixAbort{task_of(proc), status, std::string(said == "N/A" ? "" : said)},
                      answer, request);
}

void give_answer(const Waiting& waiting, pmix_status_t status, const std::string& bytes) {
    char* data = static_cast<char*>(std::malloc(std::max<std::size_t>(bytes.size(), 1)));
    if (data == nullptr)
        return waiting.answer(PMIX_ERR_NOMEM, nullptr, 0, waiting.request, nullptr, nullptr);
    std::copy(bytes.begin(), bytes.end(), data);
    waiting.answer(status, data, bytes.size(), waiting.request, &std::free, data);
}

std::optional<JobSummary> find_job(const std::string& nspace) {
    const std::lock_guard lock(context->jobs_mutex);
    const auto at = context->jobs.find(nspace);
    return at == context->jobs.end() ? std::nullopt : std::optional(at->second);
}

// The participants of a collective operation: a text that is the same on all nodes, and the number
// of their nodes. The text identifies the operation, because the same tasks can repeat it only
// after it has completed.
struct Parties {
    std::string words;
    std::uint32_t nodes = 0;
    std::vector<std::string> jobs;  // set if the participants belong to several jobs
};

Parties of_one_job(const JobSummary& job, const std::set<pmix_rank_t>& ranks) {
    Parties parties;
    std::set<NodeIndex> nodes;
    for (const pmix_rank_t rank : ranks)
        if (rank < job.node_of_task.size()) nodes.insert(job.node_of_task[rank]);
    const bool all = ranks.empty() || ranks.contains(PMIX_RANK_WILDCARD) ||
                     ranks.size() == job.node_of_task.size();
    parties.nodes = static_cast<std::uint32_t>(all ? job.nodes.size() : nodes.size());
    if (all) parties.words = " all";
    for (const pmix_rank_t rank : ranks)
        if (!all) parties.words += " " + std::to_string(rank);
    return parties;
}

// Returns nothing if a job is unknown.
std::optional<Parties> parties_of(const pmix_proc_t* procs, size_t count) {
    std::map<std::string, std::set<pmix_rank_t>> ranks;
    for (size_t i = 0; i < count; ++i) ranks[procs[i].nspace].insert(procs[i].rank);
    if (ranks.empty()) ranks[context->nspace];
    Parties parties;
    for (const auto& [nspace, of_job] : ranks) {
        const auto job = find_job(nspace);
        if (!job) return std::nullopt;
        const Parties some = of_one_job(*job, of_job);
        parties.nodes += some.nodes;
        if (ranks.size() > 1) {
            parties.jobs.push_back(job->id);
            parties.words += " " + job->id + ":";
        }
        parties.words += some.words;
    }
    return parties;
}

// If all tasks are on one node, their own contribution is the result. As a rule libpmix completes
// such fences itself and does not call this function.
pmix_status_t fence(const pmix_proc_t* procs, size_t count, const pmix_info_t*, size_t, char* data,
                    size_t size, pmix_modex_cbfunc_t answer, void* request) {
    const auto parties = parties_of(procs, count);
    if (parties && parties->nodes < 2) {
        context->outlet.post([=] { answer(PMIX_SUCCESS, data, size, request, &std::free, data); });
        return PMIX_SUCCESS;
    }
    PmixFence part;
    if (data != nullptr) part.data.assign(data, size);
    std::free(data);
    if (!parties) return PMIX_ERR_NOT_FOUND;
    part.key = "fence of" + parties->words;
    part.nodes = parties->nodes;
    part.jobs = parties->jobs;
    context->outlet.post([=, part = std::move(part)]() mutable {
        context->fences[part.key] = [=](const PmixFenced& fenced) {
            give_answer({answer, request}, PMIX_SUCCESS, fenced.data);
        };
        context->outlet.send(std::move(part));
    });
    return PMIX_SUCCESS;
}

// libpmix itself answers for local tasks, so the task is on another node.
pmix_status_t direct_modex(const pmix_proc_t* proc, const pmix_info_t*, size_t,
                           pmix_modex_cbfunc_t answer, void* request) {
    const auto job = find_job(proc->nspace);
    if (!job || proc->rank >= job->node_of_task.size()) return PMIX_ERR_NOT_FOUND;
    context->outlet.post([=, id = job->id, task = task_of(proc)] {
        const std::uint32_t number = next_request();
        context->fetches[number] = {answer, request};
        context->outlet.send(PmixPassed{KeyRequest{id, task, {{}, 0, number}}});
    });
    return PMIX_SUCCESS;
}

// poe answers at some later time. The program's own event loop then calls `take`.
void ask_names(NameRequest ask, std::function<void(const NameReply&)> take) {
    context->outlet.post([ask = std::move(ask), take = std::move(take)]() mutable {
        ask.asker.request = next_request();
        context->questions[ask.asker.request] = std::move(take);
        context->outlet.send(PmixPassed{std::move(ask)});
    });
}

pmix_status_t change_names(NameRequest ask, pmix_op_cbfunc_t answer, void* request) {
    ask_names(std::move(ask),
              [=](const NameReply& tell) { answer(pmix_status_of(tell.status), request); });
    return PMIX_SUCCESS;
}

// If the request is invalid, the user is informed and the task gets an error.
template <typename Ask>
pmix_status_t ask_or_refuse(const pmix_proc_t& proc, Ask ask) {
    try {
        return ask();
    } catch (const Error& error) {
        tell(PmixAttention{"task " + std::to_string(context->first + task_of(&proc)) +
                           " publishes or looks up what cannot be: " + error.what()});
        return PMIX_ERR_BAD_PARAM;
    }
}

pmix_status_t publish(const pmix_proc_t* proc, const pmix_info_t* info, size_t count,
                      pmix_op_cbfunc_t answer, void* request) {
    return ask_or_refuse(
        *proc, [&] { return change_names(pmix_publish(*proc, info, count), answer, request); });
}

pmix_status_t look_up(const pmix_proc_t* proc, char** keys, const pmix_info_t* info, size_t count,
                      pmix_lookup_cbfunc_t answer, void* request) {
    return ask_or_refuse(*proc, [&] {
        ask_names(pmix_look_up(keys, info, count), [=](const NameReply& tell) {
            PmixFound found(tell);
            answer(pmix_status_of(tell.status), found.data.empty() ? nullptr : found.data.data(),
                   found.data.size(), request);
        });
        return PMIX_SUCCESS;
    });
}

pmix_status_t unpublish(const pmix_proc_t* proc, char** keys, const pmix_info_t*, size_t,
                        pmix_op_cbfunc_t answer, void* request) {
    return ask_or_refuse(*proc,
                         [&] { return change_names(pmix_withdraw(*proc, keys), answer, request); });
}

pmix_status_t spawn_tasks(const pmix_proc_t* proc, const pmix_info_t* info, size_t count,
                          const pmix_app_t* apps, size_t app_count, pmix_spawn_cbfunc_t answer,
                          void* request) {
    try {
        context->outlet.post(
            [=, ask = pmix_spawn_request(*proc, info, count, apps, app_count)]() mutable {
                ask.asker.request = next_request();
                context->spawnings[ask.asker.request] = {answer, request};
                context->outlet.send(PmixPassed{std::move(ask)});
            });
        return PMIX_SUCCESS;
    } catch (const Error& error) {
        tell(PmixAttention{"task " + std::to_string(context->first + task_of(proc)) +
                           " asked to start more tasks (MPI_Comm_spawn) by a request that " +
                           error.what()});
        return PMIX_ERR_NOT_SUPPORTED;
    }
}

// A barrier of tasks of one job or of several. No state is kept, because all tasks end together
// anyway.
pmix_status_t meet(const char* what, const pmix_proc_t* procs, size_t count,
                   pmix_op_cbfunc_t answer, void* request) {
    const auto parties = parties_of(procs, count);
    if (!parties) return PMIX_ERR_NOT_FOUND;
    if (parties->nodes < 2) return PMIX_OPERATION_SUCCEEDED;
    context->outlet.post(
        [=, part = PmixFence{what + parties->words, parties->nodes, {}, parties->jobs}]() mutable {
            context->fences[part.key] = [=](const PmixFenced&) { answer(PMIX_SUCCESS, request); };
            context->outlet.send(std::move(part));
        });
    return PMIX_SUCCESS;
}

pmix_status_t connect_tasks(const pmix_proc_t* procs, size_t count, const pmix_info_t*, size_t,
                            pmix_op_cbfunc_t answer, void* request) {
    return meet("connection of", procs, count, answer, request);
}

pmix_status_t disconnect_tasks(const pmix_proc_t* procs, size_t count, const pmix_info_t*, size_t,
                               pmix_op_cbfunc_t answer, void* request) {
    return meet("disconnection of", procs, count, answer, request);
}

// This program creates no events for which tasks could register, and libpmix has already delivered
// a task's event on this node when it calls this.
pmix_status_t register_events(pmix_status_t*, size_t, const pmix_info_t*, size_t, pmix_op_cbfunc_t,
                              void*) {
    return PMIX_OPERATION_SUCCEEDED;
}
pmix_status_t deregister_events(pmix_status_t*, size_t, pmix_op_cbfunc_t, void*) {
    return PMIX_OPERATION_SUCCEEDED;
}
pmix_status_t notify_event(pmix_status_t, const pmix_proc_t*, pmix_data_range_t, pmix_info_t*,
                           size_t, pmix_op_cbfunc_t, void*) {
    return PMIX_OPERATION_SUCCEEDED;
}

// Runs on libpmix's thread, which owns `data`.
void on_fetched(pmix_status_t status, char* data, size_t size, void* asked) {
    const std::unique_ptr<KeyRequest> ask(static_cast<KeyRequest*>(asked));
    KeyReply keys{ask->asker, status, {}};
    if (data != nullptr) keys.data.assign(data, size);
    tell(PmixPassed{std::move(keys)});
}

}  // namespace

void finish_pmix_fence(const PmixFenced& fenced) {
    const auto waiting = context->fences.extract(fenced.key);
    if (waiting) waiting.mapped()(fenced);  // otherwise it belongs to no pending request
}

void fetch_pmix_keys(const KeyRequest& ask) {
    pmix_proc_t proc;
    PMIX_PROC_LOAD(&proc, context->nspace.c_str(), static_cast<pmix_rank_t>(ask.task));
    auto asked = std::make_unique<KeyRequest>(ask);
    const pmix_status_t status = PMIx_server_dmodex_request(&proc, on_fetched, asked.get());
    if (status == PMIX_SUCCESS)
        static_cast<void>(asked.release());  // on_fetched owns it
    else
        context->outlet.send(PmixPassed{KeyReply{ask.asker, status, {}}});
}

void finish_pmix_fetch(const KeyReply& keys) {
    const auto waiting = context->fetches.extract(keys.asker.request);
    if (waiting) give_answer(waiting.mapped(), keys.status, keys.data);
}

void finish_pmix_names(const NameReply& tell) {
    const auto asked = context->questions.extract(tell.asker.request);
    if (asked) asked.mapped()(tell);
}

void finish_pmix_spawn(const TasksSpawned& spawned) {
    const auto asked = context->spawnings.extract(spawned.asker.request);
    if (!asked) return;
    const Spawning& spawning = asked.mapped();
    pmix_nspace_t nspace;
    PMIX_LOAD_NSPACE(nspace, spawned.job.empty() ? "" : pmix_nspace(spawned.job).c_str());
    spawning.answer(spawned.job.empty() ? PMIX_ERR_JOB_FAILED_TO_LAUNCH : PMIX_SUCCESS, nspace,
                    spawning.request);
}

void know_pmix_job(const JobSummary& job) {
    const std::lock_guard lock(context->jobs_mutex);
    context->jobs[pmix_nspace(job.id)] = job;
}

void announce_lost_peer(const PmixPeerLost& lost) {
    pmix_proc_t source;
    PMIX_PROC_LOAD(&source, context->nspace.c_str(), static_cast<pmix_rank_t>(lost.task));
    // The library uses it until it calls back.
    auto* info = new pmix_info_t;
    bool yes = true;
    PMIX_INFO_CONSTRUCT(info);
    PMIX_INFO_LOAD(info, PMIX_EVENT_NON_DEFAULT, &yes, PMIX_BOOL);
    const auto forget = [](pmix_status_t, void* data) { delete static_cast<pmix_info_t*>(data); };
    const pmix_status_t status = PMIx_Notify_event(PMIX_ERR_PROC_TERM_WO_SYNC, &source,
                                                   PMIX_RANGE_LOCAL, info, 1, forget, info);
    if (status != PMIX_SUCCESS) forget(status, info);
}

pmix_server_module_t pmix_upcalls(PmixOutlet outlet, const PmixJob& job) {
    POE_CHECK(context == nullptr);
    context = new Context;  // lives as long as the process
    context->outlet = std::move(outlet);
    context->nspace = job.nspace;
    context->first = job.first;
    context->jobs[job.nspace] = {job.job_id, job.nodes, job.node_of_task, job.appnum_of_task};
    for (const JobSummary& other : job.others) context->jobs[pmix_nspace(other.id)] = other;
    pmix_server_module_t module = {};
    module.client_connected2 = client_connected;
    module.client_finalized = client_finalized;
    module.abort = abort_job;
    module.fence_nb = fence;
    module.direct_modex = direct_modex;
    module.publish = publish;
    module.lookup = look_up;
    module.unpublish = unpublish;
    module.spawn = spawn_tasks;
    module.connect = connect_tasks;
    module.disconnect = disconnect_tasks;
    module.register_events = register_events;
    module.deregister_events = deregister_events;
    module.notify_event = notify_event;
    return module;
}

}  // namespace poe::pm
