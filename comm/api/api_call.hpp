// The common part of all C entry points: finds the runtime, excludes other threads, publishes the
// current call in the task's slot, and reports an error once, as text, in mperrno and as -1.
#pragma once

#include <cstdint>
#include <string>

#include "base/segment/task_activity.hpp"
#include "comm/api/caller.hpp"
#include "comm/bootstrap/error_numbers.hpp"
#include "comm/bootstrap/process_runtime.hpp"
#include "comm/bootstrap/runtime.hpp"
#include "tracer/probe/process_context.hpp"

// Exports a function from the library; everything else is hidden.
#define MPL_EXPORT __attribute__((visibility("default")))

namespace poe::comm {

// A local variable of an entry point, declared after its Caller. One thread at a time: for a second
// thread ready() is false, but the progress thread and the task wait for each other
// (runtime_lock.hpp). At the end of every call, the destructor calls the handlers of mpc_rcvncall
// that are due.
class ApiCall {
  public:
    explicit ApiCall(const Caller& caller) noexcept
        : caller_(caller), runtime_(the_runtime()), entry_(runtime_.turn().enter()) {}
    explicit ApiCall(Caller&&) = delete;  // a temporary would be destroyed too early
    ~ApiCall() {
        if (entry_ == RuntimeLock::Entry::kRefused) [[unlikely]]
            return;
        if (said_) runtime_.doing().clear();
        if (traced_ != 0) [[unlikely]]
            process_context().tracer.leave(traced_, moved_);
        if (runtime_.handlers_due()) [[unlikely]]
            runtime_.call_handlers();
        if (entry_ == RuntimeLock::Entry::kEntered) [[likely]]
            runtime_.turn().leave();
    }
    ApiCall(const ApiCall&) = delete;
    ApiCall& operator=(const ApiCall&) = delete;

    // False: the entry point must return refuse_unready().
    bool ready() const noexcept {
        return entry_ != RuntimeLock::Entry::kRefused && runtime_.failure().empty();
    }
    int refuse_unready() const;

    Runtime& runtime() const noexcept { return runtime_; }

    void doing(Call call, TaskId peer, std::int32_t type, Bytes bytes) noexcept {
        runtime_.doing().set(call, peer, type, bytes, caller_.site);
        said_ = true;
        note(call, peer, type, bytes);
    }

    // Records the start of the call in the trace, once; doing() does so too. `bytes`: the bytes
    // that the call moves, if known already.
    void note(Call call, TaskId peer, std::int32_t type, Bytes bytes) noexcept {
        note_region(static_cast<std::uint32_t>(call), peer, type, bytes);
    }
    // Like note(), but for the nonblocking form of a collective call.
    void note_non_blocking(Call call, std::int32_t group, Bytes bytes) noexcept {
        note_region(trace::kNonBlocking + static_cast<std::uint32_t>(call), TaskActivity::kAnyPeer,
                    group, bytes);
    }
    bool traced() const noexcept { return traced_ != 0; }
    // The bytes that the call has actually moved, for the trace.
    void moved(Bytes bytes) noexcept { moved_ = bytes; }

    // Prints "ERROR: 0032-NNN mpc_x in task 1 on node n: what. way_out.", sets mperrno, returns -1.
    int refuse(MplError number, const std::string& what, const std::string& way_out) const;
    // The same for an operation that failed; `peer` is its partner task.
    int refuse(Outcome outcome, TaskId peer) const;
    // For fatal errors: prints the message and ends the task with exit code 1.
    [[noreturn]] void die(const std::string& what) const;

    // Calls `work` and returns its result. An exception ends the task through die().
    template <typename Work>
    int run(Work&& work) {
        try {
            return work();
        } catch (const std::exception& error) {
            die(error.what());
        }
    }

  private:
    void note_region(std::uint32_t region, TaskId peer, std::int32_t type, Bytes bytes) noexcept {
        if (!process_context().tracer.on()) [[likely]]
            return;
        if (traced_ != 0) return;
        moved_ = bytes;
        if (process_context().tracer.enter(region, peer, type, caller_.site)) traced_ = region;
    }

    const Caller& caller_;
    Runtime& runtime_;
    RuntimeLock::Entry entry_;
    bool said_ = false;
    std::uint32_t traced_ = 0;  // the region that was recorded as entered; 0: none
    Bytes moved_ = 0;           // only for a traced call
};

}  // namespace poe::comm
