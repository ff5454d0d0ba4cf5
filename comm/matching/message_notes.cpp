// What the message layer publishes to watchers: notes about a wait that lasts (the awaited peer and
// the unexpected messages), written once per long wait, and where its queues are. Nothing is published
// per message.
#include "comm/matching/message_layer.hpp"
#include "comm/matching/message_peer.hpp"

namespace poe::comm {
namespace {

// Limits the search, which must not visit thousands of messages from one task.
constexpr int kMostSteps = 64;
// Notes reserved for messages of tasks other than the awaited one.
constexpr std::uint32_t kForOthers = 3;

template <typename Object, typename Part>
std::uint32_t offset_in(const Object& object, const Part& part) noexcept {
    return static_cast<std::uint32_t>(reinterpret_cast<const std::byte*>(&part) -
                                      reinterpret_cast<const std::byte*>(&object));
}

}  // namespace

void MessageLayer::name_contexts(std::function<std::string_view(ContextId)> name) {
    if (waiter_ != nullptr) waiter_->name_contexts(std::move(name));
}

// Watchers do not know the numbers that this process has given to guests, and a message from any task
// may come from one of them.
Awaited MessageLayer::shown(Awaited awaited) const noexcept {
    const bool perhaps_guest =
        awaited.peer < 0 && awaited.kind != Awaited::Kind::kAll && peers_.size() > settings_.tasks;
    if (!is_guest(awaited.peer) && !perhaps_guest) return awaited;
    awaited.peer = kTaskOfOtherJob;
    if (awaited.kind == Awaited::Kind::kUnknown) awaited.kind = Awaited::Kind::kMessage;
    return awaited;
}

void MessageLayer::note_wait(const Awaited& awaited) const noexcept {
    waiter_->note(shown(awaited), unexpected_view(awaited));
}

Awaited MessageLayer::awaited_by(const SendRequest& request) const noexcept {
    const bool for_user = is_of_program(request.context);
    return {Awaited::Kind::kRoom, request.dest, for_user ? request.type : kWildcard,
            request.context};
}

Awaited MessageLayer::awaited_by(const ReceiveRequest& request) const noexcept {
    const bool for_user = is_of_program(request.wanted.context);
    const bool matched = request.link.queue == nullptr && blocking_ != &request;
    if (matched) {
        return {Awaited::Kind::kRest, request.source, for_user ? request.type : kWildcard,
                request.wanted.context};
    }
    return {Awaited::Kind::kMessage, request.wanted.source,
            for_user ? request.wanted.type : kWildcard, request.wanted.context};
}

// Lists the oldest messages of the awaited peer and context first, because they reveal a wrong
// message type, then those of all contexts. Those of collective calls say nothing to a user.
UnexpectedView MessageLayer::unexpected_view(const Awaited& awaited) const noexcept {
    UnexpectedView view;
    view.count = static_cast<std::uint32_t>(unexpected_messages());
    if (view.count == 0) return view;
    const auto add = [&](const Unexpected& message) {
        const TaskId source = message.from.source;
        view.notes[view.noted++] = {is_guest(source) ? kTaskOfOtherJob : source, message.from.type,
                                    message.length, message.from.context};
    };
    const ContextId context = is_of_program(awaited.context) ? awaited.context : kMplContext;
    if (awaited.peer >= 0) {
        constexpr std::uint32_t kMost = UnexpectedView::kMost - kForOthers;
        const QueueLink* link = unexpected_.first({context, awaited.peer, kWildcard});
        for (; link != nullptr && view.noted < kMost; link = link->next)
            add(*static_cast<const Unexpected*>(link->owner));
    }
    const Unexpected* message = held_.oldest;
    for (int step = 0; message != nullptr && step < kMostSteps; ++step, message = message->newer) {
        if (view.noted == UnexpectedView::kMost) break;
        const bool listed = awaited.peer >= 0 && message->from.source == awaited.peer &&
                            message->from.context == context;
        if (!listed && !message->unmatchable() && message->flow == FlowClass::kUser) add(*message);
    }
    return view;
}

MatcherTables MessageLayer::make_tables() const noexcept {
    const ReceiveRequest& receive = blocking_receive_;
    const Unexpected message;
    MatcherTables tables;
    tables.posted = &posted_.table();
    tables.unexpected = &unexpected_.table();
    static_assert(sizeof blocking_ == sizeof *tables.blocking);
    tables.blocking = reinterpret_cast<void* const*>(&blocking_);
    tables.wanted_at = offset_in(receive, receive.wanted);
    tables.room_at = offset_in(receive, receive.view.size_place());
    tables.order_at = offset_in(receive, receive.order);
    tables.from_at = offset_in(message, message.from);
    tables.length_at = offset_in(message, message.length);
    return tables;
}

}  // namespace poe::comm
