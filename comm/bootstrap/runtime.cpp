// Attaches a process to its job; see runtime.hpp.
#include "comm/bootstrap/runtime.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <strings.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include <climits>

#include "base/check.hpp"
#include "base/parse.hpp"
#include "comm/bootstrap/foreign_launch.hpp"
#include "comm/tcp/own_address.hpp"
#include "tracer/probe/process_context.hpp"

namespace poe::comm {
namespace {

constexpr Bytes kDefaultEagerLimit = 64 << 10;
constexpr Bytes kLargestDefaultBuffer = Bytes{64} << 20;
constexpr Bytes kSmallestDefaultBuffer = Bytes{4} << 20;
constexpr Bytes kDefaultBufferOfAllPairs = Bytes{1} << 30;
constexpr Bytes kSmallestBuffer = 16 << 10;

// A receiver may compute for hours before it receives a message, but a whole day means an error.
constexpr auto kLongestFinish = std::chrono::hours(24);
// The number of checks before a dead task is reported; about the number of seconds of waiting.
constexpr unsigned kLooksAtTheDead = 4;
constexpr auto kFinishPause = std::chrono::milliseconds(5);

// The background mode of the progress thread. A wake-up after a nap costs a few microseconds, so
// naps of 10 ms cost at most 0.1 % of a core. With more tasks than cores, naps are longer.
constexpr std::chrono::microseconds kBackgroundNap{10'000};
constexpr std::uint32_t kLongestBackgroundNaps = 10;
constexpr std::chrono::microseconds kBackgroundDelay{200};

TaskId parse_task(const char* text) {
    const TaskId task = parse_number<TaskId>(text).value_or(-1);
    if (task < 0) {
        throw Error(std::string("MP_CHILD is \"") + text + "\", which is not a task id");
    }
    return task;
}

}  // namespace

Runtime::Runtime(const Variables& variables) : process_(::getpid()) {
    read_background(variables);
    try {
        const char* child = variables("MP_CHILD");
        if (child == nullptr) rendezvous_ = find_rendezvous(variables);
        if (child != nullptr) {
            attach(child, variables("MP_SEGMENT"));
            if (const char* control = variables("MP_CONTROL")) control_.path = control;
        } else if (rendezvous_ && rendezvous_->size() > 1) {
            join(variables);
        } else {
            set_limits(0, 0);
            messages_ =
                std::make_unique<MessageLayer>(settings_, std::vector<Device*>{}, nullptr, nullptr);
        }
        operations_ = std::make_unique<Operations>(*messages_);
    } catch (const std::exception& error) {
        failure_ = error.what();
    }
}

// poe has checked the values. Without poe, an invalid value counts as 0.
void Runtime::read_background(const Variables& variables) {
    const auto microseconds = [&](const char* name) {
        const char* text = variables(name);
        const int value = text == nullptr ? 0 : parse_number<int>(text).value_or(0);
        return std::chrono::microseconds(std::max(value, 0));
    };
    const char* enabled = variables("MP_CSS_INTERRUPT");
    progress_.interrupts = enabled != nullptr && ::strcasecmp(enabled, "yes") == 0;
    const char* bind = variables("MP_BIND");
    choices_.spread = bind == nullptr || ::strcasecmp(bind, "no") != 0;
    progress_.delay = microseconds("MP_INTRDELAY");
    progress_.timer = microseconds("MP_POLLING_INTERVAL");
    // An explicit MP_POLLING_INTERVAL=0 disables background progress.
    progress_.enabled = variables("MP_POLLING_INTERVAL") == nullptr;
}

ProgressThread::Settings Runtime::progress_settings() const noexcept {
    using Mode = ProgressThread::Mode;
    if (progress_.interrupts) return {Mode::kInterrupts, progress_.delay, {}};
    if (progress_.timer.count() > 0) return {Mode::kTimer, {}, progress_.timer};
    if (progress_.enabled) return {Mode::kBackground, kBackgroundDelay, progress_.nap};
    return {};
}

void Runtime::enable_interrupts(bool enable) {
    progress_.interrupts = enable;
    if (enable) make_progress_thread();
    if (progress_.thread) progress_.thread->set(progress_settings());
}

void Runtime::set_interrupt_delay(std::chrono::microseconds delay) noexcept {
    progress_.delay = delay;
    if (progress_.thread) progress_.thread->set(progress_settings());
}

// A task in a job of one task gets no messages while it computes, so it needs no thread.
void Runtime::make_progress_thread() {
    if (progress_.thread || !waiter_ || progress_.work == nullptr) return;
    progress_.sleeper = std::make_unique<ProgressSleeper>(*slot_, fences_, devices_.tcp.get());
    progress_.thread = std::make_unique<ProgressThread>(turn_, *progress_.work, *progress_.sleeper,
                                                        progress_settings());
}

// The program has not asked for the thread. If the thread cannot be created, the program continues
// without it.
[[gnu::cold]] void Runtime::start_background() noexcept {
    progress_.enabled = false;
    if (!waiter_) return;
    progress_.nap =
        kBackgroundNap * std::min(segment_->facts().tasks_per_core(), kLongestBackgroundNaps);
    try {
        progress_.enabled = true;
        make_progress_thread();
    } catch (const std::exception&) {
        progress_.enabled = false;
    }
}

void Runtime::start_progress_thread(ProgressWork& work) noexcept {
    progress_.work = &work;
    if (!failure_.empty() || (!progress_.interrupts && progress_.timer.count() == 0)) return;
    try {
        make_progress_thread();
    } catch (const std::exception& error) {
        failure_ = error.what();
    }
}

void Runtime::stop_progress_thread() noexcept {
    if (!progress_.thread) return;
    const RuntimeLock::Entry entry = turn_.enter();
    progress_.thread->stop();
    if (entry == RuntimeLock::Entry::kEntered) {
        turn_.leave();
        progress_.thread.reset();
    } else {
        // The exit was called by a handler, perhaps in that thread, or during a call.
        progress_.thread->abandon();
        static_cast<void>(progress_.thread.release());
    }
}

void Runtime::share_among_threads() {
    if (thread_support_) return;
    std::unique_ptr<ProgressSleeper> sleeper;
    ThreadWaits::Settings settings;
    settings.cores = std::max(1u, std::thread::hardware_concurrency());
    if (slot_ != nullptr) {
        const SegmentFacts& facts = segment_->facts();
        sleeper = std::make_unique<ProgressSleeper>(*slot_, fences_, devices_.tcp.get());
        settings = {static_cast<WaitMode>(facts.wait_mode),
                    facts.local_tasks,
                    facts.cpus,
                    longest_sleep(fences_),
                    devices_.tcp == nullptr,
                    &slot_->doing};
    }
    const RuntimeLock::Entry entry = turn_.enter();
    if (entry != RuntimeLock::Entry::kEntered)
        throw Error("another thread is in a call, or a call is in progress; initialize MPI first");
    thread_support_ = std::make_unique<ThreadSupport>(turn_, *messages_, std::move(sleeper),
                                                      waiter_.get(), settings);
    // Watchers must not take notes of earlier waits for those of this mode.
    if (slot_ != nullptr) {
        slot_->doing.clear();
        slot_->awaited.clear();
        slot_->pulse.word.store(0, std::memory_order_release);
        slot_->thread_waits.store(reinterpret_cast<std::uintptr_t>(&thread_support_->waits.table()),
                                  std::memory_order_release);
    }
    shown_.activity = nullptr;
    messages_->share(thread_support_->waits);
    turn_.share(thread_support_->waits);
    process_context().tracer.record_states_of_this_thread();
    process_context().many_threads.store(true);
    turn_.leave();
}

void Runtime::forget_progress_thread() noexcept {
    static_cast<void>(progress_.thread.release());
    turn_.forget_progress_thread();
}

ControlLine* Runtime::control() {
    if (!control_.line && !control_.path.empty())
        control_.line = std::make_unique<ControlLine>(control_.path);
    return control_.line.get();
}

void Runtime::set_limits(Bytes eager_limit, Bytes buffer_mem) {
    settings_.me = task_;
    settings_.tasks = tasks_;
    settings_.buffer_mem = buffer_mem != 0
                               ? std::max(buffer_mem, kSmallestBuffer)
                               : std::clamp(kDefaultBufferOfAllPairs / tasks_,
                                            kSmallestDefaultBuffer, kLargestDefaultBuffer);
    settings_.eager_limit = std::min(eager_limit != 0 ? eager_limit : kDefaultEagerLimit,
                                     settings_.buffer_mem / 4 - kMessageCost);
}

void Runtime::attach(const char* child, const char* segment) {
    const TaskId task = parse_task(child);
    if (segment == nullptr) {
        throw Error(
            "MP_CHILD is set but MP_SEGMENT is not: something between poe and this program has "
            "removed variables from the environment; leave the MP_ variables as poe set them");
    }
    enter(NodeSegment::attach(segment), task);
}

void Runtime::join(const Variables& variables) {
    task_ = rendezvous_->rank();
    try {
        enter(join_foreign_job(*rendezvous_, variables), task_);
    } catch (const JobRefused&) {
        rendezvous_->finalize();
        ::_exit(1);
    } catch (const std::exception& error) {
        end_foreign_job(std::string("this job cannot begin: ") + error.what());
    }
    waiter_->look_around([this] { look_after_neighbours(); });
}

// poe ends the other tasks when a task dies. Not every launcher does, and one that does gets some
// time first. A neighbour is dead if its process has gone without recording that its exit handlers
// ran. A process id that was reused looks alive; therefore this is only a second safety net.
void Runtime::look_after_neighbours() noexcept {
    if (!rendezvous_->alive()) end_foreign_job("the launcher of this job is gone");
    for (std::uint32_t index = 0; index < segment_->local_tasks(); ++index) {
        const TaskSlot& neighbour = segment_->slot(index);
        if (::kill(neighbour.pid, 0) == 0 || errno != ESRCH) continue;
        if (neighbour.finished.load(std::memory_order_acquire) != 0) continue;
        if (++looks_.at_the_dead < kLooksAtTheDead) return;
        end_foreign_job("task " + std::to_string(segment_->task_at(index)) + " (process " +
                        std::to_string(neighbour.pid) +
                        " of this node) has died; without it the others would wait forever");
    }
}

void Runtime::end_foreign_job(const std::string& why) const noexcept {
    const std::string text = "ERROR: 0032-118 task " + std::to_string(task_) + ": " + why + ".\n";
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(nullptr);
    // Prevents the neighbours from reporting this exit as the first failure.
    if (slot_ != nullptr) slot_->finished.store(1, std::memory_order_release);
    rendezvous_->abort(1, why);
    ::_exit(1);
}

void Runtime::enter(NodeSegment segment, TaskId task) {
    segment_ = std::make_unique<NodeSegment>(std::move(segment));
    const auto index = segment_->local_index(task);
    if (!index) {
        throw Error("MP_CHILD says task " + std::to_string(task) + ", which is not one of node " +
                    std::to_string(segment_->facts().node) + " of this job");
    }
    task_ = task;
    tasks_ = segment_->tasks();
    TaskSlot& slot = segment_->slot(*index);
    // A program of another MPI library, whose calls were shown until now, may call MPL too.
    std::uint32_t before = slot.pid == process_ ? kObserved : kNotAttached;
    if (!slot.attached.compare_exchange_strong(before, kOwnLibrary)) {
        throw Error("another process (pid " + std::to_string(slot.pid) +
                    ") has already sent or received as this task; a task can be only one MPL "
                    "program, so start the programs one after another with poe itself");
    }
    slot.pid = process_;
    slot_ = &slot;
    shown_.activity = &slot.doing;
    shown_.traffic = &slot.traffic;
    const std::string& path = segment_->path();
    process_context().tracer.attach(slot.tracing, path.substr(0, path.rfind('/')), task);
    const SegmentFacts& facts = segment_->facts();
    fences_ = Fences(facts.asymmetric_fences != 0);
    set_limits(facts.eager_limit, facts.buffer_mem);
    waiter_ = std::make_unique<Waiter>(segment_->header(), facts, slot,
                                       static_cast<WaitMode>(facts.wait_mode), fences_);
    waiter_->show_progress(collective_progress_);
    if (choices_.spread && facts.oversubscribed()) {
        core_balancer_ = std::make_unique<CoreBalancer>(
            segment_->header(), std::span(&segment_->slot(0), facts.local_tasks), *index);
        waiter_->balance_with(*core_balancer_);
    }
    make_devices(*index);
}

bool Runtime::all_by_tcp() const noexcept {
    return segment_ && static_cast<Euilib>(segment_->facts().euilib) == Euilib::kIp;
}

void Runtime::make_devices(std::uint32_t index) {
    const SegmentFacts& facts = segment_->facts();
    const bool any_by_tcp = tasks_ > 1 && (all_by_tcp() || facts.nodes > 1);
    std::vector<Device*> devices;
    if (!any_by_tcp || (!all_by_tcp() && facts.local_tasks > 1)) {
        devices_.shared_memory =
            std::make_unique<ShmDevice>(*segment_, index, settings_.buffer_mem, fences_);
        devices.push_back(devices_.shared_memory.get());
    }
    if (any_by_tcp) {
        make_tcp(inherited_listener(*segment_, task_));
        devices.push_back(devices_.tcp.get());
    }
    const auto device_of = [this](TaskId peer) -> Device& {
        const bool neighbour = node_of(peer) == segment_->facts().node;
        if (devices_.shared_memory && neighbour) return *devices_.shared_memory;
        return *devices_.tcp;
    };
    messages_ =
        std::make_unique<MessageLayer>(settings_, std::move(devices), device_of, waiter_.get());
    messages_->count_in(*shown_.traffic);
    if (slot_ != nullptr)
        slot_->observed_tables.store(reinterpret_cast<std::uintptr_t>(&messages_->tables()),
                                     std::memory_order_release);
}

void Runtime::make_tcp(UniqueFd listener) {
    devices_.tcp =
        std::make_unique<TcpDevice>(*segment_, task_, std::move(listener), settings_.buffer_mem,
                                    devices_.shared_memory != nullptr);
    waiter_->sleep_in(*devices_.tcp, devices_.shared_memory == nullptr);
}

NodeAddress Runtime::reachable_address() const {
    if (devices_.tcp) return devices_.tcp->listens_at().first;
    try {
        return own_address();
    } catch (const Error&) {
        // Without a network, processes of this computer can still reach each other.
        return loopback_address();
    }
}

// Without TCP so far, the tasks of this job are on one node and wake each other by their doorbells.
void Runtime::listen() {
    std::uint16_t port = 0;
    make_tcp(listen_on(reachable_address(), port));
    messages_->add(*devices_.tcp);
    if (progress_.sleeper) progress_.sleeper->sleep_in(*devices_.tcp);
    if (thread_support_) {
        thread_support_->sleeper->sleep_in(*devices_.tcp);
        thread_support_->waits.leave_doorbell();
    }
}

const TaskCard& Runtime::own_card() {
    if (own_card_) return *own_card_;
    if (!segment_)
        throw Error("nobody has started this process as a task; start the program with poe");
    if (!devices_.tcp) listen();
    char name[HOST_NAME_MAX + 1] = "";
    ::gethostname(name, sizeof name - 1);
    const auto [address, port] = devices_.tcp->listens_at();
    own_card_ = TaskCard{segment_->facts().job_id,
                         task_,
                         address,
                         port,
                         name[0] != '\0' ? name : "unknown",
                         settings_.buffer_mem,
                         settings_.eager_limit};
    return *own_card_;
}

std::string Runtime::name_of(TaskId task) const {
    return is_guest(task) ? comm::name_of(guests_.card(static_cast<std::size_t>(task) - tasks_))
                          : "task " + std::to_string(task);
}

std::vector<TaskId> Runtime::admit(const LinkSecret& secret, std::span<const TaskCard> cards) {
    POE_CHECK(own_card_.has_value());
    Admission admission = guests_.admit(tasks_, *own_card_, secret, cards);
    if (!admission.eager_limits.empty())
        devices_.tcp->add(std::move(admission.link), admission.token_capacities);
    for (const Bytes limit : admission.eager_limits) messages_->admit_guest(limit);
    return std::move(admission.tasks);
}

void Runtime::finish_sending() noexcept {
    if (!devices_.tcp || !failure_.empty()) return;
    try {
        const auto deadline = std::chrono::steady_clock::now() + kLongestFinish;
        waiter_->begin_wait();
        while (!devices_.tcp->finish_sending() && std::chrono::steady_clock::now() < deadline) {
            if (messages_->progress() || !waiter_->pause()) continue;
            // No event reports that the last byte has been acknowledged.
            devices_.tcp->sleep(kFinishPause);
        }
    } catch (const std::exception& error) {
        failure_ = error.what();  // nothing can be sent any more, and no caller checks
    }
}

void Runtime::call_handlers() {
    handlers_.running = true;
    const auto outer = turn_.nest();
    while (!handlers_.locked) {
        Operation* operation = operations_->next_for_handler();
        if (operation == nullptr) break;
        if (operation->receive.outcome == Outcome::kDone) {
            *operation->source = operation->receive.source;
            *operation->type = operation->receive.type;
        }
        int id = operation->id;
        operation->handler(&id);
    }
    turn_.unnest(outer);
    handlers_.running = false;
}

void Runtime::stop_all(int code, StopKind kind, std::string_view text) noexcept {
    if (slot_ != nullptr) {
        slot_->stop_code = code;
        slot_->stop_text[text.copy(slot_->stop_text, kMaxStopText - 1)] = '\0';
        slot_->stop_kind.store(static_cast<std::uint32_t>(kind), std::memory_order_release);
    }
    const char* why = kind == StopKind::kStopall    ? "mpc_stopall"
                      : kind == StopKind::kMpiAbort ? "MPI_Abort"
                                                    : "an MPI error";
    if (rendezvous_ && process_ == ::getpid()) rendezvous_->abort(code & 255, why);
    ::_exit(code & 255);
}

void Runtime::note_finished() noexcept {
    if (slot_ != nullptr && failure_.empty()) slot_->finished.store(1, std::memory_order_release);
    if (rendezvous_ && process_ == ::getpid()) rendezvous_->finalize();
}

}  // namespace poe::comm
