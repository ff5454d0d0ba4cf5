// The sending half of the message layer: frames into pipes, and the sender's side of a rendezvous.
#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <utility>

#include "base/check.hpp"
#include "comm/matching/message_layer.hpp"
#include "comm/matching/message_peer.hpp"
#include "tracer/probe/process_context.hpp"

namespace poe::comm {
namespace {

constexpr Bytes kLargestFrame = Bytes{1} << 30;

}  // namespace

void FrameQueue::remove(const OutFrame& frame) noexcept {
    OutFrame* before = nullptr;
    for (OutFrame* at = head; at != nullptr; before = at, at = at->next) {
        if (at != &frame) continue;
        (before != nullptr ? before->next : head) = at->next;
        if (tail == at) tail = before;
        return;
    }
}

bool FrameQueue::replace(const OutFrame& old, OutFrame& frame) noexcept {
    OutFrame* before = nullptr;
    for (OutFrame* at = head; at != nullptr; before = at, at = at->next) {
        if (at != &old) continue;
        frame.next = at->next;
        (before != nullptr ? before->next : head) = &frame;
        if (tail == at) tail = &frame;
        return true;
    }
    return false;
}

void MessageLayer::start(SendRequest& request) {
    request.number = note_sent(peer(request.dest), request.flow, request.type, request.view.size(),
                               request.context);
    if (request.dest == settings_.me) {
        send_to_self(request);
    } else {
        begin(request);
    }
}

bool MessageLayer::send_at_once(const BufferView& view, TaskId dest, std::int32_t type,
                                ContextId context, FlowClass flow) {
    const Bytes size = view.size();
    Peer& to = peer(dest);
    if (dest == settings_.me) {
        // The message ends at once if there is a receive for it, or room.
        if (to.eager_held[index_of(flow)] + size + kMessageCost > settings_.buffer_mem &&
            find_match(context, dest, type) == nullptr)
            return false;
        SendRequest request(view, dest, type, context, flow);
        start(request);
        POE_CHECK(request.outcome == Outcome::kDone, size);
        return true;
    }
    if (size > to.at_once || !to.idle()) return false;
    const FrameHeader header{static_cast<std::uint32_t>(size), type, context, FrameKind::kEager,
                             flow};
    if (to.pipe->start_frame(header, view, 0, size + kMessageCost) != size) return false;
    note_sent(to, flow, type, size, context);
    return true;
}

void MessageLayer::begin(SendRequest& request) {
    Peer& to = peer(request.dest);
    OutFrame& frame = request.frame;
    frame.request = &request;
    if (request.view.size() <= to.eager_limit && !request.synchronous) {
        frame.header = {static_cast<std::uint32_t>(request.view.size()), request.type,
                        request.context, FrameKind::kEager, request.flow};
        frame.payload = request.view;
        frame.cost = request.view.size() + kMessageCost;
        if (to.idle()) [[likely]] {
            const Bytes taken = to.pipe->start_frame(frame.header, frame.payload, 0, frame.cost);
            if (taken == frame.header.length) return finish(request, Outcome::kDone);
            frame.started = taken != Pipe::kNoRoom;
            if (frame.started) frame.sent = taken;
        }
    } else {
        request.id = sends_.add(request);
        RequestBody body;
        body.length = request.view.size();
        if (request.view.contiguous()) {
            body.address = reinterpret_cast<std::uintptr_t>(request.view.start());
        }
        body.send_id = request.id;
        if (request.synchronous) body.flags = kSynchronous;
        std::memcpy(frame.body, &body, sizeof body);
        frame.header = {sizeof body, request.type, request.context, FrameKind::kRequest,
                        request.flow};
        frame.payload = BufferView(frame.body, sizeof body);
        frame.cost = kMessageCost;
    }
    queue_frame(to, frame);
    pump(to);
}

// Removes a send that will not be completed.
void MessageLayer::abandon(SendRequest& request) {
    Peer& to = peer(request.dest);
    if (to.current == &request.frame) to.current = nullptr;
    to.urgent.remove(request.frame);
    to.ordered[index_of(request.flow)].remove(request.frame);
    if (request.id != 0) sends_.remove(request.id);
    request.id = 0;
    Unexpected* kept = std::exchange(request.kept, nullptr);
    if (kept == nullptr) return;
    if (kept->unmatchable()) {
        kept->state = Unexpected::State::kWithdrawn;  // its handle is still in use
    } else {
        drop(kept);
    }
}

// Messages are numbered when their sends start, so a message that will not be sent leaves a frame
// that the receiver counts in its place.
void MessageLayer::cancel(SendRequest& request) {
    if (request.outcome != Outcome::kPending || request.granted || request.cancelling) return;
    if (request.dest == settings_.me) {
        if (request.kept == nullptr || request.kept->unmatchable()) return;
        abandon(request);
        finish(request, Outcome::kCancelled);
        return;
    }
    Peer& to = peer(request.dest);
    FrameQueue& queue = to.ordered[index_of(request.flow)];
    OutFrame& skip = control_frame(FrameKind::kCancel, request.context, request.flow, CancelBody{});
    if (queue.replace(request.frame, skip)) {
        abandon(request);
        finish_withdrawn(request);
        pump(to);
        return;
    }
    control_frames_.free.push_back(&skip);
    if (request.id == 0) return;
    request.cancelling = true;
    if (to.current != &request.frame) send_cancel(to, request);
    pump(to);
}

void MessageLayer::send_from_copy(SendRequest& request, std::byte* copy) {
    const Bytes size = request.view.size();
    request.view.copy_out(0, copy, size);
    request.view = BufferView(copy, size);
    if (request.frame.header.kind != FrameKind::kRequest) request.frame.payload = request.view;
}

// Precondition: the frame that announces the message was sent.
void MessageLayer::send_cancel(Peer& to, const SendRequest& request) {
    queue_frame(to, control_frame(FrameKind::kCancel, request.context, request.flow,
                                  CancelBody{request.id}));
}

// If no receive matches a message to this task itself, the message is copied into buffer memory if
// it fits and is not synchronous. Otherwise its bytes stay in the sender's buffer until a receive
// takes them (receive_own).
void MessageLayer::send_to_self(SendRequest& request) {
    const Bytes size = request.view.size();
    const MatchKey from{request.context, settings_.me, request.type};
    Peer& self = peer(settings_.me);
    const std::uint32_t number = self.messages_to[index_of(request.flow)];
    if (ReceiveRequest* receive = match(from.context, from.source, from.type)) {
        matched(*receive, from.source, from.type, size, request.flow, number);
        receive_own(request, *receive);
        return;
    }
    const bool fits =
        !request.synchronous &&
        self.eager_held[index_of(request.flow)] + size + kMessageCost <= settings_.buffer_mem;
    const Bytes room = fits ? size : 0;
    Unexpected& kept = keep(from, request.flow, size, fits ? size + kMessageCost : 0, room, number);
    self.eager_held[index_of(request.flow)] += kept.cost;
    if (!fits) {
        kept.state = Unexpected::State::kOwnSend;
        kept.own_send = &request;
        request.kept = &kept;
        return;
    }
    request.view.copy_out(0, kept.data.data(), size);
    kept.state = Unexpected::State::kHere;
    finish(request, Outcome::kDone);
}

void MessageLayer::receive_own(SendRequest& request, ReceiveRequest& receive) {
    std::array<std::byte, 4096> packed;
    for (Bytes done = 0; done < receive.expected;) {
        Bytes length = packed.size();
        const std::byte* piece = packed.data();
        const bool scattered = request.view.scattered(done);
        if (!scattered) piece = request.view.piece(done, length);
        length = std::min(length, receive.expected - done);
        if (scattered) request.view.copy_out(done, packed.data(), length);
        receive.view.copy_in(done, piece, length);
        done += length;
    }
    receive.moved = receive.expected;
    complete(receive, Outcome::kDone);
    finish(request, Outcome::kDone);
}

void MessageLayer::queue_frame(Peer& to, OutFrame& frame) {
    if (frame.started) {
        POE_CHECK(to.current == nullptr, to.task);
        to.current = &frame;
    } else {
        (frame.cost > 0 ? to.ordered[index_of(frame.header.flow)] : to.urgent).push(frame);
    }
    if (!to.in_sending_list) {
        to.in_sending_list = true;
        sending_.push_back(&to);
    }
}

bool MessageLayer::pump_all() {
    bool moved = false;
    for (std::size_t i = 0; i < sending_.size();) {
        Peer& to = *sending_[i];
        moved = pump(to) || moved;
        if (to.nothing_queued()) {
            to.in_sending_list = false;
            sending_[i] = sending_.back();
            sending_.pop_back();
        } else {
            ++i;
        }
    }
    return moved;
}

// Starts the next frame of a queue. Returns false if there is none, or no room for it.
bool MessageLayer::begin_next(Peer& to, FrameQueue& queue) {
    if (queue.empty()) return false;
    OutFrame& next = *queue.head;
    const Bytes taken = to.pipe->start_frame(next.header, next.payload, next.offset, next.cost);
    if (taken == Pipe::kNoRoom) return false;
    queue.pop();
    next.started = true;
    next.sent = taken;
    to.current = &next;
    return true;
}

// Sends what the pipe accepts: first the frame in progress, then frames that need no tokens, then
// the frames of each class in order. A class without tokens does not block another one.
bool MessageLayer::pump(Peer& to) {
    bool moved = false;
    while (to.fault == nullptr) {
        if (to.current == nullptr) {
            bool begun = begin_next(to, to.urgent);
            if (!begun && !to.urgent.empty()) break;
            for (FrameQueue& queue : to.ordered) begun = begun || begin_next(to, queue);
            if (!begun) break;
            moved = true;
        }
        moved = push(to, *to.current) || moved;
        if (to.current != nullptr) break;
    }
    return moved;
}

// Continues the frame in progress, until it is finished, the pipe is full, or kBytesPerVisit bytes
// have been sent. Returns true if it moved any.
bool MessageLayer::push(Peer& to, OutFrame& frame) {
    const Bytes before = frame.sent;
    while (frame.sent < frame.header.length) {
        const Bytes left = before + kBytesPerVisit - frame.sent;
        const Bytes taken =
            to.pipe->continue_frame(frame.payload, frame.offset + frame.sent,
                                    std::min(left, frame.header.length - frame.sent));
        if (taken == 0) return frame.sent != before;
        frame.sent += taken;
    }
    to.current = nullptr;
    frame_sent(to, frame);
    return true;
}

void MessageLayer::frame_sent(Peer& to, OutFrame& frame) {
    if (frame.request == nullptr) {
        control_frames_.free.push_back(&frame);
        return;
    }
    SendRequest& request = *frame.request;
    switch (frame.header.kind) {
        case FrameKind::kEager:
            finish(request, Outcome::kDone);
            return;
        case FrameKind::kRequest:
            if (request.cancelling) send_cancel(to, request);
            return;
        case FrameKind::kData:
            request.sent += frame.header.length;
            send_granted_data(to, request);
            return;
        case FrameKind::kGrant:
        case FrameKind::kCancel:
        case FrameKind::kCancelled:
            break;
    }
    POE_CHECK(false, static_cast<int>(frame.header.kind));
}

// Queues the next data frame of a granted message, or ends the send.
void MessageLayer::send_granted_data(Peer& to, SendRequest& request) {
    const Bytes rest = request.to_send - request.sent;
    if (rest == 0) {
        sends_.remove(request.id);
        request.id = 0;
        finish(request, Outcome::kDone);
        return;
    }
    OutFrame& frame = request.frame;
    const std::int32_t receive_id = frame.header.tag;
    frame.header = {static_cast<std::uint32_t>(std::min(rest, kLargestFrame)), receive_id,
                    request.context, FrameKind::kData, request.flow};
    frame.payload = request.view;
    frame.offset = request.sent;
    frame.sent = 0;
    frame.started = false;
    frame.cost = 0;
    queue_frame(to, frame);
}

void MessageLayer::handle_grant(Peer& from, const GrantBody& body) {
    SendRequest* request = sends_.find(body.send_id);
    if (request == nullptr || request->dest != from.task || request->granted ||
        request->frame.sent != sizeof(RequestBody) || body.length > request->view.size()) {
        break_pipe(from, "it granted a message that was not offered to it");
        return;
    }
    request->granted = true;
    request->to_send = body.length;
    request->frame.header.tag = static_cast<std::int32_t>(body.receive_id);
    send_granted_data(from, *request);
    pump(from);
}

void MessageLayer::send_grant(TaskId source, std::uint32_t send_id, ReceiveRequest& into,
                              Bytes bytes) {
    Peer& to = peer(source);
    GrantBody body;
    body.length = bytes;
    body.send_id = send_id;
    if (bytes > 0) {
        into.id = receives_.add(into);
        body.receive_id = into.id;
    }
    queue_frame(to, control_frame(FrameKind::kGrant, into.wanted.context, FlowClass::kUser, body));
    pump(to);
}

// Returns a frame that needs no tokens and that the layer frees once it was sent.
template <typename Body>
OutFrame& MessageLayer::control_frame(FrameKind kind, ContextId context, FlowClass flow,
                                      const Body& body) {
    if (control_frames_.free.empty()) {
        control_frames_.storage.push_back(std::make_unique<OutFrame>());
        control_frames_.free.push_back(control_frames_.storage.back().get());
    }
    OutFrame& frame = *control_frames_.free.back();
    control_frames_.free.pop_back();
    frame = OutFrame{};
    std::memcpy(frame.body, &body, sizeof body);
    frame.header = {sizeof body, 0, context, kind, flow};
    frame.payload = BufferView(frame.body, sizeof body);
    return frame;
}

// A message cannot be withdrawn any more if a receive has matched it, if it was extracted, or if
// its bytes are in buffer memory. Its grant is then on the way, or will be sent.
void MessageLayer::handle_cancel(Peer& from, const FrameHeader& header, const CancelBody& body) {
    if (body.send_id == 0) {
        ++from.messages_from[index_of(header.flow)];
        return;
    }
    for (Unexpected* message = unexpected_.oldest(); message != nullptr; message = message->newer) {
        if (message->state != Unexpected::State::kOffered || message->unmatchable() ||
            message->from.source != from.task || message->offer.send_id != body.send_id)
            continue;
        if (message->may_be_taken_in()) --offers_.count;
        drop(message);
        queue_frame(from,
                    control_frame(FrameKind::kCancelled, header.context, FlowClass::kUser, body));
        pump(from);
        return;
    }
}

void MessageLayer::handle_cancelled(Peer& from, const CancelBody& body) {
    SendRequest* request = sends_.find(body.send_id);
    if (request == nullptr || request->dest != from.task || request->granted ||
        !request->cancelling) {
        break_pipe(from, "it withdrew a message that was not to be withdrawn");
        return;
    }
    sends_.remove(request->id);
    request->id = 0;
    finish_withdrawn(*request);
}

void MessageLayer::finish_withdrawn(SendRequest& request) {
    finish(request, request.hopeless ? Outcome::kPeerBroken : Outcome::kCancelled);
}

// Records a message in the trace before it is sent, so that its receipt cannot be recorded earlier.
// Returns its number.
std::uint32_t MessageLayer::note_sent(Peer& to, FlowClass flow, std::int32_t type, Bytes bytes,
                                      ContextId context) {
    traffic_.words->add_sent(bytes);
    const std::uint32_t number = ++to.messages_to[index_of(flow)];
    // A trace is of one job, in which guests have no numbers.
    if (process_context().tracer.on() && !is_guest(to.task)) [[unlikely]]
        process_context().tracer.sent(static_cast<std::uint8_t>(flow), to.task, type, bytes, number,
                                      {context});
    return number;
}

}  // namespace poe::comm
