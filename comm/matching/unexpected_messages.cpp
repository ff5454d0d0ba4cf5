// The queues of unexpected messages; see unexpected_messages.hpp.
#include "comm/matching/unexpected_messages.hpp"

namespace poe::comm {

void UnexpectedMessages::add(Unexpected& message) {
    message.order = arrivals_++;
    message.newer = nullptr;
    message.older = newest_;
    (newest_ != nullptr ? newest_->newer : oldest_) = &message;
    newest_ = &message;
    message.link.owner = &message;
    exact_.push(message.link, message.from);
    if (wildcards_kept_) [[unlikely]]
        push_wildcards(message);
}

void UnexpectedMessages::push_wildcards(Unexpected& message) {
    const MatchKey& from = message.from;
    const MatchKey keys[] = {{from.context, from.source, kWildcard},
                             {from.context, kWildcard, from.type},
                             {from.context, kWildcard, kWildcard}};
    for (std::size_t i = 0; i < std::size(keys); ++i) {
        message.wildcard_links[i].owner = &message;
        wildcards_.push(message.wildcard_links[i], keys[i]);
    }
}

const QueueLink* UnexpectedMessages::first_by_wildcard(const MatchKey& wanted) {
    if (!wildcards_kept_) {
        wildcards_kept_ = true;
        for (Unexpected* each = oldest_; each != nullptr; each = each->newer)
            if (!each->unmatchable()) push_wildcards(*each);
    }
    return wildcards_.first(wanted);
}

void UnexpectedMessages::match(Unexpected& message) noexcept {
    exact_.remove(message.link);
    if (!wildcards_kept_) return;
    for (QueueLink& link : message.wildcard_links) wildcards_.remove(link);
    wildcards_kept_ = !exact_.empty();
}

void UnexpectedMessages::remove(Unexpected& message) noexcept {
    if (!message.unmatchable()) match(message);
    (message.older != nullptr ? message.older->newer : oldest_) = message.newer;
    (message.newer != nullptr ? message.newer->older : newest_) = message.older;
}

}  // namespace poe::comm
