// The notes that the message layer publishes to watchers about a wait that lasts: the awaited peer
// and the unexpected messages. Called once per long wait, never per message.
#include "comm/matching/message_layer.hpp"
#include "comm/matching/message_peer.hpp"

namespace poe::comm {
namespace {

// Limits the search, which must not visit thousands of messages from one task.
constexpr int kMostSteps = 64;
// Notes reserved for messages of tasks other than the awaited one.
constexpr std::uint32_t kForOthers = 3;

}  // namespace

Awaited MessageLayer::awaited_by(const SendRequest& request) const noexcept {
    const bool for_user = request.flow == FlowClass::kUser;
    return {Awaited::Kind::kRoom, request.dest, for_user ? request.type : kWildcard};
}

Awaited MessageLayer::awaited_by(const ReceiveRequest& request) const noexcept {
    const bool for_user = request.wanted.context != kCclContext;
    const bool matched = request.link.queue == nullptr && blocking_ != &request;
    if (matched) {
        return {Awaited::Kind::kRest, request.source, for_user ? request.type : kWildcard};
    }
    return {Awaited::Kind::kMessage, request.wanted.source,
            for_user ? request.wanted.type : kWildcard};
}

// Lists the oldest messages of `partner` first, because they reveal a wrong message type.
UnexpectedView MessageLayer::unexpected_view(TaskId partner) const noexcept {
    UnexpectedView view;
    view.count = static_cast<std::uint32_t>(unexpected_messages());
    if (view.count == 0) return view;
    const auto take = [&](TaskId source, TaskId but_not, std::uint32_t most) {
        const QueueLink* link = unexpected_.first({kMplContext, source, kWildcard});
        for (int step = 0; link != nullptr && view.noted < most && step < kMostSteps; ++step) {
            const auto& message = *static_cast<const Unexpected*>(link->owner);
            link = link->next;
            if (message.from.source == but_not) continue;
            view.notes[view.noted++] = {message.from.source, message.from.type, message.length};
        }
    };
    if (partner >= 0) take(partner, kWildcard, UnexpectedView::kMost - kForOthers);
    take(kWildcard, partner >= 0 ? partner : kWildcard, UnexpectedView::kMost);
    return view;
}

}  // namespace poe::comm
