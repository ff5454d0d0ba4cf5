// See queue_words.hpp.
#include "debugger/queue_words.hpp"

#include <algorithm>
#include <span>

#include "base/contexts.hpp"
#include "partition_manager/job/state_words.hpp"
#include "partition_manager/status/observed_waits.hpp"

namespace poe::debugger {

namespace {

using pm::MessageQueues;
using State = MessageQueues::State;

std::string bytes_in_words(Bytes bytes) {
    return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

// "tag 5 from task 2 in MPI_COMM_WORLD"
std::string envelope(const pm::TaskState& state, TaskId source, std::int32_t type,
                     std::uint32_t context) {
    const char* word = context >= kFirstMpiContext ? "tag" : "type";
    const bool known = state.measured && context == state.doing.context;
    return (type < 0 ? std::string("any ") + word : word + (" " + std::to_string(type))) +
           " from " + (source < 0 ? std::string("any task") : "task " + std::to_string(source)) +
           pm::communicator_in_words(context, known ? state.communicator : "");
}

std::string words_for(const pm::TaskState& state, const pm::PostedNote& note) {
    return envelope(state, note.source, note.type, note.context) + ", at most " +
           bytes_in_words(note.room) + (note.blocking ? " (the task waits for it)" : "");
}

std::string words_for(const pm::TaskState& state, const UnexpectedNote& note) {
    return envelope(state, note.source, note.type, note.context) +
           (note.length == pm::kUnknownLength ? "" : ", " + bytes_in_words(note.length));
}

// Adds a list below its title. `count` is the number of all entries, `notes` has the first of them.
template <typename Note>
void add_list(std::vector<std::string>& lines, const pm::TaskState& state, const char* title,
              std::uint64_t count, std::span<const Note> notes, std::size_t at_most) {
    lines.push_back(std::string(title) + (count == 0 ? ": none" : ":"));
    std::uint64_t shown = 0;
    for (std::size_t i = 0, used = 0; i < notes.size() && used < at_most; ++used) {
        std::size_t end = i + 1;
        while (end < notes.size() && notes[end] == notes[i]) ++end;
        std::string line = "  " + words_for(state, notes[i]);
        if (end - i > 1) line += " (" + std::to_string(end - i) + " times)";
        lines.push_back(std::move(line));
        shown += end - i;
        i = end;
    }
    if (shown < count) lines.push_back("  and " + std::to_string(count - shown) + " more");
}

}  // namespace

std::vector<std::string> queue_lines(const pm::TaskState& state, std::size_t at_most) {
    std::vector<std::string> lines;
    const MessageQueues& queues = state.queues;
    if (state.life != pm::TaskState::Life::kInside) return lines;
    constexpr const char* kUnexpected = "messages without a receive";
    switch (queues.state) {
        case State::kRead:
            if (queues.posted_count == 1 && queues.posted.front().blocking)
                lines.emplace_back("posted receives: only that of the call");
            else
                add_list<pm::PostedNote>(lines, state, "posted receives", queues.posted_count,
                                         queues.posted, at_most);
            add_list<UnexpectedNote>(lines, state, kUnexpected, queues.unexpected_count,
                                     queues.unexpected, at_most);
            return lines;
        case State::kTooMany:
            return {"about " + std::to_string(queues.posted_count) + " posted receives and " +
                    std::to_string(queues.unexpected_count) +
                    " messages without a receive: too many to list"};
        case State::kChanging:
            lines.emplace_back(
                "its queues are changing at this moment; let it continue and stop it again");
            break;
        case State::kForbidden:
            lines.emplace_back(
                "the kernel does not let POE read its memory, so posted receives are not known");
            break;
        case State::kUnread:
            lines.emplace_back(state.observed
                                   ? "posted receives of another MPI library are not known"
                                   : "posted receives are not known");
            break;
    }
    // What the task has noted itself when it last waited.
    add_list<UnexpectedNote>(lines, state, kUnexpected, state.unexpected.count,
                             state.unexpected.all(), at_most);
    return lines;
}

}  // namespace poe::debugger
