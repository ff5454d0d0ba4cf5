// How a call of MPI becomes visible: to watchers of the job while it waits (Shown), and in the
// trace (Noted). A body makes both after its arguments are resolved, and they end with it.
#pragma once

#include <cstdint>
#include <limits>

#include "comm/bootstrap/runtime.hpp"
#include "mpi/api/call.hpp"
#include "mpi/communicator/comm.hpp"
#include "tracer/probe/process_context.hpp"

namespace poe::mpi {

// What a call is about. The defaults stand for: no task in particular, no tag, no communicator, no
// request or several.
struct CallAbout {
    TaskId peer = TaskActivity::kAnyPeer;
    std::int32_t tag = TaskActivity::kNoType;
    Bytes bytes = 0;
    ContextId context = 0;
    std::int32_t request = 0;
};

// A call that all members of the communicator make. The number of its group takes the place of the
// tag, as in the collective calls of CCL.
inline CallAbout about_all_of(const Comm& comm) noexcept {
    return {TaskActivity::kAnyPeer, comm.group_number(), 0, comm.context, 0};
}

// Stands for the argument `root` of functions that have none.
inline constexpr int kNoRoot = std::numeric_limits<int>::min();

// Returns the facts of a collective call on `comm`. `root` is the argument of the call. On an
// intercommunicator, the root itself passes MPI_ROOT, the other members of its group pass
// MPI_PROC_NULL, and the members of the other group pass the rank of the root.
inline OperationFacts facts_of(const Comm& comm, int root,
                               DataFlow flow = DataFlow::kNone) noexcept {
    OperationFacts facts{.flow = flow};
    if (comm.is_inter() && root == MPI_ROOT)
        facts.root = comm.local->task(comm.rank);
    else if (root >= 0 && root < comm.peers().size())
        facts.root = comm.peers().task(root);
    facts.takes_part = !comm.is_inter() || root != MPI_PROC_NULL;
    return facts;
}

// Shows the call to watchers as long as it exists. Costs four stores.
class Shown {
  public:
    Shown(const Call& call, const CallAbout& about) noexcept
        : Shown(call.runtime(), call.function(), call.site(), about) {}
    Shown(comm::Runtime& runtime, Function function, const void* site,
          const CallAbout& about) noexcept
        : words_(runtime.doing()) {
        const TaskId peer = runtime.is_guest(about.peer) ? kTaskOfOtherJob : about.peer;
        words_.set(call_of(function), peer, about.tag, about.bytes, site, about.context,
                   static_cast<std::uint32_t>(about.request));
    }
    ~Shown() { words_.clear(); }
    Shown(const Shown&) = delete;
    Shown& operator=(const Shown&) = delete;

  private:
    TaskActivityWords& words_;
};

// Records the call in the trace from now until the end of this object. Costs two loads while the
// job is not traced.
class Noted {
  public:
    [[gnu::always_inline]] explicit Noted(const Call& call, const CallAbout& about = {}) noexcept {
        if (process_context().tracer.on()) [[unlikely]]
            enter(call, about);
    }
    ~Noted() {
        if (region_ != 0) [[unlikely]]
            process_context().tracer.leave(region_, bytes_);
    }
    Noted(const Noted&) = delete;
    Noted& operator=(const Noted&) = delete;

    // The call is part of a collective operation of this communicator; `number` is that of
    // Comm::operations.
    void collective(const Comm& comm, std::uint32_t number, trace::Phase phase,
                    OperationFacts facts = {}) noexcept {
        if (region_ != 0 && facts.takes_part) [[unlikely]]
            record_collective(comm, number, phase, facts);
    }

    // The bytes that the call has moved, for its end.
    void moved(Bytes bytes) noexcept { bytes_ = bytes; }

  private:
    [[gnu::cold]] void enter(const Call& call, const CallAbout& about) noexcept;
    [[gnu::cold]] void record_collective(const Comm& comm, std::uint32_t number, trace::Phase phase,
                                         OperationFacts facts) noexcept;

    std::uint32_t region_ = 0;  // 0: not recorded
    Bytes bytes_ = 0;
};

// Both, for a call that blocks.
class VisibleCall {
  public:
    VisibleCall(const Call& call, const CallAbout& about) noexcept
        : noted_(call, about), shown_(call, about) {}

  protected:
    Noted noted_;

  private:
    Shown shown_;
};

// A collective operation of this communicator that blocks, and in which every member takes part.
// `root`: the argument of that name.
class VisibleCollective : public VisibleCall {
  public:
    VisibleCollective(const Call& call, Comm& comm, int root = kNoRoot) noexcept
        : VisibleCall(call, about_all_of(comm)) {
        noted_.collective(comm, comm.operations++, trace::Phase::kWhole, facts_of(comm, root));
    }
    // The bytes of the vector or of a block.
    void moved(Bytes bytes) noexcept { noted_.moved(bytes); }
};

}  // namespace poe::mpi
