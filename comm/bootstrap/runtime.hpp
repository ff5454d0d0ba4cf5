// Runtime: this process as a task. It finds out from the environment whether the process is a task
// of poe or of another launcher, attaches to the node segment, and owns the message layer with
// everything below it. It is the one object of the C API.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>

#include "base/error.hpp"
#include "base/fence.hpp"
#include "base/segment/node_segment.hpp"
#include "comm/bootstrap/control_line.hpp"
#include "comm/bootstrap/guests.hpp"
#include "comm/bootstrap/rendezvous.hpp"
#include "comm/matching/message_layer.hpp"
#include "comm/matching/operations.hpp"
#include "comm/progress/progress_sleeper.hpp"
#include "comm/progress/progress_thread.hpp"
#include "comm/progress/runtime_lock.hpp"
#include "comm/progress/thread_waits.hpp"
#include "comm/progress/wait.hpp"
#include "comm/shm/shm_device.hpp"
#include "comm/tcp/tcp_device.hpp"

namespace poe::comm {

// For the thread that has the turn, unless stated otherwise.
class Runtime {
  public:
    // The environment decides what the process is:
    //   1. With MP_CHILD and MP_SEGMENT (see poe(1)): a task of poe.
    //   2. Otherwise, with the variables of another launcher: a task of its job; blocks until the
    //      job's other tasks have joined.
    //   3. Otherwise: the only task of its own job.
    // Never throws: failure() has the error. But a task that another launcher has started and that
    // cannot join the others prints the reason and ends the job.
    explicit Runtime(const Variables& variables);

    // Decides which thread may use this object. Thread-safe.
    RuntimeLock& turn() noexcept { return turn_; }

    // Returns why this process has no messages; empty if it has.
    const std::string& failure() const noexcept { return failure_; }
    void fail(std::string why) { failure_ = std::move(why); }

    TaskId task() const noexcept { return task_; }
    std::uint32_t tasks() const noexcept { return tasks_; }
    // The address at which other processes reach this one; that of the loopback if there is no
    // network. May block while it asks the name service. Throws Error.
    NodeAddress reachable_address() const;
    // The card of this task, which listens from the first call on. A task that is never connected
    // with another job therefore needs no socket. Throws Error if it cannot listen, or if nobody
    // has started it as a task.
    const TaskCard& own_card();
    // The numbers of the tasks that the cards describe, this task among them. Tasks of other jobs
    // that were not known become guests, with which messages can be exchanged. All tasks of the
    // list call this with the same arguments. Precondition: own_card() was called. Throws Error.
    std::vector<TaskId> admit(const LinkSecret& secret, std::span<const TaskCard> cards);
    const Guests& guests() const noexcept { return guests_; }
    bool is_guest(TaskId task) const noexcept {
        return task >= 0 && static_cast<std::uint32_t>(task) >= tasks_;
    }
    // "task 3", or "task 3 of job J" for a guest.
    std::string name_of(TaskId task) const;
    // The node of a task. Each guest counts as a node of its own.
    NodeIndex node_of(TaskId task) const {
        return is_guest(task)
                   ? static_cast<NodeIndex>(nodes() + static_cast<std::uint32_t>(task) - tasks_)
                   : segment_->node_of(task);
    }
    NodeIndex node() const noexcept { return segment_ ? segment_->facts().node : 0; }
    std::uint32_t nodes() const noexcept { return segment_ ? segment_->facts().nodes : 1; }
    Bytes eager_limit() const noexcept { return settings_.eager_limit; }
    Bytes buffer_mem() const noexcept { return settings_.buffer_mem; }

    // Precondition: failure() is empty.
    MessageLayer& messages() noexcept { return *messages_; }
    Operations& operations() noexcept { return *operations_; }
    // The node's segment and the device of its shared memory. Null in a job of one task; the device
    // is also null if all messages use TCP.
    const NodeSegment* segment() const noexcept { return segment_.get(); }
    ShmDevice* shared_memory() noexcept { return devices_.shared_memory.get(); }
    // The device for tasks of other nodes; null in a job without TCP.
    TcpDevice* tcp() noexcept { return devices_.tcp.get(); }
    // True with MP_EUILIB=ip, so that tasks of one node have no shared memory either. The same in
    // all tasks. A task that is alone on its node has none in any case.
    bool all_by_tcp() const noexcept;
    const Fences& fences() const noexcept { return fences_; }
    // The current call, for watchers. In a job of one task it is in private memory. If the task has
    // several threads, each thread has its own, and watchers see the call of one thread that waits.
    TaskActivityWords& doing() noexcept {
        TaskActivityWords* const activity = shown_.activity;
        return activity != nullptr ? *activity : this_threads_activity();
    }
    // How the collective call is carried out in which this task is; the collective operations set
    // it, and waits that last publish it.
    CollectiveProgress& collective_progress() noexcept { return collective_progress_; }
    // The bytes sent and received, likewise.
    TrafficWords& traffic() noexcept { return *shown_.traffic; }

    // True if a message longer than its buffer is an error (mpc_task_set), false if it is
    // truncated.
    bool overflow_is_error() const noexcept { return choices_.overflow_is_error; }
    void set_overflow_is_error(bool is) noexcept { choices_.overflow_is_error = is; }

    // For calls that poll once, find nothing and return. Yields if tasks share cores. After many
    // such calls, takes announced messages into buffer memory, as a long wait does.
    void pause_between_looks() {
        messages_->help();
        if (thread_support_) [[unlikely]] {
            thread_support_->waits.pause_between_looks();
        } else if (waiter_)
            waiter_->pause_between_looks();
        if (++looks_.vain % kLooksUntilImpatient == 0) messages_->take_in_offers();
    }

    // From now on several threads may call at the same time (thread_waits.hpp); cannot be undone.
    // Precondition: no other thread is in a call. Throws Error if there is no free descriptor;
    // nothing has changed then. Takes the turn itself.
    void share_among_threads();

    // Handlers of mpc_rcvncall: lock them, ask whether any is due, call them. A handler may call
    // MPL; no other handler runs meanwhile.
    bool handlers_locked() const noexcept { return handlers_.locked; }
    void lock_handlers(bool locked) noexcept { handlers_.locked = locked; }
    bool handlers_due() const noexcept {
        return operations_ && operations_->handlers_due() && !handlers_.locked &&
               !handlers_.running && !handlers_.wait_for_task;
    }
    // True if a receive has a handler that has not been called.
    bool has_handlers() const noexcept { return operations_ && operations_->has_handlers(); }
    // For the progress thread while it has the turn: true postpones due handlers to the task's next
    // call.
    void let_handlers_wait(bool wait) noexcept { handlers_.wait_for_task = wait; }
    void call_handlers();

    // At the task's exit: blocks until everything that the task has sent over TCP has arrived at
    // the receivers' nodes, or the job ends, or a day has passed. The receivers may compute
    // meanwhile. Does nothing without TCP.
    void finish_sending() noexcept;
    // The connection to this node's daemon, established at the first call; null if there is no
    // daemon. Throws Error.
    ControlLine* control();

    // Interrupts: messages make progress while the task computes, `delay` after their arrival.
    // enable_interrupts() informs the progress thread, and starts it if necessary; throws Error.
    bool interrupts_enabled() const noexcept { return progress_.interrupts; }
    void enable_interrupts(bool enable);
    std::chrono::microseconds interrupt_delay() const noexcept { return progress_.delay; }
    void set_interrupt_delay(std::chrono::microseconds delay) noexcept;
    // For a call that returns while an operation that it has started is open: ensures that the
    // operation makes progress while the task computes.
    void keep_moving() noexcept {
        if (progress_.thread) {
            progress_.thread->keep_moving();
        } else if (progress_.enabled) [[unlikely]] {
            start_background();
        }
    }

    // Starts the progress thread if the settings request one. `work` must live as long as the
    // process. On failure sets failure().
    void start_progress_thread(ProgressWork& work) noexcept;
    // Ends the thread. Call at the exit of the process, without the turn. Blocks until the thread
    // has ended, unless a call or handler is in progress.
    void stop_progress_thread() noexcept;
    // For a child process after fork, which has no progress thread.
    void forget_progress_thread() noexcept;

    // Ends the job with this exit code: stores it for pmd or asks the other launcher, then exits
    // this process. `text` is the message of an MPI error, for the report of poe.
    [[noreturn]] void stop_all(int code, StopKind kind = StopKind::kStopall,
                               std::string_view text = {}) noexcept;
    // True if poe reports how and why this task ends the job, so the task need not print it.
    bool stops_are_reported() const noexcept {
        return slot_ != nullptr && segment_->facts().reports_stops != 0;
    }
    // Records that the task's exit handlers have run.
    void note_finished() noexcept;

  private:
    static constexpr std::uint64_t kLooksUntilImpatient = 64;

    // What watchers see of the task: words in its slot, or in private memory if it is alone.
    struct Shown {
        TaskActivityWords own_activity;
        TaskActivityWords* activity = &own_activity;
        TrafficWords own_traffic;
        TrafficWords* traffic = &own_traffic;
    };
    // Messages that move while the task computes.
    struct Progress {
        bool interrupts = false;
        std::chrono::microseconds delay{0};  // of interrupts
        std::chrono::microseconds timer{0};  // 0: no timer
        std::chrono::microseconds nap{0};    // of the background progress thread
        bool enabled = true;                 // operations make progress while the task computes
        ProgressWork* work = nullptr;
        std::unique_ptr<ProgressSleeper> sleeper;
        std::unique_ptr<ProgressThread> thread;  // null: not needed so far
    };
    struct Devices {
        std::unique_ptr<ShmDevice> shared_memory;  // null if all messages use TCP
        std::unique_ptr<TcpDevice> tcp;            // null in a job without TCP
    };
    // The connection to the daemon of the node.
    struct Control {
        std::string path;
        std::unique_ptr<ControlLine> line;
    };
    // Counters, because some things are done in one of many looks only.
    struct Looks {
        unsigned at_the_dead = 0;
        std::uint64_t vain = 0;
    };
    // What the user or the program has chosen.
    struct Choices {
        bool spread = true;  // over the node's cores, if there are more tasks than cores
        bool overflow_is_error = false;
    };
    // The handlers of mpc_rcvncall.
    struct Handlers {
        bool locked = false;
        bool wait_for_task = false;
        bool running = false;
    };

    // What a task of several threads needs in addition.
    class MessageWork final : public PolledWork {
      public:
        explicit MessageWork(MessageLayer& messages) noexcept : messages_(messages) {}
        bool progress() override { return messages_.progress(); }
        void help() override { messages_.help(); }
        bool take_in_offers() override { return messages_.take_in_offers(); }
        bool needs_polling() const noexcept override { return messages_.needs_polling(); }
        UnexpectedView unexpected(const Awaited& awaited) const noexcept override {
            return messages_.unexpected_view(awaited);
        }

      private:
        MessageLayer& messages_;
    };
    struct ThreadSupport {
        ThreadSupport(RuntimeLock& turn, MessageLayer& messages,
                      std::unique_ptr<ProgressSleeper> its_sleeper, Waiter* waiter,
                      const ThreadWaits::Settings& settings) noexcept
            : sleeper(std::move(its_sleeper)),
              work(messages),
              waits(turn, work, sleeper.get(), waiter, settings) {}
        std::unique_ptr<ProgressSleeper> sleeper;  // null in a job of one task
        MessageWork work;
        ThreadWaits waits;
    };

    void attach(const char* child, const char* segment);
    void join(const Variables& variables);
    void enter(NodeSegment segment, TaskId task);
    void look_after_neighbours() noexcept;
    [[noreturn]] void end_foreign_job(const std::string& why) const noexcept;
    void make_devices(std::uint32_t index);
    void make_tcp(UniqueFd listener);
    void listen();
    void read_background(const Variables& variables);
    ProgressThread::Settings progress_settings() const noexcept;
    void make_progress_thread();
    void start_background() noexcept;
    void set_limits(Bytes eager_limit, Bytes buffer_mem);

    std::string failure_;
    TaskId task_ = 0;
    std::uint32_t tasks_ = 1;
    MessageLayerSettings settings_;
    pid_t process_;
    std::unique_ptr<Rendezvous> rendezvous_;  // null in a job started by poe
    std::unique_ptr<NodeSegment> segment_;
    TaskSlot* slot_ = nullptr;
    Shown shown_;
    CollectiveProgress collective_progress_;
    Fences fences_{false};
    Choices choices_;
    std::unique_ptr<CoreBalancer> core_balancer_;
    std::unique_ptr<Waiter> waiter_;
    Devices devices_;
    Guests guests_;
    std::optional<TaskCard> own_card_;
    std::unique_ptr<MessageLayer> messages_;
    std::unique_ptr<Operations> operations_;
    Control control_;
    RuntimeLock turn_;
    std::unique_ptr<ThreadSupport> thread_support_;  // null: one thread
    Progress progress_;
    Looks looks_;
    Handlers handlers_;
};

}  // namespace poe::comm
