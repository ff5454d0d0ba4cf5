// The lists and the hash table of queues; see messages_under_way.hpp.
#include "collectives/mpsim/messages_under_way.hpp"

#include <utility>

namespace poe::collectives {
namespace {

constexpr std::size_t kSlotsAtFirst = 1024;
constexpr int kLongestList = 8;

}  // namespace

MessagesUnderWay::MessagesUnderWay() : table_(kSlotsAtFirst) {}

// Queues of adjacent senders have adjacent slots, in the same cache line.
std::size_t MessagesUnderWay::home(std::uint32_t from, std::uint32_t to) const {
    constexpr std::uint32_t kNeighbours = 4;
    std::uint64_t mixed = std::uint64_t{to} << 32 | from / kNeighbours;
    mixed *= 0x9e3779b97f4a7c15u;
    mixed ^= mixed >> 32;
    mixed *= 0xd6e8feb86659fd93u;
    mixed ^= mixed >> 32;
    return (mixed * kNeighbours + from % kNeighbours) & (table_.size() - 1);
}

std::size_t MessagesUnderWay::slot(std::uint32_t from, std::uint32_t to) const {
    std::size_t at = home(from, to);
    while (table_[at].first != kNone && (table_[at].from != from || table_[at].to != to))
        at = (at + 1) & (table_.size() - 1);
    return at;
}

std::uint32_t MessagesUnderWay::keep(const MessageUnderWay& message) {
    std::uint32_t place = free_;
    if (place == kNone) {
        place = static_cast<std::uint32_t>(messages_.size());
        messages_.emplace_back();
    } else {
        free_ = messages_[place].next;
    }
    messages_[place] = message;
    return place;
}

void MessagesUnderWay::forget(std::uint32_t place) {
    messages_[place].next = free_;
    free_ = place;
}

void MessagesUnderWay::enqueue(Inbox& inbox, std::uint32_t to, std::uint32_t place) {
    if (inbox.in_table == 0 && add_to_list(inbox, place)) return;
    ++inbox.in_table;
    add_to_table(to, place);
}

std::uint32_t MessagesUnderWay::dequeue(Inbox& inbox, std::uint32_t from, std::uint32_t to) {
    std::uint32_t place = take_from_list(inbox, from);
    if (place != kNone || inbox.in_table == 0) return place;
    place = take_from_table(from, to);
    if (place != kNone) --inbox.in_table;
    return place;
}

// Returns false if the list has its maximum length.
bool MessagesUnderWay::add_to_list(Inbox& inbox, std::uint32_t place) {
    std::uint32_t* end = &inbox.first;
    for (int length = 0; *end != kNone; end = &messages_[*end].next) {
        if (++length == kLongestList) return false;
    }
    *end = place;
    return true;
}

std::uint32_t MessagesUnderWay::take_from_list(Inbox& inbox, std::uint32_t from) {
    std::uint32_t* link = &inbox.first;
    while (*link != kNone && messages_[*link].from != from) link = &messages_[*link].next;
    const std::uint32_t place = *link;
    if (place != kNone) *link = messages_[place].next;
    return place;
}

void MessagesUnderWay::add_to_table(std::uint32_t to, std::uint32_t place) {
    const std::uint32_t from = messages_[place].from;
    std::size_t at = slot(from, to);
    if (table_[at].first != kNone) {
        messages_[table_[at].last].next = place;
        table_[at].last = place;
        return;
    }
    if (used_ == table_.size() / 2) {
        grow();
        at = slot(from, to);
    }
    ++used_;
    table_[at] = {from, to, place, place};
}

std::uint32_t MessagesUnderWay::take_from_table(std::uint32_t from, std::uint32_t to) {
    const std::size_t at = slot(from, to);
    Queue& queue = table_[at];
    const std::uint32_t place = queue.first;
    if (place == kNone) return kNone;
    if (place == queue.last) {
        release(at);
    } else {
        queue.first = messages_[place].next;
    }
    return place;
}

void MessagesUnderWay::grow() {
    std::vector<Queue> old(table_.size() * 2);
    std::swap(old, table_);
    for (const Queue& queue : old) {
        if (queue.first != kNone) table_[slot(queue.from, queue.to)] = queue;
    }
}

void MessagesUnderWay::release(std::size_t slot) {
    const std::size_t mask = table_.size() - 1;
    std::size_t hole = slot;
    for (std::size_t at = (hole + 1) & mask; table_[at].first != kNone; at = (at + 1) & mask) {
        const std::size_t from_home = (at - home(table_[at].from, table_[at].to)) & mask;
        if (from_home < ((at - hole) & mask)) continue;
        table_[hole] = table_[at];
        hole = at;
    }
    table_[hole].first = kNone;
    --used_;
}

}  // namespace poe::collectives
