// The path of every call through the recorder; see recorder.hpp. The functions are inlined into one
// pair of functions per kind of call (recorder_hooks.cpp), because a call may cost a few
// nanoseconds only. What is rare is in recorder_calls.cpp.
#pragma once

#include <atomic>
#include <new>
#include <vector>

#include "base/calls.hpp"
#include "mpi/observe/recorder.hpp"
#include "tracer/probe/process_context.hpp"

namespace poe::observe {

// The requests of the thread's call, and statuses that the program ignores. They are kept from the
// beginning to the end of the call, because the library overwrites the handles of requests that
// have ended.
struct CallMemory {
    std::vector<Word> requests;
    std::vector<unsigned long> statuses;
};
CallMemory& call_memory();

inline trace::Tracer& tracer() noexcept {
    return process_context().tracer;
}

inline int integer(const PoeObservedCall& call, int place) noexcept {
    return static_cast<int>(call.arguments.words[place]);
}
inline void* pointer(const PoeObservedCall& call, int place) noexcept {
    return reinterpret_cast<void*>(call.arguments.words[place]);
}

// True for a call that is neither shown nor recorded.
constexpr bool is_silent(Action action) noexcept {
    return action == Action::kRename || action == Action::kControl || action == Action::kFreeType ||
           action == Action::kRenameWindow;
}

// True for a call for a window or a file.
constexpr bool is_of_object(Action action) noexcept {
    return action >= Action::kMakeWindow && action <= Action::kFile;
}

// True for a call that stores a request.
constexpr bool makes_request(Action action) noexcept {
    switch (action) {
        case Action::kStartSend:
        case Action::kMakeSend:
        case Action::kStartReceive:
        case Action::kMakeReceive:
        case Action::kStartExchange:
        case Action::kStartReceiveMatched:
        case Action::kStartCollective:
        case Action::kMakeCollective:
        case Action::kStartMakingComm:
            return true;
        default:
            return false;
    }
}

// Locks the mutex, if there is one, and counts the change (TaskSlot::calls). std::unique_lock costs
// more if there is none.
class OnlyThread {
  public:
    OnlyThread(std::mutex* mutex, std::atomic<std::uint64_t>& changes)
        : mutex_(mutex), changes_(changes) {
        if (mutex_ != nullptr) [[unlikely]] {
            mutex_->lock();
            changes_.fetch_add(1);
        }
    }
    ~OnlyThread() {
        if (mutex_ != nullptr) [[unlikely]] {
            changes_.fetch_add(1);
            mutex_->unlock();
        }
    }
    OnlyThread(const OnlyThread&) = delete;
    OnlyThread& operator=(const OnlyThread&) = delete;

  private:
    std::mutex* mutex_;
    std::atomic<std::uint64_t>& changes_;
};

constexpr int kUndefined = -32766;  // MPI_UNDEFINED in all libraries
constexpr int kSuccess = 0;         // MPI_SUCCESS

inline bool is_true(const PoeObservedCall& call, int place) noexcept {
    return place < 0 || *static_cast<const int*>(pointer(call, place)) != 0;
}

[[gnu::always_inline]] inline void Recorder::before(PoeObservedCall& call, const CallShape& shape) {
    const OnlyThread only(many_threads_ ? &mutex_ : nullptr, slot_.calls);
    CallNotes& notes = *new (call.kept) CallNotes();
    if (finalized_) return;
    save(call, shape, notes);
    if (is_silent(shape.action)) return;
    describe(call, shape, notes);
    if (many_threads_) [[unlikely]]
        enter(call, notes);
    else
        slot_.calls.store(slot_.calls.load(std::memory_order_relaxed) + 1,
                          std::memory_order_relaxed);
    if (shows_this_thread()) show(call, notes);
    if (notes.collective) notes.number = notes.comm->operations++;
    // A message counts as sent before the library sees it, so that it cannot arrive earlier.
    const bool sends = shape.action == Action::kSend || shape.action == Action::kStartSend;
    if (sends && notes.comm != nullptr) notes.number = send(*notes.comm, notes.end);
    if (tracer().on()) [[unlikely]]
        record_begin(call, shape, notes);
    if (notes.comm != nullptr &&
        (shape.action == Action::kExchange || shape.action == Action::kStartExchange))
        send_of_exchange(call, shape, *notes.comm);
    if (shape.action == Action::kStart) start_persistent(call, shape, notes);
    note_needs(call, shape, notes);
}

inline void Recorder::note_need(const ObservedNeed& need) noexcept {
    ObservedNeed& to = wait_->needs[0];
    to.kind = need.kind;
    to.peer = need.peer;
    to.tag = need.tag;
    to.context = need.context;
    to.number = need.number;
    wait_->needs_count = 1;
    wait_->one_suffices = 0;
}

// What the call waits for, should it not return.
[[gnu::always_inline]] inline void Recorder::note_needs(const PoeObservedCall& call,
                                                        const CallShape& shape, CallNotes& notes) {
    using Kind = ObservedNeed::Kind;
    const std::uint32_t context = notes.comm != nullptr ? notes.comm->context : 0;
    const End& end = notes.end;
    switch (shape.action) {
        case Action::kSend:
            note_need({Kind::kReceive, end.peer, end.tag, context, notes.number});
            if (many_threads_ && several_threads_send({context, end.peer, end.tag})) [[unlikely]]
                wait_->needs[0].kind = Kind::kUnknown;
            break;
        case Action::kReceive:
        case Action::kExchange:
        case Action::kProbe:
        case Action::kMatch:
            // A message that this call would receive has no number yet. MPI_Improbe does not block.
            note_need({end.nobody || shape.flag >= 0 ? Kind::kUnknown : Kind::kMessage, end.peer,
                       end.tag, context, 0});
            break;
        case Action::kCollective:
        case Action::kMakeComm:
            note_need({notes.collective && !notes.comm->inter ? Kind::kOperation : Kind::kUnknown,
                       -1, -1, context, notes.number});
            break;
        case Action::kComplete:
            need_requests(shape, notes);
            break;
        case Action::kFinalize:
            note_need({Kind::kAll, -1, -1, 0, 0});
            let_library_rest();
            break;
        default:
            wait_->needs_count = 0;
            if (is_of_object(shape.action)) note_object_needs(call, shape, notes);
            break;
    }
}

// Keeps what the library will overwrite, and has it write what the program ignores.
[[gnu::always_inline]] inline void Recorder::save(PoeObservedCall& call, const CallShape& shape,
                                                  CallNotes& notes) {
    switch (shape.action) {
        case Action::kReceive:
        case Action::kExchange:
        case Action::kMatch:
            want_status(call, shape, 1);
            break;
        case Action::kReceiveMatched:
            want_status(call, shape, 1);
            [[fallthrough]];
        case Action::kStartReceiveMatched:
            notes.handle = library_.handle_at(pointer(call, shape.message));
            break;
        case Action::kStart:
        case Action::kComplete:
        case Action::kFreeRequest:
            save_requests(call, shape, notes);
            break;
        case Action::kFreeComm:
            notes.handle = library_.handle_at(pointer(call, shape.comm));
            break;
        case Action::kFreeType:
            notes.handle = library_.handle_at(pointer(call, 0));
            break;
        case Action::kFreeWindow:
            notes.handle = library_.handle_at(pointer(call, shape.window));
            break;
        case Action::kCloseFile:
            notes.handle = library_.file_handle_at(pointer(call, shape.file));
            break;
        default:
            break;
    }
}

[[gnu::always_inline]] inline void Recorder::want_status(PoeObservedCall& call,
                                                         const CallShape& shape,
                                                         std::size_t count) {
    long& status = call.arguments.words[shape.status];
    if (static_cast<Word>(status) != library_.status_ignore) return;
    if (count * library_.status_bytes <= sizeof call.status) {
        status = reinterpret_cast<long>(call.status);
        return;
    }
    std::vector<unsigned long>& own = call_memory().statuses;
    own.resize(count * library_.status_bytes / sizeof(unsigned long) + 1);
    status = reinterpret_cast<long>(own.data());
}

[[gnu::always_inline]] inline void Recorder::describe(const PoeObservedCall& call,
                                                      const CallShape& shape, CallNotes& notes) {
    if (shape.comm >= 0 && shape.action != Action::kFreeComm)
        notes.comm = comms_.find(library_.handle(call.arguments.words[shape.comm]));
    else if (shape.action == Action::kFreeComm)
        notes.comm = comms_.find(notes.handle);
    switch (shape.action) {
        case Action::kSend:
        case Action::kStartSend:
        case Action::kMakeSend:
            if (notes.comm != nullptr) outgoing(call, shape, *notes.comm, notes.end);
            break;
        case Action::kReceive:
        case Action::kStartReceive:
        case Action::kMakeReceive:
        case Action::kExchange:
        case Action::kStartExchange:
        case Action::kProbe:
        case Action::kPoll:
        case Action::kMatch:
            if (notes.comm != nullptr) incoming(call, shape, *notes.comm, notes.end);
            break;
        case Action::kReceiveMatched:
        case Action::kStartReceiveMatched:
            if (const Pending* known = matched_.find(notes.handle)) {
                notes.comm = known->comm;
                notes.end = known->end;
            }
            break;
        case Action::kComplete:
        case Action::kStart:
            describe_requests(shape, notes);
            break;
        case Action::kFinalize:
            notes.comm = comms_.find(library_.comm_world);
            notes.end.tag = 0;
            notes.collective = notes.comm != nullptr && !comms_.is_alone();
            break;
        case Action::kCollective:
        case Action::kMakeComm:
        case Action::kStartCollective:
        case Action::kStartMakingComm:
        case Action::kMakeCollective:
            if (notes.comm == nullptr) break;
            notes.collective = shape.action != Action::kMakeCollective;
            notes.end.bytes = collective_bytes(call, shape, *notes.comm);
            notes.end.tag = notes.comm->handle == library_.comm_world
                                ? 0
                                : static_cast<std::int32_t>(notes.comm->context);
            notes.root = root_of(call, shape, *notes.comm);
            if (shape.action == Action::kStartCollective ||
                shape.action == Action::kStartMakingComm)
                notes.phase = trace::Phase::kStarts;
            break;
        default:
            if (is_of_object(shape.action)) describe_object(call, shape, notes);
            break;
    }
}

// The task that the argument `root` names; -1 if there is none. On an intercommunicator, the root
// itself passes MPI_ROOT, the other members of its group pass
// MPI_PROC_NULL, and the members of the other group pass the rank of the root.
[[gnu::always_inline]] inline TaskId Recorder::root_of(const PoeObservedCall& call,
                                                       const CallShape& shape,
                                                       const Communicator& comm) const noexcept {
    if (shape.root < 0) return -1;
    const int root = integer(call, shape.root);
    if (comm.inter && root == library_.root) return comm.own_task();
    return comm.inter && root == library_.proc_null ? kTakesNoPart : comm.task(root);
}

// Writes member by member: to copy what has just been written in parts takes longer than all the
// rest.
[[gnu::always_inline]] inline void Recorder::outgoing(const PoeObservedCall& call,
                                                      const CallShape& shape,
                                                      const Communicator& comm, End& end) {
    const int rank = integer(call, shape.dest);
    end.peer = comm.task(rank);
    end.tag = integer(call, shape.send_tag);
    end.bytes = bytes_of(call, shape, shape.send_count, shape.send_type);
    end.nobody = rank == library_.proc_null;
}

[[gnu::always_inline]] inline void Recorder::incoming(const PoeObservedCall& call,
                                                      const CallShape& shape,
                                                      const Communicator& comm, End& end) {
    const int rank = integer(call, shape.source);
    const int tag = integer(call, shape.receive_tag);
    end.peer = comm.task(rank);
    end.tag = tag == library_.any_tag ? TaskActivity::kNoType : tag;
    end.bytes = bytes_of(call, shape, shape.receive_count, shape.receive_type);
    end.nobody = rank == library_.proc_null;
    end.wildcard = rank == library_.any_source || tag == library_.any_tag;
}

[[gnu::always_inline]] inline Bytes Recorder::bytes_of(const PoeObservedCall& call,
                                                       const CallShape& shape, int count,
                                                       int type) {
    if (count < 0 || type < 0) return 0;
    // The upper half of a word that holds an int has no meaning.
    const long elements =
        shape.wide_counts ? call.arguments.words[count] : long{integer(call, count)};
    return bytes_of(elements, library_.handle(call.arguments.words[type]));
}

[[gnu::always_inline]] inline Bytes Recorder::bytes_of(long elements, Word type) {
    if (elements <= 0) return 0;
    if (type != last_type_) [[unlikely]]
        find_type(type);
    return static_cast<Bytes>(elements) * last_type_size_;
}

// Plain functions need no look at the special cases.
inline Bytes Recorder::collective_bytes(const PoeObservedCall& call, const CallShape& shape,
                                        const Communicator& comm) {
    const bool plain =
        shape.amount == Amount::kSent && (shape.send_type < 0 || shape.receive_type < 0);
    return plain ? bytes_of(call, shape, shape.send_count, shape.send_type)
                 : special_bytes(call, shape, comm);
}

[[gnu::always_inline]] inline void Recorder::show(const PoeObservedCall& call,
                                                  const CallNotes& notes) {
    if (notes.comm != nullptr && notes.comm != shown_comm_) {
        slot_.context_name.write(notes.comm->name);
        shown_comm_ = notes.comm;
    }
    slot_.doing.set(static_cast<Call>(call.number), notes.end.peer, notes.end.tag, notes.end.bytes,
                    sites_.find(call), notes.comm != nullptr ? notes.comm->context : 0);
}

inline bool Recorder::shows_this_thread() const noexcept {
    return !many_threads_ || is_main_thread();
}

// Returns the number of the message; 0 if there is none.
[[gnu::always_inline]] inline std::uint32_t Recorder::send(const Communicator& comm,
                                                           const End& end) {
    if (end.nobody || end.peer < 0) return 0;
    slot_.traffic.add_sent(end.bytes);
    if (many_threads_) [[unlikely]]
        note_sender({comm.context, end.peer, end.tag});
    return sends_.next({comm.context, end.peer, end.tag});
}

// The number of a receive that has just been posted; 0 if only its message tells it.
[[gnu::always_inline]] inline std::uint32_t Recorder::number_of_receive(const Communicator& comm,
                                                                        const End& end) {
    if (end.nobody || end.wildcard || end.peer < 0) return 0;
    return receives_.next({comm.context, end.peer, end.tag});
}

[[gnu::always_inline]] inline void Recorder::after(PoeObservedCall& call, const CallShape& shape,
                                                   int result) {
    const OnlyThread only(many_threads_ ? &mutex_ : nullptr, slot_.calls);
    if (many_threads_ && !is_silent(shape.action)) [[unlikely]]
        own_caller().inside = 0;
    if (finalized_) return;
    const CallNotes& notes = *reinterpret_cast<const CallNotes*>(call.kept);
    const bool traced = notes.recorded || tracer().on();
    if (traced) [[unlikely]] {
        ending_ = &call;
        last_part_.part = trace::CallPart::kNone;
    }
    if (result == kSuccess) take_effect(call, shape, notes);
    if (traced) [[unlikely]]
        end_parts(notes);
    if (shows_this_thread() && !is_silent(shape.action)) slot_.doing.clear();
}

[[gnu::always_inline]] inline void Recorder::take_effect(const PoeObservedCall& call,
                                                         const CallShape& shape,
                                                         const CallNotes& notes) {
    const auto new_comm = [&] { return library_.handle_at(pointer(call, shape.new_comm)); };
    switch (shape.action) {
        case Action::kReceive:
        case Action::kExchange:
            if (notes.comm != nullptr && !notes.end.nobody)
                arrived(*notes.comm, library_.arrival(pointer(call, shape.status)),
                        number_of_receive(*notes.comm, notes.end), 0);
            break;
        case Action::kMatch:
            if (is_true(call, shape.flag)) match(call, shape, notes);
            break;
        case Action::kReceiveMatched:
            if (const Pending* known = matched_.find(notes.handle)) {
                arrived(*known->comm, library_.arrival(pointer(call, shape.status)), known->number,
                        0);
                matched_.remove(notes.handle);
            }
            break;
        case Action::kComplete:
            complete(call, shape, notes);
            break;
        case Action::kFreeRequest:
            pending_.remove(notes.handle);
            break;
        case Action::kMakeComm:
        case Action::kMakeCommOfGroup:
            comms_.made(new_comm(), notes.comm);
            break;
        case Action::kFreeComm:
            comms_.freed(notes.handle);
            shown_comm_ = nullptr;
            break;
        case Action::kRename:
            if (const Communicator* renamed =
                    comms_.renamed(library_.handle(call.arguments.words[shape.comm])))
                tracer().name_context(renamed->context, renamed->name);
            shown_comm_ = nullptr;
            break;
        case Action::kFreeType:
            type_sizes_.remove(notes.handle);
            last_type_ = 0;
            break;
        case Action::kControl:
            control(integer(call, 0));
            break;
        case Action::kFinalize:
            finalized_ = true;
            break;
        default:
            if (makes_request(shape.action)) add_request(call, shape, notes);
            if (is_of_object(shape.action)) take_effect_on_object(call, shape, notes);
            break;
    }
}

// `number`: of the message, if the receive knew it when it was posted; otherwise 0.
[[gnu::always_inline]] inline void Recorder::arrived(const Communicator& comm,
                                                     const Arrival& arrival, std::uint32_t number,
                                                     std::uint32_t request) {
    const TaskId from = comm.task(arrival.source);
    if (from < 0) return;
    if (number == 0) number = receives_.next({comm.context, from, arrival.tag});
    slot_.traffic.add_received(arrival.bytes);
    if (many_threads_) [[unlikely]]
        ended_.next({comm.context, from, arrival.tag});
    if (tracer().on()) [[unlikely]]
        add_part({.part = trace::CallPart::kReceive,
                  .peer = from,
                  .tag = arrival.tag,
                  .context = comm.context,
                  .number = number,
                  .request = request,
                  .bytes = arrival.bytes});
}

}  // namespace poe::observe
