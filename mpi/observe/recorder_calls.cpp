// The rare parts of the recorder: requests, traces, communicators. See recorder.hpp.
#include "mpi/observe/recorder_calls.hpp"

#include <algorithm>
#include <unistd.h>

#include "mpi/observe/recorder.hpp"
#include "mpi/observe/thread_rest.hpp"

namespace poe::observe {

CallMemory& call_memory() {
    static thread_local CallMemory memory;
    return memory;
}

namespace {

const void* this_thread() noexcept {
    static thread_local char own = 0;
    return &own;
}

}  // namespace

Recorder::Recorder(const ForeignLibrary& library, TaskSlot& slot, TaskId world_task,
                   std::span<const int> library_threads)
    : library_(library),
      slot_(slot),
      many_threads_(library.many_threads()),
      main_thread_(this_thread()),
      comms_(library_, world_task, &tables_.comms),
      windows_(&tables_.windows),
      files_(&tables_.files),
      sends_(&tables_.sends),
      receives_(&tables_.receives),
      ended_(&tables_.ended) {
    if (many_threads_) tracer().record_states_of_this_thread();
    tables_.many_threads = many_threads_ ? 1 : 0;
    tables_.library_threads_count = static_cast<std::uint32_t>(library_threads.size());
    std::copy(library_threads.begin(), library_threads.end(), tables_.library_threads.begin());
    slot_.observed_tables.store(reinterpret_cast<std::uint64_t>(&tables_),
                                std::memory_order_release);
}

bool Recorder::is_main_thread() const noexcept {
    return this_thread() == main_thread_;
}

namespace {

// The entry of a thread, given back when the thread ends.
struct OwnCaller {
    Recorder* recorder = nullptr;
    ObservedCaller* caller = nullptr;
    ~OwnCaller() {
        if (caller != nullptr) recorder->forget(*caller);
        caller = nullptr;  // destructors of other objects of the thread may still call
    }
};

}  // namespace

// The entry of this thread. If all are in use, it is the last one, and nothing is known of the
// threads any more.
ObservedCaller& Recorder::own_caller() {
    static thread_local OwnCaller own;
    if (own.caller != nullptr) return *own.caller;
    for (ObservedCaller& caller : tables_.callers) {
        if (caller.thread != 0) continue;
        caller.thread = ::gettid();
        own.recorder = this;
        own.caller = &caller;
        return caller;
    }
    tables_.too_many_callers = 1;
    return tables_.callers.back();
}

void Recorder::forget(ObservedCaller& caller) noexcept {
    const OnlyThread only(&mutex_, slot_.calls);
    caller.inside = 0;
    caller.thread = 0;
}

// What `pmd` reads of the call of one of several threads.
void Recorder::enter(const PoeObservedCall& call, const CallNotes& notes) {
    ObservedCaller& caller = own_caller();
    caller.inside = call.number;
    caller.peer = notes.end.peer;
    caller.tag = notes.end.tag;
    caller.bytes = notes.end.bytes;
    caller.site = reinterpret_cast<std::uint64_t>(sites_.find(call));
    caller.context = notes.comm != nullptr ? notes.comm->context : 0;
    caller.communicator = {};
    if (notes.comm != nullptr)
        notes.comm->name.copy(caller.communicator.data(), caller.communicator.size());
    caller.wait.needs_count = 0;
    wait_ = &caller.wait;
}

void Recorder::note_sender(const MessageLine& line) {
    const void** const sender = senders_.find(line);
    if (sender == nullptr)
        senders_.add(line, this_thread());
    else if (*sender != this_thread())
        *sender = nullptr;
}

bool Recorder::several_threads_send(const MessageLine& line) {
    const void* const* const sender = senders_.find(line);
    return sender == nullptr || *sender == nullptr;
}

void Recorder::find_type(Word handle) {
    const Bytes* known = type_sizes_.find(handle);
    last_type_size_ = known != nullptr ? *known : library_.type_size(handle);
    last_type_ = handle;
    if (known == nullptr) type_sizes_.add(handle, last_type_size_);
}

void Recorder::save_requests(PoeObservedCall& call, const CallShape& shape, CallNotes& notes) {
    if (shape.requests < 0) {
        notes.handle = library_.handle_at(pointer(call, shape.request));
        if (shape.status >= 0) want_status(call, shape, 1);
        return;
    }
    const auto count = static_cast<std::size_t>(std::max(integer(call, shape.requests_count), 0));
    std::vector<Word>& saved = call_memory().requests;
    saved.resize(count);
    for (std::size_t i = 0; i < count; ++i)
        saved[i] = library_.handle_at(pointer(call, shape.requests), i);
    // A call that ends one of several requests has one status.
    if (shape.status >= 0 && count > 0) want_status(call, shape, shape.index >= 0 ? 1 : count);
}

namespace {

trace::CallPart part_of(trace::Phase phase) noexcept {
    switch (phase) {
        case trace::Phase::kWhole:
            break;
        case trace::Phase::kStarts:
            return trace::CallPart::kCollectiveStarts;
        case trace::Phase::kEnds:
            return trace::CallPart::kCollectiveEnds;
    }
    return trace::CallPart::kCollective;
}

}  // namespace

// The beginning of a call, with the message that it sends or the operation that it is.
void Recorder::record_begin(const PoeObservedCall& call, const CallShape& shape, CallNotes& notes) {
    const End& end = notes.end;
    trace::CallRecord record{.line = {.region = call.number,
                                      .peer = end.peer,
                                      .type = end.tag,
                                      .context = notes.comm != nullptr ? notes.comm->context : 0,
                                      .root = notes.root,
                                      .site = sites_.find(call)},
                             .begins = true,
                             .number = notes.number};
    if (notes.collective && notes.root != kTakesNoPart) {
        record.part = part_of(notes.phase);
        record.bytes = end.bytes;
    } else if ((shape.action == Action::kSend || shape.action == Action::kStartSend) &&
               notes.comm != nullptr && !end.nobody && end.peer >= 0) {
        record.part = trace::CallPart::kSend;
        record.bytes = end.bytes;
        if (shape.action == Action::kStartSend) record.request = next_request();
    }
    notes.recorded = tracer().call(record, &notes.open);
    // A message is recorded also in a thread whose calls are not.
    if (notes.recorded || record.part != trace::CallPart::kSend) return;
    record.begins = false;
    tracer().call(record);
}

// Records the last part of the call that ends now, but not yet the end.
void Recorder::add_part(const Part& part) noexcept {
    if (last_part_.part != trace::CallPart::kNone) tracer().call(record_of_part());
    last_part_ = part;
}

trace::CallRecord Recorder::record_of_part() noexcept {
    const Part& part = last_part_;
    return {.line = {.region = ending_->number,
                     .peer = part.peer,
                     .type = part.tag,
                     .context = part.context,
                     .root = part.root,
                     .site = sites_.find(*ending_)},
            .part = part.part,
            .number = part.number,
            .request = part.request,
            .bytes = part.bytes};
}

// The end of a call, with its last part. A receive with a wildcard has another line at its end than
// at its beginning, so its end is another record.
void Recorder::end_parts(const CallNotes& notes) noexcept {
    Part& part = last_part_;
    const std::uint32_t context = notes.comm != nullptr ? notes.comm->context : 0;
    if (part.part == trace::CallPart::kNone) {
        if (!notes.recorded ||
            tracer().end_call(notes.open, {.line = {}, .bytes = notes.end.bytes}))
            return;
        part = {.peer = notes.end.peer,
                .tag = notes.end.tag,
                .context = context,
                .root = notes.root,
                .bytes = notes.end.bytes};
    } else if (notes.recorded && part.peer == notes.end.peer && part.tag == notes.end.tag &&
               part.context == context && part.root == notes.root &&
               tracer().end_call(notes.open, {.line = {},
                                              .part = part.part,
                                              .number = part.number,
                                              .request = part.request,
                                              .bytes = part.bytes})) {
        return;
    }
    trace::CallRecord record = record_of_part();
    record.ends = notes.recorded;
    tracer().call(record);
}

void Recorder::send_of_exchange(const PoeObservedCall& call, const CallShape& shape,
                                const Communicator& comm) {
    End end;
    outgoing(call, shape, comm, end);
    const std::uint32_t number = send(comm, end);
    if (tracer().on()) [[unlikely]]
        record_sent(call, comm, end, number, 0);
}

// Records a message that is not the one of the arguments of the call alone.
void Recorder::record_sent(const PoeObservedCall& call, const Communicator& comm, const End& end,
                           std::uint32_t number, std::uint32_t request) noexcept {
    if (end.nobody || end.peer < 0) return;
    tracer().call({.line = {.region = call.number,
                            .peer = end.peer,
                            .type = end.tag,
                            .context = comm.context,
                            .site = sites_.find(call)},
                   .part = trace::CallPart::kSend,
                   .number = number,
                   .request = request,
                   .bytes = end.bytes});
}

// The requests of MPI_Start or MPI_Startall begin their operations again.
void Recorder::start_persistent(const PoeObservedCall& call, const CallShape& shape,
                                const CallNotes& notes) {
    const bool several = shape.requests >= 0;
    const std::vector<Word>& all = call_memory().requests;
    for (std::size_t i = 0; i < (several ? all.size() : 1); ++i) {
        Pending* const pending = pending_.find(several ? all[i] : notes.handle);
        if (pending == nullptr || !pending->persistent || pending->comm == nullptr) continue;
        pending->active = true;
        Communicator& comm = *pending->comm;
        const End& end = pending->end;
        if (pending->kind == Pending::Kind::kSend) {
            pending->number = send(comm, end);
            if (tracer().on()) [[unlikely]]
                record_sent(call, comm, end, pending->number, pending->request);
        } else if (pending->kind == Pending::Kind::kReceive) {
            pending->number = number_of_receive(comm, end);
            count_wildcard(*pending, 1);
        } else if (pending->kind == Pending::Kind::kCollective) {
            pending->number = comm.operations++;
            if (notes.recorded && pending->root != kTakesNoPart)
                tracer().call({.line = {.region = call.number,
                                        .context = comm.context,
                                        .root = pending->root,
                                        .site = sites_.find(call)},
                               .part = trace::CallPart::kCollectiveStarts,
                               .number = pending->number,
                               .bytes = end.bytes,
                               .flow = pending->flow});
        }
    }
}

// A call about one request is about its message; of several requests the first tells the
// communicator.
void Recorder::describe_requests(const CallShape& shape, CallNotes& notes) {
    const std::vector<Word>& all = call_memory().requests;
    if (shape.requests >= 0 && all.empty()) return;
    const Pending* const known = pending_.find(shape.requests < 0 ? notes.handle : all.front());
    if (known == nullptr) return;
    notes.comm = known->comm;
    if (shape.requests < 0) notes.end = known->end;
}

// The requests that must end before a wait returns, all or one. A call that does not wait needs
// nothing that is known.
void Recorder::need_requests(const CallShape& shape, const CallNotes& notes) {
    wait_->needs_count = 0;
    if (shape.flag >= 0) return;
    if (shape.requests < 0) {
        need_request(notes.handle);
        return;
    }
    const std::vector<Word>& all = call_memory().requests;
    wait_->one_suffices = shape.index >= 0 || shape.done_count >= 0 ? 1 : 0;
    for (const Word handle : all) need_request(handle);
}

void Recorder::need_request(Word handle) {
    using Kind = ObservedNeed::Kind;
    if (handle == library_.request_null) return;
    const Pending* const pending = pending_.find(handle);
    if (pending != nullptr && !pending->active) return;
    if (wait_->needs_count >= ObservedWait::kMostNeeds) {
        wait_->needs_count = ObservedWait::kMostNeeds + 1;
        return;
    }
    ObservedNeed& need = wait_->needs[wait_->needs_count++];
    need = {};
    if (pending == nullptr || pending->comm == nullptr || pending->comm->inter ||
        pending->end.nobody)
        return;
    need = {Kind::kUnknown, pending->end.peer, pending->end.tag, pending->comm->context,
            pending->number};
    switch (pending->kind) {
        case Pending::Kind::kSend:
            if (!many_threads_ || !several_threads_send({need.context, need.peer, need.tag}))
                need.kind = Kind::kReceive;
            break;
        case Pending::Kind::kReceive:
            need.kind = Kind::kMessage;
            break;
        default:
            need.kind = Kind::kOperation;
            break;
    }
}

// The call has stored a new request.
void Recorder::add_request(const PoeObservedCall& call, const CallShape& shape,
                           const CallNotes& notes) {
    const Word handle = library_.handle_at(pointer(call, shape.request));
    if (handle == library_.request_null) return;
    if (notes.comm == nullptr) return;
    Pending pending{.end = notes.end,
                    .number = notes.number,
                    .request = requests_ = next_request(),
                    .root = notes.root,
                    .comm = notes.comm};
    pending.persistent = shape.action == Action::kMakeSend ||
                         shape.action == Action::kMakeReceive ||
                         shape.action == Action::kMakeCollective;
    pending.active = !pending.persistent;
    switch (shape.action) {
        case Action::kStartSend:
        case Action::kMakeSend:
            pending.kind = Pending::Kind::kSend;
            break;
        case Action::kStartReceive:
        case Action::kStartExchange:
            pending.kind = Pending::Kind::kReceive;
            pending.number = number_of_receive(*notes.comm, notes.end);
            break;
        case Action::kMakeReceive:
            pending.kind = Pending::Kind::kReceive;
            break;
        case Action::kStartReceiveMatched:
            pending.kind = Pending::Kind::kReceive;
            pending.number = matched_.find(notes.handle)->number;
            matched_.remove(notes.handle);
            break;
        case Action::kStartMakingComm:
            pending.kind = Pending::Kind::kNewComm;
            pending.new_comm = pointer(call, shape.new_comm);
            break;
        default:
            pending.kind = Pending::Kind::kCollective;
            if (pending.persistent)
                pending.flow = data_flow_of(call_name(static_cast<poe::Call>(call.number)));
            break;
    }
    if (pending.active) count_wildcard(pending, 1);
    pending_.add(handle, pending);
}

// Keeps the number of receives with a wildcard that are pending.
void Recorder::count_wildcard(const Pending& pending, int change) noexcept {
    if (pending.kind == Pending::Kind::kReceive && pending.end.wildcard)
        tables_.wildcards += static_cast<std::uint64_t>(change);
}

// A matched probe has taken a message out of matching; MPI_Mrecv will receive it.
void Recorder::match(const PoeObservedCall& call, const CallShape& shape, const CallNotes& notes) {
    Communicator* const comm = notes.comm;
    if (comm == nullptr) return;
    const Arrival arrival = library_.arrival(pointer(call, shape.status));
    const TaskId from = comm->task(arrival.source);
    if (from < 0) return;
    Pending pending{.kind = Pending::Kind::kReceive,
                    .end = {.peer = from, .tag = arrival.tag, .bytes = arrival.bytes},
                    .comm = comm};
    pending.number = receives_.next({comm->context, from, arrival.tag});
    matched_.add(library_.handle_at(pointer(call, shape.message)), pending);
}

// Some of the requests of the call may have ended.
void Recorder::complete(const PoeObservedCall& call, const CallShape& shape,
                        const CallNotes& notes) {
    if (!is_true(call, shape.flag)) return;
    const void* const statuses = shape.status >= 0 ? pointer(call, shape.status) : nullptr;
    if (shape.requests < 0) {
        finish(notes.handle, statuses, 0);
        return;
    }
    const std::vector<Word>& all = call_memory().requests;
    const auto one = [&](int which, std::size_t status) {
        if (which >= 0 && static_cast<std::size_t>(which) < all.size())
            finish(all[static_cast<std::size_t>(which)], statuses, status);
    };
    if (shape.index >= 0) {
        one(*static_cast<const int*>(pointer(call, shape.index)), 0);
    } else if (shape.done_count >= 0) {
        const int count = *static_cast<const int*>(pointer(call, shape.done_count));
        if (count == kUndefined) return;
        const int* const indices = static_cast<const int*>(pointer(call, shape.indices));
        for (int i = 0; i < count; ++i) one(indices[i], static_cast<std::size_t>(i));
    } else {
        for (std::size_t i = 0; i < all.size(); ++i) finish(all[i], statuses, i);
    }
}

void Recorder::finish(Word handle, const void* statuses, std::size_t index) {
    if (handle == library_.request_null) return;
    Pending* const known = pending_.find(handle);
    if (known == nullptr || !known->active) return;
    const Pending pending = *known;
    known->active = false;
    count_wildcard(pending, -1);
    if (!pending.persistent) pending_.remove(handle);
    switch (pending.kind) {
        case Pending::Kind::kSend:
            if (pending.number != 0 && tracer().on()) [[unlikely]]
                add_part({.part = trace::CallPart::kSendEnded,
                          .peer = pending.end.peer,
                          .tag = pending.end.tag,
                          .context = pending.comm->context,
                          .number = pending.number,
                          .request = pending.request,
                          .bytes = pending.end.bytes});
            break;
        case Pending::Kind::kReceive: {
            if (pending.end.nobody) break;
            const Arrival arrival = library_.arrival(statuses, index);
            if (arrival.cancelled)
                receives_.give_back({pending.comm->context, pending.end.peer, pending.end.tag},
                                    pending.number);
            else
                arrived(*pending.comm, arrival, pending.number, pending.request);
            break;
        }
        case Pending::Kind::kNewComm:
            comms_.made(library_.handle_at(pending.new_comm), pending.comm);
            [[fallthrough]];
        case Pending::Kind::kCollective:
            if (tracer().on() && pending.root != kTakesNoPart) [[unlikely]]
                add_part({.part = trace::CallPart::kCollectiveEnds,
                          .context = pending.comm->context,
                          .root = pending.root,
                          .number = pending.number,
                          .bytes = pending.end.bytes});
            break;
    }
}

// MPI_Pcontrol switches recording off and on, as in our own library (MPI 5.0, section 15.2.4).
void Recorder::control(int level) {
    if (!tracer().on()) return;
    if (level == 0)
        tracer().stop();
    else
        tracer().start(0);
}

// MPI_Finalize of Open MPI unloads modules. On a busy computer, its progress thread may not have
// had a processor yet to handle an event with one of them. So the threads that the library has
// started for itself handle their events first (decision 083).
void Recorder::let_library_rest() const {
    constexpr std::chrono::milliseconds kAtMost{200};
    let_rest({tables_.library_threads.data(), tables_.library_threads_count}, kAtMost);
}

}  // namespace poe::observe
