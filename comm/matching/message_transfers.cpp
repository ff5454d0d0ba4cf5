// The part of the message layer's receiving half that gets the bytes of long messages: fetched from
// the sender's memory or streamed. Long messages are those that are announced (rendezvous) and
// those that a waiting sender offers (handover.hpp).
#include <algorithm>
#include <utility>

#include "comm/matching/handover.hpp"
#include "comm/matching/message_events.hpp"
#include "comm/matching/message_layer.hpp"
#include "comm/matching/message_peer.hpp"

namespace poe::comm {

// Chooses how the bytes of an announced message come, before they do. Bursts of several peers at
// the same time delay each other, so none of them is measured.
CopyMethod MessageLayer::begin_transfer(Peer& from, ReceiveRequest& into) {
    into.in_burst = true;
    const bool begins = !from.burst.in_progress();
    const CopyMethod way =
        from.burst.begin(into.expected, now_ns(), from.single_copy_tuner, transfers_.forced_way);
    if (begins) transfers_.bursting.push_back(&from);
    if (transfers_.bursting.size() > 1)
        for (Peer* each : transfers_.bursting) each->burst.disturb();
    return way;
}

void MessageLayer::end_transfer(Peer& from, ReceiveRequest& into) {
    if (!into.in_burst) return;
    into.in_burst = false;
    from.burst.end(into.expected, now_ns(), from.single_copy_tuner);
    if (!from.burst.in_progress()) std::erase(transfers_.bursting, &from);
    publish_cheaper(from, into.expected);
}

void MessageLayer::abandon_transfer(ReceiveRequest& into) {
    if (!into.in_burst) return;
    into.in_burst = false;
    Peer& from = peer(into.source);
    from.burst.abandon();
    if (!from.burst.in_progress()) std::erase(transfers_.bursting, &from);
}

// Gets the bytes of an announced message into the receive that it matched. If the bytes are
// fetched, the first piece is fetched now, which completes a short message. Otherwise the sender is
// asked for them.
void MessageLayer::accept_offer(Peer& from, const RequestBody& offer, ReceiveRequest& into) {
    const Bytes wanted = into.expected;
    const bool can_fetch = wanted > 0 && offer.address != 0 && from.pipe->can_fetch();
    const bool fetches =
        can_fetch && !into.view.scattered(0) && begin_transfer(from, into) == CopyMethod::kFetch;
    raise_accepted(into, fetches);
    if (fetches) {
        Fetch fetch{&from, offer, &into, 0};
        if (!fetch_piece(fetch)) fetches_.insert(fetches_.begin(), fetch);
        return;
    }
    send_grant(from.task, offer.send_id, into, wanted);
    if (wanted == 0) complete(into, Outcome::kDone);
}

// Fetches the next piece. Returns true if the fetch has ended: the message is complete, or the
// sender's memory could not be read and the sender was asked for the bytes.
bool MessageLayer::fetch_piece(Fetch& fetch) {
    Peer& from = *fetch.from;
    ReceiveRequest& into = *fetch.into;
    const Bytes wanted = into.expected;
    const Bytes piece = std::min(wanted - fetch.done, kBytesPerVisit);
    visited_ += piece;
    if (!from.pipe->fetch(fetch.offer.address + fetch.done, into.view, fetch.done, piece)) {
        from.burst.disturb();
        send_grant(from.task, fetch.offer.send_id, into, wanted);
        return true;
    }
    fetch.done += piece;
    if (fetch.done < wanted) return false;
    end_transfer(from, into);
    into.moved = wanted;
    send_grant(from.task, fetch.offer.send_id, into, 0);
    complete(into, Outcome::kDone);
    return true;
}

// Continues the oldest fetch and makes it the newest, so that all fetches advance alike.
[[gnu::noinline]] void MessageLayer::fetch_next_piece() {
    Fetch next = fetches_.back();
    fetches_.pop_back();
    if (next.from->fault != nullptr || fetch_piece(next)) return;
    fetches_.insert(fetches_.begin(), next);
}

// Fetches announced messages into buffer memory, as long as there is room. Returns true if there
// were any.
bool MessageLayer::take_in_offers() {
    if (offers_.count == 0) [[likely]]
        return false;
    std::vector<Unexpected*> taken = std::move(offers_.spare_list);
    for (Unexpected* message = unexpected_.oldest(); message != nullptr; message = message->newer) {
        if (!message->may_be_taken_in()) continue;
        Peer& from = peer(message->from.source);
        if (from.fault != nullptr || message->length > settings_.buffer_mem - from.offers_held)
            continue;
        from.offers_held += message->length;
        taken.push_back(message);
    }
    for (Unexpected* message : taken) take_in(*message);
    const bool any = !taken.empty();
    taken.clear();
    offers_.spare_list = std::move(taken);
    return any;
}

void MessageLayer::take_in(Unexpected& offer) {
    --offers_.count;
    offer.taken_in = true;
    offer.state = Unexpected::State::kArriving;
    Unexpected* lender = pool_.take(offer.length);
    offer.data.swap(lender->data);
    pool_.give(lender);
    offer.fill.reset(BufferView(offer.data.data(), offer.length), offer.from);
    offer.fill.fills = &offer;
    matched(offer.fill, offer.from.source, offer.from.type, offer.length, offer.flow, offer.number);
    accept_offer(peer(offer.from.source), offer.offer, offer.fill);
}

// Takes a message that the sender offers for a handover, if all messages before it have been
// received and a receive matches it.
bool MessageLayer::take_handover(Peer& from) {
    HandoverReceiver* in = from.pipe->handover_in();
    HandoverOffer offer;
    if (in == nullptr || !in->look(offer)) [[likely]]
        return false;
    if (!from.pipe->can_fetch() || from.in.active || from.fault != nullptr ||
        from.pipe->front() != nullptr)
        return false;
    if (offer.tag < 0 || offer.length > settings_.eager_limit || !is_flow_class(offer.flow)) {
        break_pipe(from, "it offered a message of an impossible length, type or class");
        return false;
    }
    ReceiveRequest* receive = find_match(offer.context, from.task, offer.tag);
    if (receive == nullptr || !in->claim()) return false;
    const std::uint64_t began = now_ns();
    const Bytes expected = std::min(offer.length, receive->view.size());
    const bool fetched = from.pipe->fetch(offer.address, receive->view, 0, expected);
    in->conclude(fetched);
    from.pipe->wake_after_store();
    if (!fetched) return true;
    from.single_copy_tuner.took(CopyMethod::kFetch, offer.length, now_ns() - began);
    publish_cheaper(from, offer.length);
    match(offer.context, from.task, offer.tag);
    matched(*receive, from.task, offer.tag, offer.length, offer.flow,
            ++from.messages_from[index_of(offer.flow)]);
    receive->moved = receive->expected;
    complete(*receive, Outcome::kDone);
    return true;
}

// If the cheaper way for messages of such a length has changed, publishes that to the sender.
void MessageLayer::publish_cheaper(Peer& from, Bytes length) {
    HandoverReceiver* in = from.pipe->handover_in();
    if (in == nullptr || length < kLeastHandover || length > settings_.eager_limit) return;
    const std::uint32_t before = from.cheaper.bits();
    from.cheaper.update(length, from.single_copy_tuner.costs(length));
    if (from.cheaper.bits() != before) in->say_cheaper(from.cheaper);
}

}  // namespace poe::comm
