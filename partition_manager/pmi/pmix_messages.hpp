// What pmd and its helper pmd-pmix say to each other over their socketpair: plain structs, each
// sent as a 4-byte little-endian length and a CBOR array. Both programs are of one build and talk
// only to each other, but what cannot be decoded is an error, never undefined.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "partition_manager/channel/messages.hpp"
#include "partition_manager/pmi/pmix_environment.hpp"

namespace poe::pm {

// pmd -> helper, first: the job, and what its tasks are told, or were already.
struct PmixStart {
    PmixJob job;
    Environment promised;
    bool promise_given = false;
    bool shared_store = false;  // let tasks find the shared store where they were promised it
};

// helper -> pmd: tasks are being served. The environment is what the library itself gives tasks
// (without PMIX_RANK), with the address that pmd promised.
struct PmixReady {
    Environment environment;
};

// helper -> pmd: a task has connected, or has called PMIx_Finalize.
struct PmixConnected {
    TaskId task = 0;
};
struct PmixFinalized {
    TaskId task = 0;
};

// helper -> pmd: a task called PMIx_Abort or MPI_Abort: end the job with this status.
struct PmixAbort {
    TaskId task = 0;
    int status = 0;
    std::string text;
};

// helper -> pmd: this node's part of a fence over several nodes. pmd -> helper: the parts of all.
struct PmixFence {
    std::string key;  // says who takes part
    std::uint32_t nodes = 0;
    std::string data;
    std::vector<std::string> jobs = {};  // as in Exchange
};
struct PmixFenced {
    std::string key;
    std::string data;
};

// What the helper has to say to poe, or to a helper elsewhere, and what they answer: pmd passes it
// on as it is (KeyRequest, KeyReply, NameRequest, NameReply, SpawnTasks, TasksSpawned, JobAnnounced).
struct PmixPassed {
    Message message;
};

// pmd -> helper: a task has ended without PMIx_Finalize. Those that want to know are told.
struct PmixPeerLost {
    TaskId task = 0;
};

// helper -> pmd: something a person should read (severity ATTENTION).
struct PmixAttention {
    std::string text;
};

// helper -> pmd, or made by pmd when the helper dies: PMIx is not to be had (any more).
struct PmixFailed {
    std::string text;
};

using PmixMessage =
    std::variant<PmixStart, PmixReady, PmixConnected, PmixFinalized, PmixAbort, PmixAttention,
                 PmixFailed, PmixFence, PmixFenced, PmixPassed, PmixPeerLost>;

// The message with its length before it.
std::string pmix_encode(const PmixMessage& message);

// Puts messages together from bytes as they arrive. Not thread-safe.
class PmixDecoder {
  public:
    static constexpr std::size_t kMaxMessage = 256U << 20;

    void append(std::string_view bytes) { buffer_.append(bytes); }

    // The next whole message, or nothing yet. Throws Error when the bytes are no message.
    std::optional<PmixMessage> next();

  private:
    std::string buffer_;
    std::size_t taken_ = 0;  // bytes at the front that were decoded already
};

}  // namespace poe::pm
