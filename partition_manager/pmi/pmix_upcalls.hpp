// The functions of libpmix's server module, by which libpmix makes requests to its host. They run
// on libpmix's only thread, so none of them blocks. A function that answers later, or sends to pmd,
// posts to the program's own event loop.
#pragma once

#include <functional>

#include <pmix_server.h>

#include "partition_manager/pmi/pmix_messages.hpp"

namespace poe::pm {

// The connection from libpmix's thread to the program.
struct PmixOutlet {
    // The program's own event loop will call the function soon. Thread-safe; does not block.
    std::function<void(std::function<void()>)> post;
    // Sends to pmd (PmixConnected, PmixFinalized, PmixAbort, PmixAttention, ...). Called by the
    // program's own event loop.
    std::function<void(PmixMessage)> send;
};

// Returns the module for PMIx_server_init. libpmix passes no context to its functions, so there is
// one per process: call this once.
pmix_server_module_t pmix_upcalls(PmixOutlet outlet, const PmixJob& job);

// A fence over several nodes is complete; answers libpmix. Call this and the following functions
// from the program's own event loop.
void finish_pmix_fence(const PmixFenced& fenced);

// Another node requests what a task of this node has put. Sends KeyReply when the task has done so.
void fetch_pmix_keys(const KeyRequest& ask);
// Another node has answered.
void finish_pmix_fetch(const KeyReply& keys);
// poe has answered a request about names.
void finish_pmix_names(const NameReply& tell);
// poe has started tasks, or has failed to.
void finish_pmix_spawn(const TasksSpawned& spawned);
// Another job of the same poe runs. Any thread may call this.
void know_pmix_job(const JobSummary& job);

// Notifies the tasks of this node that have registered for PMIX_ERR_PROC_TERM_WO_SYNC, and no
// others, because MPI libraries receive all events that are not requested by name.
void announce_lost_peer(const PmixPeerLost& lost);

}  // namespace poe::pm
