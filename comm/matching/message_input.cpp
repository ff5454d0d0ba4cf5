// The receiving half of the message layer: frames from pipes, matching, unexpected messages.
// Everything in a frame was written by another process and is checked here before it is used.
#include <algorithm>
#include <cstring>
#include <new>

#include "base/check.hpp"
#include "comm/matching/message_events.hpp"
#include "comm/matching/message_layer.hpp"
#include "comm/matching/message_peer.hpp"
#include "tracer/probe/process_context.hpp"

namespace poe::comm {
namespace {

constexpr unsigned kFramesPerVisit = 64;
// Longer messages are rarely complete when they are first seen.
constexpr Bytes kMostAtOnce = 4096;
constexpr std::uint32_t kTimeOneEager = 4;  // one of this many eager messages is timed

}  // namespace

void MessageLayer::break_pipe(Peer& from, const char* reason) {
    if (from.fault == nullptr) from.fault = reason;
    std::erase(transfers_.bursting, &from);
}

// Not inlined into the polling loop, which must stay short.
[[gnu::noinline]] bool MessageLayer::on_input(Pipe& pipe) {
    Peer& from = peer(pipe.peer());
    bool moved = false;
    visited_ = 0;
    for (unsigned frames = 0;
         frames < kFramesPerVisit && visited_ < kBytesPerVisit && from.fault == nullptr; ++frames) {
        if (!from.in.active) {
            const FrameHeader* header = pipe.front();
            if (header == nullptr) break;
            if (receive_at_once(from, *header)) return true;
            if (receive_posted(from, *header)) {
                moved = true;
                if (awaited_ != nullptr && *awaited_ != Outcome::kPending) return true;
                continue;
            }
            if (!begin_frame(from, *header)) break;
            moved = true;
        }
        if (move_payload(from)) moved = true;
        if (from.in.got < from.in.header.length) break;
        finish_frame(from);
        if (awaited_ != nullptr && *awaited_ != Outcome::kPending) return true;
    }
    return take_handover(from) || moved;
}

// Fast path for by far the most frequent case: the message is complete, fits, and is the one that
// the blocking receive waits for, and no other receive is posted. False: nothing was done.
inline bool MessageLayer::receive_at_once(Peer& from, const FrameHeader& header) {
    ReceiveRequest* request = posted_.blocking;
    if (request == nullptr || header.kind != FrameKind::kEager || !posted_.queues.empty())
        return false;
    const MatchKey& wanted = request->wanted;
    const bool fits = wanted.context == header.context &&
                      (wanted.type == header.tag || wanted.type == kWildcard) &&
                      (wanted.source == from.task || wanted.source == kWildcard);
    if (!fits || header.tag < 0 || header.length > settings_.eager_limit) return false;
    if (!from.pipe->read_whole(request->view, header.length + kMessageCost)) return false;
    posted_.blocking = nullptr;
    request->source = from.task;
    request->type = header.tag;
    request->length = header.length;
    request->expected = header.length;
    request->flow = header.flow;
    request->number = ++from.messages_from[index_of(header.flow)];
    note_received(*request);
    finish(*request, Outcome::kDone);
    return true;
}

// The same fast path for a message that matches a posted receive.
inline bool MessageLayer::receive_posted(Peer& from, const FrameHeader& header) {
    if (header.kind != FrameKind::kEager || header.tag < 0 || header.length > kMostAtOnce ||
        header.length > settings_.eager_limit || posted_.queues.empty() ||
        !is_flow_class(header.flow))
        return false;
    ReceiveRequest* request = find_match(header.context, from.task, header.tag);
    if (request == nullptr || request == posted_.blocking) return false;
    const Bytes length = header.length;
    const std::int32_t type = header.tag;
    const FlowClass flow = header.flow;
    if (!from.pipe->read_whole(request->view, length + kMessageCost)) return false;
    unpost(*request);
    matched(*request, from.task, type, length, flow, ++from.messages_from[index_of(flow)]);
    request->moved = length;
    complete(*request, Outcome::kDone);
    return true;
}

// Decides where the payload of a new frame goes. False: the frame is invalid, and the pipe is
// marked broken.
bool MessageLayer::begin_frame(Peer& from, const FrameHeader& header) {
    InboundFrame& in = from.in;
    in.header = header;
    in.got = 0;
    in.into = nullptr;
    in.kept = nullptr;
    in.base = 0;
    in.room = 0;
    in.begun_ns = 0;
    if (!is_flow_class(header.flow)) {
        break_pipe(from, "it sent a frame of an unknown class");
        return false;
    }
    switch (header.kind) {
        case FrameKind::kEager:
            in.active = begin_eager(from, header);
            return in.active;
        case FrameKind::kData:
            in.active = begin_data(from, header);
            return in.active;
        case FrameKind::kRequest:
        case FrameKind::kGrant:
        case FrameKind::kCancel:
        case FrameKind::kCancelled: {
            const std::size_t size = header.kind == FrameKind::kGrant     ? sizeof(GrantBody)
                                     : header.kind == FrameKind::kRequest ? sizeof(RequestBody)
                                                                          : sizeof(CancelBody);
            in.active = header.length == size;
            if (!in.active) break_pipe(from, "it sent a control frame of the wrong size");
            return in.active;
        }
    }
    break_pipe(from, "it sent a frame of an unknown kind");
    return false;
}

bool MessageLayer::begin_eager(Peer& from, const FrameHeader& header) {
    InboundFrame& in = from.in;
    const Bytes cost = Bytes{header.length} + kMessageCost;
    if (header.tag < 0 || header.length > settings_.eager_limit ||
        from.eager_held[index_of(header.flow)] + cost > settings_.buffer_mem) {
        break_pipe(from, "it sent a message without tokens or with an impossible type");
        return false;
    }
    const std::uint32_t number = ++from.messages_from[index_of(header.flow)];
    if (ReceiveRequest* receive = match(header.context, from.task, header.tag)) {
        matched(*receive, from.task, header.tag, header.length, header.flow, number);
        in.into = receive;
        in.room = receive->expected;
        if (header.length >= kLeastHandover && from.timed_eager++ % kTimeOneEager == 0)
            in.begun_ns = now_ns();
        return true;
    }
    Unexpected& kept = keep({header.context, from.task, header.tag}, header.flow, header.length,
                            cost, header.length, number);
    from.eager_held[index_of(header.flow)] += cost;
    in.kept = &kept;
    in.room = header.length;
    return true;
}

bool MessageLayer::begin_data(Peer& from, const FrameHeader& header) {
    ReceiveRequest* receive = receives_.find(static_cast<std::uint32_t>(header.tag));
    if (receive == nullptr || receive->source != from.task ||
        header.length > receive->expected - receive->moved) {
        break_pipe(from, "it sent data that nobody granted");
        return false;
    }
    from.in.into = receive;
    from.in.base = receive->moved;
    from.in.room = header.length;
    return true;
}

bool MessageLayer::move_payload(Peer& from) {
    InboundFrame& in = from.in;
    Pipe& pipe = *from.pipe;
    bool moved = false;
    while (in.got < in.header.length && visited_ < kBytesPerVisit) {
        const Bytes left = kBytesPerVisit - visited_;
        const Bytes rest = std::min(left, in.header.length - in.got);
        const Bytes keep_rest = in.got < in.room ? std::min(left, in.room - in.got) : 0;
        Bytes got = 0;
        if (in.header.kind != FrameKind::kEager && in.header.kind != FrameKind::kData) {
            got = pipe.read(BufferView(in.body, sizeof in.body), in.got, rest);
        } else if (keep_rest == 0) {
            got = pipe.skip(rest);
        } else if (in.into != nullptr) {
            got = pipe.read(in.into->view, in.base + in.got, keep_rest);
        } else {
            got = pipe.read(BufferView(in.kept->data.data(), in.header.length), in.got, keep_rest);
        }
        if (got == 0) break;
        // A message that was complete when it was first seen was not streamed, so its time is not
        // counted.
        if (in.got == 0 && got == in.header.length) in.begun_ns = 0;
        in.got += got;
        visited_ += got;
        moved = true;
    }
    return moved;
}

void MessageLayer::finish_frame(Peer& from) {
    InboundFrame& in = from.in;
    in.active = false;
    from.pipe->finish_frame();
    switch (in.header.kind) {
        case FrameKind::kEager:
            if (in.into != nullptr) {
                if (in.begun_ns != 0) {
                    from.single_copy_tuner.took(CopyMethod::kStream, in.header.length,
                                                now_ns() - in.begun_ns);
                    publish_cheaper(from, in.header.length);
                }
                from.pipe->give_tokens(in.header.flow, Bytes{in.header.length} + kMessageCost);
                in.into->moved = in.into->expected;
                complete(*in.into, Outcome::kDone);
            } else {
                in.kept->state = Unexpected::State::kHere;
                if (ReceiveRequest* claimer = in.kept->claimed) {
                    copy_to(*claimer, *in.kept);
                    drop(in.kept);
                }
            }
            return;
        case FrameKind::kData: {
            ReceiveRequest& into = *in.into;
            into.moved += in.header.length;
            if (into.moved != into.expected) return;
            end_transfer(from, into);
            complete(into, Outcome::kDone);
            return;
        }
        case FrameKind::kRequest: {
            RequestBody body;
            std::memcpy(&body, in.body, sizeof body);
            handle_request(from, in.header, body);
            return;
        }
        case FrameKind::kGrant: {
            GrantBody body;
            std::memcpy(&body, in.body, sizeof body);
            handle_grant(from, body);
            return;
        }
        case FrameKind::kCancel: {
            CancelBody body;
            std::memcpy(&body, in.body, sizeof body);
            handle_cancel(from, in.header, body);
            return;
        }
        case FrameKind::kCancelled: {
            CancelBody body;
            std::memcpy(&body, in.body, sizeof body);
            handle_cancelled(from, body);
            return;
        }
    }
}

void MessageLayer::handle_request(Peer& from, const FrameHeader& header, const RequestBody& body) {
    if (header.tag < 0 ||
        from.eager_held[index_of(header.flow)] + kMessageCost > settings_.buffer_mem) {
        break_pipe(from, "it announced a message without tokens or with an impossible type");
        return;
    }
    const std::uint32_t number = ++from.messages_from[index_of(header.flow)];
    if (ReceiveRequest* receive = match(header.context, from.task, header.tag)) {
        from.pipe->give_tokens(header.flow, kMessageCost);
        matched(*receive, from.task, header.tag, body.length, header.flow, number);
        accept_offer(from, body, *receive);
        return;
    }
    Unexpected& offer = keep({header.context, from.task, header.tag}, header.flow, body.length,
                             kMessageCost, 0, number);
    from.eager_held[index_of(header.flow)] += kMessageCost;
    offer.offer = body;
    offer.state = Unexpected::State::kOffered;
    if (offer.may_be_taken_in()) ++offers_.count;
}

// Returns the oldest posted receive that matches such a message; null if there is none.
ReceiveRequest* MessageLayer::find_match(ContextId context, TaskId source,
                                         std::int32_t type) const {
    ReceiveRequest* best = nullptr;
    const auto consider = [&](const MatchKey& key) {
        const QueueLink* link = posted_.queues.first(key);
        if (link == nullptr) return;
        auto* request = static_cast<ReceiveRequest*>(link->owner);
        if (best == nullptr || request->order < best->order) best = request;
    };
    if (!posted_.queues.empty()) {
        consider({context, source, type});
        if (posted_.with_wildcard > 0) {
            consider({context, source, kWildcard});
            consider({context, kWildcard, type});
            consider({context, kWildcard, kWildcard});
        }
    }
    if (best != nullptr) return best;
    // The blocking receive is the newest, so it gets the message only if no posted receive matches.
    if (posted_.blocking == nullptr || posted_.blocking->wanted.context != context) return nullptr;
    const MatchKey& wanted = posted_.blocking->wanted;
    const bool fits = (wanted.source == source || wanted.source == kWildcard) &&
                      (wanted.type == type || wanted.type == kWildcard);
    return fits ? posted_.blocking : nullptr;
}

// Finds the match and takes the receive, so that no other message can match it.
ReceiveRequest* MessageLayer::match(ContextId context, TaskId source, std::int32_t type) {
    ReceiveRequest* best = find_match(context, source, type);
    if (best == nullptr) return nullptr;
    if (best == posted_.blocking) {
        posted_.blocking = nullptr;
    } else {
        unpost(*best);
    }
    return best;
}

void MessageLayer::unpost(ReceiveRequest& request) {
    posted_.queues.remove(request.link);
    if (request.wanted.source < 0 || request.wanted.type < 0) --posted_.with_wildcard;
}

void MessageLayer::start(ReceiveRequest& request) {
    request.order = posted_.next_order++;
    if (Unexpected* message = unexpected_.first(request.wanted)) {
        take(*message, request);
        return;
    }
    request.link.owner = &request;
    posted_.queues.push(request.link, request.wanted);
    if (request.wanted.source < 0 || request.wanted.type < 0) ++posted_.with_wildcard;
}

void MessageLayer::matched(ReceiveRequest& request, TaskId source, std::int32_t type, Bytes length,
                           FlowClass flow, std::uint32_t number) {
    request.source = source;
    request.type = type;
    request.flow = flow;
    request.number = number;
    request.length = length;
    request.expected = std::min(length, request.view.size());
}

void MessageLayer::complete(ReceiveRequest& request, Outcome outcome) {
    if (request.id != 0) {
        receives_.remove(request.id);
        request.id = 0;
    }
    Unexpected* message = request.fills;
    if (message == nullptr && outcome == Outcome::kDone) note_received(request);
    finish(request, outcome);
    if (message == nullptr) return;
    message->state = Unexpected::State::kHere;
    if (ReceiveRequest* claimer = message->claimed) {
        copy_to(*claimer, *message);
        drop(message);
    }
}

// Removes a receive that will not be completed.
void MessageLayer::abandon(ReceiveRequest& request) {
    if (posted_.blocking == &request) posted_.blocking = nullptr;
    if (request.link.queue != nullptr) unpost(request);
    if (request.id != 0) receives_.remove(request.id);
    request.id = 0;
    abandon_transfer(request);
    std::erase_if(fetches_, [&](const Fetch& each) { return each.into == &request; });
}

// Stores an unexpected message, so that a receive finds it.
Unexpected& MessageLayer::keep(const MatchKey& from, FlowClass flow, Bytes length, Bytes cost,
                               Bytes room, std::uint32_t number) {
    Unexpected* message = pool_.take(room);
    message->from = from;
    message->flow = flow;
    message->number = number;
    message->length = length;
    message->cost = cost;
    unexpected_.add(*message);
    raise_event(EngineEvent::kUnexpectedArrived, *message);
    return *message;
}

void MessageLayer::start(ReceiveRequest& request, Unexpected& extracted) {
    request.order = posted_.next_order++;
    request.wanted = extracted.from;
    deliver(extracted, request);
}

void MessageLayer::take(Unexpected& message, ReceiveRequest& request) {
    unexpected_.match(message);
    deliver(message, request);
}

// Delivers an unexpected message, which is in no queue, to the receive that matches it.
void MessageLayer::deliver(Unexpected& message, ReceiveRequest& request) {
    matched(request, message.from.source, message.from.type, message.length, message.flow,
            message.number);
    raise_event(EngineEvent::kUnexpectedMatched, message);
    switch (message.state) {
        case Unexpected::State::kHere:
            copy_to(request, message);
            drop(&message);
            return;
        case Unexpected::State::kArriving:
            message.claimed = &request;
            return;
        case Unexpected::State::kOwnSend: {
            SendRequest& send = *message.own_send;
            send.kept = nullptr;
            drop(&message);
            receive_own(send, request);
            return;
        }
        case Unexpected::State::kOffered: {
            const RequestBody offer = message.offer;
            if (message.may_be_taken_in()) --offers_.count;
            drop(&message);
            accept_offer(peer(request.source), offer, request);
            return;
        }
        case Unexpected::State::kWithdrawn:
            drop(&message);
            finish(request, Outcome::kNobodySends);
            return;
    }
}

void MessageLayer::copy_to(ReceiveRequest& request, const Unexpected& message) {
    request.view.copy_in(0, message.data.data(), request.expected);
    request.moved = request.expected;
    complete(request, Outcome::kDone);
}

// Ends an unexpected message and releases its buffer memory.
void MessageLayer::drop(Unexpected* message) {
    unexpected_.remove(*message);
    Peer& from = peer(message->from.source);
    from.eager_held[index_of(message->flow)] -= message->cost;
    if (message->taken_in) from.offers_held -= message->length;
    if (from.pipe != nullptr) from.pipe->give_tokens(message->flow, message->cost);
    pool_.give(message);
}

void MessageLayer::note_received(const ReceiveRequest& request) {
    traffic_.words->add_received(request.length);
    if (process_context().tracer.on() && !is_guest(request.source)) [[unlikely]]
        process_context().tracer.received(static_cast<std::uint8_t>(request.flow), request.source,
                                          request.type, request.length, request.number,
                                          {request.wanted.context});
}

}  // namespace poe::comm
