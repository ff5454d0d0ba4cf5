// The messages between pmd and its helper pmd-pmix over their socketpair: plain structs, each sent
// as a 4-byte little-endian length and a CBOR array. Both programs come from one build and
// communicate only with each other. Nevertheless, bytes that cannot be decoded are an error, never
// undefined behaviour.
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

// pmd -> helper, first message: the job, and the environment that its tasks were or will be given.
struct PmixStart {
    PmixJob job;
    Environment promised;
    bool promise_given = false;
    bool shared_store = false;  // link the shared store to the promised place
};

// helper -> pmd: tasks are being served. The environment is the one that the library gives tasks
// (without PMIX_RANK), with the address that pmd has promised.
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

// helper -> pmd: a task has called PMIx_Abort or MPI_Abort. The job must end with this status.
struct PmixAbort {
    TaskId task = 0;
    int status = 0;
    std::string text;
};

// helper -> pmd (PmixFence): this node's part of a fence over several nodes. pmd -> helper
// (PmixFenced): the parts of all nodes.
struct PmixFence {
    std::string key;  // names the participants
    std::uint32_t nodes = 0;
    std::string data;
    std::vector<std::string> jobs = {};  // as in KeyExchangePart
};
struct PmixFenced {
    std::string key;
    std::string data;
};

// Both directions: a message between the helper and poe, or a helper on another node. pmd forwards
// it unchanged (KeyRequest, KeyReply, NameRequest, NameReply, SpawnTasks, TasksSpawned,
// JobAnnounced).
struct PmixPassed {
    Message message;
};

// pmd -> helper: a task has ended without PMIx_Finalize. Tasks that have registered for this event
// are notified.
struct PmixPeerLost {
    TaskId task = 0;
};

// helper -> pmd: a message for the user (severity ATTENTION).
struct PmixAttention {
    std::string text;
};

// helper -> pmd, or created by pmd if the helper dies: PMIx is not available (any more).
struct PmixFailed {
    std::string text;
};

using PmixMessage =
    std::variant<PmixStart, PmixReady, PmixConnected, PmixFinalized, PmixAbort, PmixAttention,
                 PmixFailed, PmixFence, PmixFenced, PmixPassed, PmixPeerLost>;

// Returns the encoded message, preceded by its length.
std::string pmix_encode(const PmixMessage& message);

// Assembles messages from bytes as they arrive. Not thread-safe.
class PmixDecoder {
  public:
    static constexpr std::size_t kMaxMessage = 256U << 20;

    void append(std::string_view bytes) { buffer_.append(bytes); }

    // Returns the next complete message, or nothing if it has not arrived completely. Throws Error
    // if the bytes are not a message.
    std::optional<PmixMessage> next();

  private:
    std::string buffer_;
    std::size_t taken_ = 0;  // bytes at the front that have been decoded
};

}  // namespace poe::pm
