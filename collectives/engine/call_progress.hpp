// CallProgress: the path of the blocking collective call that a task is in, and the round of its
// schedule. Watchers see both if the call waits for long (comm/progress/wait.hpp); the trace has a
// record for each change. An inner call, such as a part of a hierarchical call, sets the rounds
// only if the outer call has none.
//
// For the thread that has the turn. If several threads may call MPI at the same time, the progress
// of calls is not recorded: it is kept for one call and the calls within it, but calls of two
// threads overlap in any order.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/collective_progress.hpp"
#include "comm/bootstrap/runtime.hpp"
#include "tracer/probe/process_context.hpp"

namespace poe::collectives {

class CallProgress {
  public:
    explicit CallProgress(comm::Runtime& runtime) noexcept : now_(runtime.collective_progress()) {}
    CallProgress(const CallProgress&) = delete;
    CallProgress& operator=(const CallProgress&) = delete;

    // Exists as long as a call on a path is under way.
    class Scope {
      public:
        Scope(CallProgress& progress, CollectivePath path) noexcept
            : progress_(progress), outer_(progress.now_.path == CollectivePath::kUnknown) {
            if (outer_) progress_.begin(path);
        }
        ~Scope() {
            if (outer_) progress_.now_ = {};
        }
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;

      private:
        CallProgress& progress_;
        const bool outer_;
    };

    // A schedule of `rounds` rounds begins. `algorithm`, the name of the algorithm that made it,
    // must outlive the call.
    void begin_rounds(const std::string& algorithm, std::uint32_t rounds) noexcept {
        now_.round = 0;
        now_.rounds = rounds;
        algorithm_ = &algorithm;
    }
    // `round` counts from 0. Does nothing in the round that is under way already.
    void reach(std::uint32_t round) noexcept {
        if (now_.round == round + 1) return;
        now_.round = round + 1;
        if (process_context().tracer.on()) [[unlikely]]
            record();
    }

  private:
    void begin(CollectivePath path) noexcept {
        if (process_context().many_threads.load(std::memory_order_relaxed)) return;
        now_.path = path;
        if (process_context().tracer.on() && path != CollectivePath::kSchedule) [[unlikely]]
            record();
    }
    [[gnu::cold]] void record() noexcept {
        if (now_.path == CollectivePath::kUnknown) return;
        std::string_view name = collective_path_name(now_.path);
        if (now_.path == CollectivePath::kSchedule && algorithm_ != nullptr && !algorithm_->empty())
            name = *algorithm_;
        process_context().tracer.carried_out(name, now_.round, now_.rounds);
    }

    CollectiveProgress& now_;
    const std::string* algorithm_ = nullptr;
};

}  // namespace poe::collectives
