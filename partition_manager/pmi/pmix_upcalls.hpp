// What libpmix asks of its host: the functions of its server module. They run on libpmix's one
// thread, so that none of them waits for anything; what takes an answer later, or goes to pmd, is
// posted to the program's own loop.
#pragma once

#include <functional>

#include <pmix_server.h>

#include "partition_manager/pmi/pmix_messages.hpp"

namespace poe::pm {

// The way out of libpmix's thread.
struct PmixOutlet {
    // Has the function called soon by the program's own loop. Thread-safe, does not block.
    std::function<void(std::function<void()>)> post;
    // Sends to pmd (PmixConnected, PmixFinalized, PmixAbort, PmixAttention and so on). Called by
    // that loop.
    std::function<void(PmixMessage)> send;
};

// The module for PMIx_server_init. libpmix hands its functions no context, so that there is one
// per process: to be called once.
pmix_server_module_t pmix_upcalls(PmixOutlet outlet, const PmixJob& job);

// A fence over several nodes is complete: answers it. For the program's own loop, as are the next.
void finish_pmix_fence(const PmixFenced& fenced);

// Another node asks for what a task of this one has put: KeyReply is sent when it has.
void fetch_pmix_keys(const KeyRequest& ask);
// Another node has answered.
void finish_pmix_fetch(const KeyReply& keys);
// poe has answered a question about names.
void finish_pmix_names(const NameReply& tell);
// poe has started tasks, or has not.
void finish_pmix_spawn(const TasksSpawned& spawned);
// Another job runs beside this one. Any thread.
void know_pmix_job(const JobSummary& job);

// Tells the tasks of this node that have registered for PMIX_ERR_PROC_TERM_WO_SYNC, and no others:
// MPI libraries take part in all events that are not asked for by name.
void announce_lost_peer(const PmixPeerLost& lost);

}  // namespace poe::pm
