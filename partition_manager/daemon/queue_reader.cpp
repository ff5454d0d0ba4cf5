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

// The queues of one process. Each function returns false, or nothing, if it finds inconsistent
// values.
class Reader {
  public:
    Reader(pid_t process, const MatcherTables& tables) : process_(process), tables_(tables) {}

    State read(MessageQueues& queues) const {
        QueueTable posted;
        QueueTable unexpected;
        if (!get(tables_.posted, posted) || !get(tables_.unexpected, unexpected))
            return State::kChanging;
        queues.posted_count = posted.links;
        queues.unexpected_count = unexpected.links;
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

    // Calls visit(key, owner) for each link. Returns whether the table has as many links as it
    // says.
    template <typename Visit>
    bool walk(const QueueTable& table, Visit visit) const {
        if (table.bucket_count > kMostBuckets) return false;
        std::vector<KeyedQueue*> buckets(table.bucket_count);
        if (!read_memory(process_, address_of(table.buckets), buckets.data(), buckets.size()))
            return false;
        std::uint64_t queues = 0;
        std::uint64_t links = 0;
        for (const KeyedQueue* at : buckets) {
            KeyedQueue queue;
            for (; at != nullptr; at = queue.next) {
                // A queue in the table is never empty.
                if (!get(at, queue) || ++queues > table.links || queue.head == nullptr)
                    return false;
                const QueueLink* before = nullptr;
                QueueLink link;
                for (const QueueLink* each = queue.head; each != nullptr; each = link.next) {
                    if (!get(each, link) || ++links > table.links || link.queue != at ||
                        link.previous != before || !visit(queue.key, link.owner))
                        return false;
                    before = each;
                }
                if (before != queue.tail) return false;
            }
        }
        return links == table.links;
    }

    // Appends the notes of user messages, at most kMostNotes of them, in the order of the numbers
    // before them. Returns how many there were.
    template <typename Note>
    static std::uint64_t append(std::vector<std::pair<std::uint64_t, Note>>& found,
                                std::vector<Note>& notes) {
        std::sort(found.begin(), found.end(),
                  [](const auto& a, const auto& b) { return a.first < b.first; });
        for (std::size_t i = 0; i < std::min(found.size(), MessageQueues::kMostNotes); ++i)
            notes.push_back(found[i].second);
        return found.size();
    }

    std::optional<PostedNote> posted_note(const MatchKey& key, const void* receive,
                                          bool blocking) const {
        PostedNote note{key.source, key.type, 0, key.context, blocking};
        if (!get_part(receive, tables_.room_at, note.room)) return std::nullopt;
        note.room = tables_.without_envelope(note.room, key.context);
        return note;
    }

    bool add_posted(const QueueTable& table, MessageQueues& queues) const {
        std::vector<std::pair<std::uint64_t, PostedNote>> found;
        const auto add = [&](const MatchKey& key, const void* receive) {
            std::uint64_t order = 0;
            const auto note = posted_note(key, receive, false);
            if (!note || !get_part(receive, tables_.order_at, order)) return false;
            if (is_of_program(key.context)) found.emplace_back(order, *note);
            return true;
        };
        if (!walk(table, add)) return false;
        void* receive = nullptr;
        MatchKey wanted;
        if (!read_memory(process_, address_of(tables_.blocking), &receive, 1)) return false;
        if (receive != nullptr) {
            if (!get_part(receive, tables_.wanted_at, wanted)) return false;
            const auto note = posted_note(wanted, receive, true);
            if (!note) return false;
            if (is_of_program(wanted.context)) found.emplace_back(~std::uint64_t{0}, *note);
        }
        queues.posted_count = append(found, queues.posted);
        return true;
    }

    bool add_unexpected(const QueueTable& table, MessageQueues& queues) const {
        std::vector<std::pair<std::uint64_t, UnexpectedNote>> found;
        const auto add = [&](const MatchKey& key, const void* message) {
            std::uint64_t order = 0;
            UnexpectedNote note{key.source, key.type, 0, key.context};
            if (!get_part(message, tables_.length_at, note.length) ||
                !get_part(message, tables_.arrival_at, order))
                return false;
            note.length = tables_.without_envelope(note.length, key.context);
            if (is_of_program(key.context)) found.emplace_back(order, note);
            return true;
        };
        if (!walk(table, add)) return false;
        queues.unexpected_count = append(found, queues.unexpected);
        return true;
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
