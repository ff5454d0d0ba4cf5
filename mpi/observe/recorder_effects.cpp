// How a call ends: requests that it has made or ended, messages that have arrived, communicators that exist now.
// See recorder.hpp.
#include "mpi/observe/recorder.hpp"
#include "mpi/observe/recorder_parts.hpp"

namespace poe::observe {
namespace {

constexpr int kUndefined = -32766;  // MPI_UNDEFINED in all libraries
constexpr int kSuccess = 0;         // MPI_SUCCESS

bool is_true(const PoeObservedCall& call, int place) noexcept {
    return place < 0 || *static_cast<const int*>(pointer(call, place)) != 0;
}

}  // namespace

void Recorder::after(PoeObservedCall& call, int result) {
    const CallShape& shape = *shape_of(call.number);
    std::unique_lock lock(mutex_, std::defer_lock);
    if (many_threads_) lock.lock();
    if (finalized_) return;
    if (result == kSuccess) take_effect(call, shape);
    if (call.kept[kRegion] != 0) [[unlikely]]
        tracer().leave(static_cast<std::uint32_t>(call.kept[kRegion]), call.kept[kBytes]);
    if (!is_silent(shape.action)) hide();
}

void Recorder::take_effect(PoeObservedCall& call, const CallShape& shape) {
    const auto new_comm = [&] { return library_.handle_at(pointer(call, shape.new_comm)); };
    switch (shape.action) {
        case Action::kReceive:
        case Action::kExchange:
            if (Communicator* comm = comms_.find(library_.handle(call.arguments[shape.comm]))) {
                const End end = incoming(call, shape, *comm);
                if (end.nobody) break;
                arrived(*comm, library_.arrival(pointer(call, shape.status)),
                        number_of_receive(*comm, end), 0);
            }
            break;
        case Action::kMatch:
            if (is_true(call, shape.flag)) match(call, shape);
            break;
        case Action::kReceiveMatched:
            if (const Pending* known = matched_.find(call.kept[kHandle])) {
                arrived(*known->comm, library_.arrival(pointer(call, shape.status)), known->number, 0);
                matched_.remove(call.kept[kHandle]);
            }
            break;
        case Action::kComplete:
            complete(call, shape);
            break;
        case Action::kFreeRequest:
            pending_.remove(call.kept[kHandle]);
            break;
        case Action::kMakeComm:
            comms_.made(new_comm(), comms_.find(library_.handle(call.arguments[shape.comm])));
            break;
        case Action::kFreeComm:
            comms_.freed(call.kept[kHandle]);
            shown_comm_ = nullptr;
            break;
        case Action::kRename:
            comms_.renamed(library_.handle(call.arguments[shape.comm]));
            shown_comm_ = nullptr;
            break;
        case Action::kFreeType:
            type_sizes_.remove(call.kept[kHandle]);
            break;
        case Action::kControl:
            control(integer(call, 0));
            break;
        case Action::kFinalize:
            finalized_ = true;
            break;
        default:
            if (makes_request(shape.action)) add_request(call, shape);
            break;
    }
}

// The call has stored a new request.
void Recorder::add_request(const PoeObservedCall& call, const CallShape& shape) {
    const Word handle = library_.handle_at(pointer(call, shape.request));
    if (handle == library_.request_null) return;
    const About now = about(call, shape);
    if (now.comm == nullptr) return;
    Pending pending{.end = now.end, .request = ++requests_, .root = now.root, .comm = now.comm};
    pending.number = static_cast<std::uint32_t>(call.kept[kNumber]);
    pending.persistent = shape.action == Action::kMakeSend || shape.action == Action::kMakeReceive ||
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
            pending.number = number_of_receive(*now.comm, now.end);
            break;
        case Action::kMakeReceive:
            pending.kind = Pending::Kind::kReceive;
            break;
        case Action::kStartReceiveMatched:
            pending.kind = Pending::Kind::kReceive;
            pending.number = matched_.find(call.kept[kHandle])->number;
            matched_.remove(call.kept[kHandle]);
            break;
        case Action::kStartMakingComm:
            pending.kind = Pending::Kind::kNewComm;
            pending.new_comm = pointer(call, shape.new_comm);
            break;
        default:
            pending.kind = Pending::Kind::kCollective;
            if (shape.root >= 0 && !now.comm->inter)
                pending.root = now.comm->task(integer(call, shape.root));
            break;
    }
    pending_.add(handle, pending);
}

// A matched probe has taken a message out of matching; MPI_Mrecv will receive it.
void Recorder::match(const PoeObservedCall& call, const CallShape& shape) {
    Communicator* const comm = comms_.find(library_.handle(call.arguments[shape.comm]));
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
void Recorder::complete(const PoeObservedCall& call, const CallShape& shape) {
    if (!is_true(call, shape.flag)) return;
    const void* const statuses = shape.status >= 0 ? pointer(call, shape.status) : nullptr;
    if (shape.requests < 0) {
        finish(call.kept[kHandle], statuses, 0);
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
    if (!pending.persistent) pending_.remove(handle);
    switch (pending.kind) {
        case Pending::Kind::kSend:
            if (pending.number != 0 && tracer().on()) [[unlikely]]
                tracer().send_ended(trace::kNumberedByTag, pending.end.peer, pending.end.tag,
                                    pending.number, {pending.comm->context, pending.request});
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
        case Pending::Kind::kCollective:
            if (tracer().on()) [[unlikely]]
                tracer().collective(pending.root, group_number(*pending.comm), pending.end.bytes,
                                    pending.number, trace::Phase::kEnds);
            break;
        case Pending::Kind::kNewComm:
            comms_.made(library_.handle_at(pending.new_comm), pending.comm);
            break;
    }
}

// `number`: of the message, if the receive knew it when it was posted; otherwise 0.
void Recorder::arrived(const Communicator& comm, const Arrival& arrival, std::uint32_t number,
                       std::uint32_t request) {
    const TaskId from = comm.task(arrival.source);
    if (from < 0) return;
    if (number == 0) number = receives_.next({comm.context, from, arrival.tag});
    slot_.traffic.add_received(arrival.bytes);
    if (tracer().on()) [[unlikely]]
        tracer().received(trace::kNumberedByTag, from, arrival.tag, arrival.bytes, number,
                          {comm.context, request});
}

// MPI_Pcontrol switches recording off and on, as in our own library (MPI 5.0, section 15.2.4).
void Recorder::control(int level) {
    if (!tracer().on()) return;
    if (level == 0)
        tracer().stop();
    else
        tracer().start(0);
}

}  // namespace poe::observe
