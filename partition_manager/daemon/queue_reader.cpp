// See queue_reader.hpp.
#include "partition_manager/daemon/queue_reader.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

#include "base/contexts.hpp"
#include "base/segment/match_queues.hpp"
#include "partition_manager/daemon/process_memory.hpp"

namespace poe::pm {
namespace {

using State = MessageQueues::State;

// A link costs two reads of half a microsecond each.
constexpr std::uint64_t kMostLinks = 16384;
constexpr std::uint64_t kMostBuckets = std::uint64_t{1} << 20;

std::uint64_t address_of(const void* pointer) {
    return reinterpret_cast<std::uint64_t>(pointer);
}

// The queues of one process. Each function returns false, or nothing, if it finds what cannot be true.
class Reader {
  public:
    Reader(pid_t process, const MatcherTables& tables) : process_(process), tables_(tables) {}

    State read(MessageQueues& queues) const {
        QueueTable posted;
        QueueTable unexpected;
        if (!get(tables_.posted, posted) || !get(tables_.unexpected, unexpected))
            return State::kChanging;
        queues.posted_count = posted.links;
        queues.unexpected_count = unexpected.links / MatcherTables::kLinksPerMessage;
        if (std::max(posted.links, unexpected.links) > kMostLinks) return State::kTooMany;
        return add_posted(posted, queues) && add_unexpected(unexpected, queues) ? State::kRead
                                                                                : State::kChanging;
    }

  private:
    template <typename Object>
    bool get(const Object* at, Object& into) const {
        return at != nullptr && read_memory(process_, address_of(at), &into, 1);
    }
    template <typename Part>
    bool get_part(const void* owner, std::uint32_t offset, Part& into) const {
        return read_memory(process_, address_of(owner) + offset, &into, 1);
    }

    // Calls visit(key, owner) for each link of the queues that wanted(key) is true of. Returns the number
    // of these links.
    template <typename Wanted, typename Visit>
    std::optional<std::uint64_t> walk(const QueueTable& table, Wanted wanted, Visit visit) const {
        if (table.bucket_count > kMostBuckets) return std::nullopt;
        std::vector<KeyedQueue*> buckets(table.bucket_count);
        if (!read_memory(process_, address_of(table.buckets), buckets.data(), buckets.size()))
            return std::nullopt;
        std::uint64_t queues = 0;
        std::uint64_t links = 0;
        for (const KeyedQueue* at : buckets) {
            KeyedQueue queue;
            for (; at != nullptr; at = queue.next) {
                // A queue in the table is never empty.
                if (!get(at, queue) || ++queues > table.links || queue.head == nullptr)
                    return std::nullopt;
                if (!wanted(queue.key)) continue;
                const QueueLink* before = nullptr;
                QueueLink link;
                for (const QueueLink* each = queue.head; each != nullptr; each = link.next) {
                    if (!get(each, link) || ++links > table.links || link.queue != at ||
                        link.previous != before || !visit(queue.key, link.owner))
                        return std::nullopt;
                    before = each;
                }
                if (before != queue.tail) return std::nullopt;
            }
        }
        return links;
    }

    std::optional<PostedNote> posted_note(const MatchKey& key, const void* receive,
                                          bool blocking) const {
        PostedNote note{key.source, key.type, 0, key.context, blocking};
        if (!get_part(receive, tables_.room_at, note.room)) return std::nullopt;
        return note;
    }

    bool add_posted(const QueueTable& table, MessageQueues& queues) const {
        std::vector<std::pair<std::uint64_t, PostedNote>> found;
        const auto links = walk(
            table, [](const MatchKey&) { return true; },
            [&](const MatchKey& key, const void* receive) {
                std::uint64_t order = 0;
                const auto note = posted_note(key, receive, false);
                if (!note || !get_part(receive, tables_.order_at, order)) return false;
                if (is_of_program(key.context)) found.emplace_back(order, *note);
                return true;
            });
        if (links != table.links) return false;
        std::sort(found.begin(), found.end(),
                  [](const auto& a, const auto& b) { return a.first < b.first; });
        for (const auto& each : found) queues.posted.push_back(each.second);
        void* receive = nullptr;
        MatchKey wanted;
        if (!read_memory(process_, address_of(tables_.blocking), &receive, 1)) return false;
        if (receive != nullptr) {
            if (!get_part(receive, tables_.wanted_at, wanted)) return false;
            const auto note = posted_note(wanted, receive, true);
            if (!note) return false;
            if (is_of_program(wanted.context)) queues.posted.push_back(*note);
        }
        queues.posted_count = queues.posted.size();
        queues.posted.resize(std::min(queues.posted.size(), MessageQueues::kMostNotes));
        return true;
    }

    bool add_unexpected(const QueueTable& table, MessageQueues& queues) const {
        std::uint64_t count = 0;
        const auto links = walk(
            table,
            [](const MatchKey& key) { return key.source == kWildcard && key.type == kWildcard; },
            [&](const MatchKey& key, const void* message) {
                if (!is_of_program(key.context)) return true;
                MatchKey from;
                UnexpectedNote note;
                if (!get_part(message, tables_.from_at, from) ||
                    !get_part(message, tables_.length_at, note.length))
                    return false;
                note.source = from.source;
                note.type = from.type;
                note.context = from.context;
                ++count;
                if (queues.unexpected.size() < MessageQueues::kMostNotes)
                    queues.unexpected.push_back(note);
                return from.context == key.context;
            });
        queues.unexpected_count = count;
        return links && *links * MatcherTables::kLinksPerMessage == table.links;
    }

    pid_t process_;
    const MatcherTables& tables_;
};

}  // namespace

MessageQueues read_message_queues(const TaskSlot& slot) {
    MessageQueues queues;
    const std::uint64_t address = slot.observed_tables.load(std::memory_order_acquire);
    const pid_t process = slot.pid;
    if (slot.attached.load(std::memory_order_acquire) != kOwnLibrary || address == 0 ||
        process <= 0)
        return queues;
    MatcherTables tables;
    if (!read_memory(process, address, &tables, 1)) {
        if (errno == EPERM) queues.state = State::kForbidden;
        return queues;
    }
    if (tables.magic != MatcherTables::kMagic) return queues;
    const Reader reader(process, tables);
    MessageQueues again;
    queues.state = reader.read(queues);
    again.state = reader.read(again);
    if (queues != again) queues.state = State::kChanging;
    if (queues.state != State::kRead) {
        queues.posted.clear();
        queues.unexpected.clear();
    }
    return queues;
}

}  // namespace poe::pm
