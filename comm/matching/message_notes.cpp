// What the message layer publishes to watchers: notes about a wait that lasts (the awaited peer and
// the unexpected messages), written once per long wait, and where its queues are. Nothing is
// published per message.
#include "comm/matching/message_layer.hpp"
#include "comm/matching/message_peer.hpp"

namespace poe::comm {
namespace {

// The maximum number of messages that a search visits. Each wait that lasts makes two searches.
constexpr int kMostSteps = 1024;
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

// Watchers do not know the numbers that this process has given to guests, and a message from any
// task may come from one of them.
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
    const bool matched = request.link.queue == nullptr && posted_.blocking != &request;
    if (matched) {
        return {Awaited::Kind::kRest, request.source, for_user ? request.type : kWildcard,
                request.wanted.context};
    }
    return {Awaited::Kind::kMessage, request.wanted.source,
            for_user ? request.wanted.type : kWildcard, request.wanted.context};
}

// Lists first the oldest messages of the awaited peer and context, because they reveal a wrong
// message type, and then those of all contexts. Messages of collective calls are left out, because
// they mean nothing to a user.
UnexpectedView MessageLayer::unexpected_view(const Awaited& awaited) const noexcept {
    UnexpectedView view;
    view.count = static_cast<std::uint32_t>(unexpected_messages());
    if (view.count == 0) return view;
    const auto add = [&](const Unexpected& message) {
        const TaskId source = message.from.source;
        const ContextId context = message.from.context;
        view.notes[view.noted++] = {is_guest(source) ? kTaskOfOtherJob : source, message.from.type,
                                    tables_.without_envelope(message.length, context), context};
    };
    const ContextId context = is_of_program(awaited.context) ? awaited.context : kMplContext;
    const auto of_peer = [&](const Unexpected& message) {
        return awaited.peer >= 0 && message.from.source == awaited.peer &&
               message.from.context == context;
    };
    const auto add_all = [&](std::uint32_t most, const auto& wanted) {
        const Unexpected* message = unexpected_.oldest();
        for (int step = 0; message != nullptr && step < kMostSteps && view.noted < most;
             ++step, message = message->newer)
            if (!message->unmatchable() && wanted(*message)) add(*message);
    };
    add_all(UnexpectedView::kMost - kForOthers, of_peer);
    add_all(UnexpectedView::kMost, [&](const Unexpected& message) {
        return !of_peer(message) && message.flow == FlowClass::kUser;
    });
    return view;
}

MatcherTables MessageLayer::make_tables() const noexcept {
    const ReceiveRequest& receive = blocking_receive_;
    const Unexpected message;
    MatcherTables tables;
    tables.posted = &posted_.queues.table();
    tables.unexpected = &unexpected_.table();
    static_assert(sizeof posted_.blocking == sizeof *tables.blocking);
    tables.blocking = reinterpret_cast<void* const*>(&posted_.blocking);
    tables.wanted_at = offset_in(receive, receive.wanted);
    tables.room_at = offset_in(receive, receive.view.size_place());
    tables.order_at = offset_in(receive, receive.order);
    tables.length_at = offset_in(message, message.length);
    tables.arrival_at = offset_in(message, message.order);
    return tables;
}

}  // namespace poe::comm
