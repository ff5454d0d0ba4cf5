// See repair.hpp.
#include "tracer/repair.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "tracer/event_merge.hpp"
#include "tracer/messages.hpp"

namespace poe::trace {
namespace {

// Each walk moves what the one before made wrong; a chain of messages longer than that is rare.
constexpr int kMostWalks = 30;

// Where a stream has to be moved, and how far, by the walk of now.
struct Move {
    Time from{0};  // before any repair
    Time by{0};
};

class Walk {
  public:
    explicit Walk(const TraceSource& source) : source_(source), moves_(source.streams().size()) {
        for (std::uint32_t i = 0; i < moves_.size(); ++i) {
            const TaskId task = source.task_of(i);
            if (task >= 0) streams_of_[static_cast<std::size_t>(task)] = i;
        }
    }

    std::uint64_t run() {
        EventMerge merge(source_);
        for (Event event; merge.next(event);) {
            const Record& record = event.record;
            const TaskId task = source_.task_of(event.stream);
            if (task < 0 || record.a >= static_cast<std::uint32_t>(source_.facts().tasks)) continue;
            const auto peer = static_cast<TaskId>(record.a);
            Message end{.type = high(record.b), .context = record.detail, .number = record.extra};
            if (record.kind == Kind::kSend) {
                end.from = task;
                end.to = peer;
                end.sent = event.time;
                note(messages_.send(end));
            } else if (record.kind == Kind::kReceive) {
                end.from = peer;
                end.to = task;
                end.received = event.time;
                end.receive_call = source_.before_repair(event.stream, event.time);
                note(messages_.receive(end));
            }
        }
        return wrong_;
    }
    const std::vector<std::vector<Move>>& moves() const { return moves_; }

  private:
    void note(const std::optional<Message>& message) {
        if (!message || message->received >= message->sent) return;
        ++wrong_;
        const auto stream = streams_of_.find(static_cast<std::size_t>(message->to));
        if (stream != streams_of_.end())
            moves_[stream->second].push_back(
                {message->receive_call, message->sent - message->received});
    }

    const TraceSource& source_;
    std::map<std::size_t, std::uint32_t> streams_of_;
    MessageMatcher messages_;
    std::vector<std::vector<Move>> moves_;
    std::uint64_t wrong_ = 0;
};

}  // namespace

Repaired repair_clocks(TraceSource& source) {
    Repaired result;
    for (int walk = 0; walk < kMostWalks; ++walk) {
        Walk now(source);
        const std::uint64_t wrong = now.run();
        if (walk == 0) result.messages = wrong;
        result.all = wrong == 0;
        if (wrong == 0) break;
        for (std::uint32_t stream = 0; stream < now.moves().size(); ++stream) {
            std::vector<Move> moves = now.moves()[stream];
            std::sort(moves.begin(), moves.end(),
                      [](const Move& a, const Move& b) { return a.from < b.from; });
            // What has been moved for one message need not be moved again for the next.
            Time moved{0};
            for (const Move& move : moves) {
                if (move.by <= moved) continue;
                source.move_forward(stream, move.from, move.by - moved);
                moved = move.by;
            }
        }
    }
    result.farthest = source.farthest_move();
    return result;
}

}  // namespace poe::trace
