// How a call begins: what it is about, what is shown and recorded of it. recorder_effects.cpp has what follows
// when it has succeeded. See recorder.hpp.
#include "mpi/observe/recorder.hpp"

#include <algorithm>

#include "base/calls.hpp"
#include "mpi/observe/recorder_parts.hpp"

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

Recorder::Recorder(const ForeignLibrary& library, TaskSlot& slot, TaskId world_task)
    : library_(library),
      slot_(slot),
      many_threads_(library.many_threads()),
      main_thread_(this_thread()),
      comms_(library_, world_task) {
    if (many_threads_) tracer().record_states_of_this_thread();
}

void Recorder::before(PoeObservedCall& call) {
    const CallShape& shape = *shape_of(call.number);
    std::unique_lock lock(mutex_, std::defer_lock);
    if (many_threads_) lock.lock();
    call.kept[kRegion] = 0;
    if (finalized_) return;
    save(call, shape);
    if (is_silent(shape.action)) return;
    const About now = about(call, shape);
    call.kept[kBytes] = now.end.bytes;
    if (!many_threads_ || this_thread() == main_thread_) show(call, now);
    if (tracer().on()) [[unlikely]]
        record(call, now);
    if (now.collective) call.kept[kNumber] = now.comm->operations++;

    // A message counts as sent before the library sees it, so that it cannot arrive earlier.
    const bool sends = shape.action == Action::kSend || shape.action == Action::kStartSend ||
                       shape.action == Action::kExchange || shape.action == Action::kStartExchange;
    if (sends && now.comm != nullptr) {
        const bool later = shape.action == Action::kStartSend;
        call.kept[kNumber] = send(*now.comm, outgoing(call, shape, *now.comm), later ? requests_ + 1 : 0);
    }
    if (shape.action == Action::kStart) start_persistent(call, shape);
}

// Keeps what the library will overwrite, and has it write what the program ignores.
void Recorder::save(PoeObservedCall& call, const CallShape& shape) {
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
            call.kept[kHandle] = library_.handle_at(pointer(call, shape.message));
            break;
        case Action::kStart:
        case Action::kComplete:
        case Action::kFreeRequest:
            save_requests(call, shape);
            break;
        case Action::kFreeComm:
            call.kept[kHandle] = library_.handle_at(pointer(call, shape.comm));
            break;
        case Action::kFreeType:
            call.kept[kHandle] = library_.handle_at(pointer(call, 0));
            break;
        default:
            break;
    }
}

void Recorder::save_requests(PoeObservedCall& call, const CallShape& shape) {
    if (shape.requests < 0) {
        call.kept[kHandle] = library_.handle_at(pointer(call, shape.request));
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

void Recorder::want_status(PoeObservedCall& call, const CallShape& shape, std::size_t count) {
    long& status = call.arguments[shape.status];
    if (static_cast<Word>(status) != library_.status_ignore) return;
    if (count * library_.status_bytes <= sizeof call.status) {
        status = reinterpret_cast<long>(call.status);
        return;
    }
    std::vector<unsigned long>& own = call_memory().statuses;
    own.resize(count * library_.status_bytes / sizeof(unsigned long) + 1);
    status = reinterpret_cast<long>(own.data());
}

Recorder::About Recorder::about(const PoeObservedCall& call, const CallShape& shape) {
    About now;
    if (shape.comm >= 0 && shape.action != Action::kFreeComm)
        now.comm = comms_.find(library_.handle(call.arguments[shape.comm]));
    else if (shape.action == Action::kFreeComm)
        now.comm = comms_.find(call.kept[kHandle]);
    switch (shape.action) {
        case Action::kSend:
        case Action::kStartSend:
        case Action::kMakeSend:
            if (now.comm != nullptr) now.end = outgoing(call, shape, *now.comm);
            break;
        case Action::kReceive:
        case Action::kStartReceive:
        case Action::kMakeReceive:
        case Action::kExchange:
        case Action::kStartExchange:
        case Action::kProbe:
        case Action::kPoll:
        case Action::kMatch:
            if (now.comm != nullptr) now.end = incoming(call, shape, *now.comm);
            break;
        case Action::kReceiveMatched:
        case Action::kStartReceiveMatched:
            if (const Pending* known = matched_.find(call.kept[kHandle])) {
                now.comm = known->comm;
                now.end = known->end;
            }
            break;
        case Action::kComplete:
        case Action::kStart:
            if (shape.requests >= 0) break;
            if (const Pending* known = pending_.find(call.kept[kHandle])) {
                now.comm = known->comm;
                now.end = known->end;
            }
            break;
        case Action::kCollective:
        case Action::kMakeComm:
        case Action::kStartCollective:
        case Action::kStartMakingComm:
            if (now.comm == nullptr) break;
            now.collective = true;
            now.end.bytes = collective_bytes(call, shape);
            now.end.tag = group_number(*now.comm);
            if (shape.root >= 0 && !now.comm->inter)
                now.root = now.comm->task(integer(call, shape.root));
            if (shape.action == Action::kStartCollective ||
                shape.action == Action::kStartMakingComm)
                now.phase = trace::Phase::kStarts;
            break;
        default:
            break;
    }
    return now;
}

End Recorder::outgoing(const PoeObservedCall& call, const CallShape& shape,
                       const Communicator& comm) {
    const int rank = integer(call, shape.dest);
    return {.peer = comm.task(rank),
            .tag = integer(call, shape.send_tag),
            .bytes = bytes_of(call, shape.send_count, shape.send_type),
            .nobody = rank == library_.proc_null};
}

End Recorder::incoming(const PoeObservedCall& call, const CallShape& shape,
                       const Communicator& comm) {
    const int rank = integer(call, shape.source);
    const int tag = integer(call, shape.receive_tag);
    return {.peer = comm.task(rank),
            .tag = tag == library_.any_tag ? TaskActivity::kNoType : tag,
            .bytes = bytes_of(call, shape.receive_count, shape.receive_type),
            .nobody = rank == library_.proc_null,
            .wildcard = rank == library_.any_source || tag == library_.any_tag};
}

Bytes Recorder::bytes_of(const PoeObservedCall& call, int count, int type) {
    if (count < 0 || type < 0) return 0;
    const int elements = integer(call, count);
    if (elements <= 0) return 0;
    const Word handle = library_.handle(call.arguments[type]);
    Bytes* size = type_sizes_.find(handle);
    if (size == nullptr) {
        type_sizes_.add(handle, library_.type_size(handle));
        size = type_sizes_.find(handle);
    }
    return static_cast<Bytes>(elements) * *size;
}

// What this member contributes. Arguments that only the root need give, or that do not count with
// MPI_IN_PLACE, may be anything and are not looked at.
Bytes Recorder::collective_bytes(const PoeObservedCall& call, const CallShape& shape) {
    const bool two_types = shape.send_type >= 0 && shape.receive_type >= 0;
    if (two_types && shape.root >= 0) return 0;
    const bool in_place =
        shape.send_buffer >= 0 &&
        static_cast<Word>(call.arguments[shape.send_buffer]) == library_.in_place;
    return in_place && two_types ? bytes_of(call, shape.receive_count, shape.receive_type)
                                 : bytes_of(call, shape.send_count, shape.send_type);
}

void Recorder::show(const PoeObservedCall& call, const About& now) {
    slot_.calls.store(slot_.calls.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    if (now.comm != nullptr && now.comm != shown_comm_) {
        slot_.context_name.write(now.comm->name);
        shown_comm_ = now.comm;
    }
    slot_.doing.set(static_cast<Call>(call.number), now.end.peer, now.end.tag, now.end.bytes,
                    now.comm != nullptr ? now.comm->context : 0);
}

void Recorder::hide() noexcept {
    if (!many_threads_ || this_thread() == main_thread_) slot_.doing.clear();
}

void Recorder::record(PoeObservedCall& call, const About& now) {
    const trace::About detail{now.comm != nullptr ? now.comm->context : 0, 0};
    if (!tracer().enter(call.number, now.end.peer, now.end.tag, call.site, detail)) return;
    call.kept[kRegion] = call.number;
    if (now.collective)
        tracer().collective(now.root, group_number(*now.comm), now.end.bytes, now.comm->operations,
                            now.phase);
}

// Returns the number of the message; 0 if there is none.
std::uint32_t Recorder::send(const Communicator& comm, const End& end, std::uint32_t request) {
    if (end.nobody || end.peer < 0) return 0;
    const std::uint32_t number = sends_.next({comm.context, end.peer, end.tag});
    slot_.traffic.add_sent(end.bytes);
    if (tracer().on()) [[unlikely]]
        tracer().sent(trace::kNumberedByTag, end.peer, end.tag, end.bytes, number,
                      {comm.context, request});
    return number;
}

// The requests of MPI_Start or MPI_Startall begin their operations again.
void Recorder::start_persistent(const PoeObservedCall& call, const CallShape& shape) {
    const bool several = shape.requests >= 0;
    const std::vector<Word>& all = call_memory().requests;
    for (std::size_t i = 0; i < (several ? all.size() : 1); ++i) {
        Pending* const pending = pending_.find(several ? all[i] : call.kept[kHandle]);
        if (pending == nullptr || !pending->persistent || pending->comm == nullptr) continue;
        pending->active = true;
        Communicator& comm = *pending->comm;
        const End& end = pending->end;
        if (pending->kind == Pending::Kind::kSend) {
            pending->number = send(comm, end, pending->request);
        } else if (pending->kind == Pending::Kind::kReceive) {
            pending->number = number_of_receive(comm, end);
        } else if (pending->kind == Pending::Kind::kCollective) {
            pending->number = comm.operations++;
            if (call.kept[kRegion] != 0)
                tracer().collective(pending->root, group_number(comm), end.bytes, pending->number,
                                    trace::Phase::kStarts);
        }
    }
}

// The number of a receive that has just been posted; 0 if only its message tells it.
std::uint32_t Recorder::number_of_receive(const Communicator& comm, const End& end) {
    if (end.nobody || end.wildcard || end.peer < 0) return 0;
    return receives_.next({comm.context, end.peer, end.tag});
}

}  // namespace poe::observe
