// Implementation of repair.hpp.
#include "tracer/read/repair.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "tracer/read/clock_bounds.hpp"
#include "tracer/read/event_merge.hpp"
#include "tracer/read/messages.hpp"

namespace poe::trace {
namespace {

// Each pass may make other messages wrong, which the next pass moves; longer chains are rare.
constexpr int kMostWalks = 30;
// Corrections are made for each of this many parts of a trace, or every ten seconds if it is long.
constexpr std::int64_t kParts = 16;
constexpr std::int64_t kMostParts = 1000;
constexpr Time kLongestPart = std::chrono::seconds(10);

// From where and how far the current pass moves a stream.
struct Move {
    Time from{0};  // before any repair
    Time by{0};
};

// One pass over the trace; calls `take` for each message.
class Walk {
  public:
    explicit Walk(const TraceSource& source) : source_(source) {}

    template <typename Take>
    void run(Take&& take) {
        EventMerge merge(source_);
        for (Event event; merge.next(event);)
            source_.parts_of(event, [&](const Event& part) {
                if (const auto whole = message_of(part)) take(*whole);
            });
    }

  private:
    // The message that is complete with this event.
    std::optional<Message> message_of(const Event& event) {
        const Record& record = event.record;
        const bool is_send = record.kind == Kind::kSend;
        if (!is_send && record.kind != Kind::kReceive) return std::nullopt;
        const TaskId task = source_.task_of(event.stream);
        if (task < 0 || record.a >= static_cast<std::uint32_t>(source_.facts().tasks))
            return std::nullopt;
        const auto peer = static_cast<TaskId>(record.a);
        Message end{.from = is_send ? task : peer,
                    .to = is_send ? peer : task,
                    .type = high(record.b),
                    .context = class_of_message(record.detail),
                    .number = record.extra,
                    .line = source_.line_of(event)};
        if (is_send) {
            end.sent = event.time;
        } else {
            end.received = event.time;
            end.receive_in.since = source_.before_repair(event.stream, event.time);
        }
        return is_send ? messages_.send(end) : messages_.receive(end);
    }

    const TraceSource& source_;
    MessageMatcher messages_;
};

// The clocks of the nodes in each part of the trace, with their bounds. The home node is the first
// vertex, the same for all parts; each other node has one vertex per part.
class Clocks {
  public:
    explicit Clocks(const TraceSource& source) : source_(source) {
        const Time length = std::max(source.end() - source.begin(), Time{1});
        part_ = std::clamp(length / kParts, Time{1}, kLongestPart);
        part_ = std::max(part_, length / kMostParts);
        parts_ = static_cast<std::size_t>(length / part_) + 1;
        for (const ClockDoubt& doubt : source.clock_doubts()) {
            place_of_[doubt.node] = nodes_.size();
            nodes_.push_back(doubt);
        }
        messages_ = ClockBounds(1 + nodes_.size() * parts_);
    }
    bool several() const { return !nodes_.empty(); }

    void note(const Message& message) {
        const NodeIndex from = node_of(message.from);
        const NodeIndex to = node_of(message.to);
        if (from == to) return;
        messages_.before(vertex(from, message.sent), vertex(to, message.received),
                         message.received - message.sent);
    }
    void correct(TraceSource& source) const;

  private:
    NodeIndex node_of(TaskId task) const {
        return source_.facts().node_of[static_cast<std::size_t>(task)];
    }
    std::size_t part_of(Time time) const {
        return static_cast<std::size_t>(std::clamp<std::int64_t>(
            (time - source_.begin()) / part_, 0, static_cast<std::int64_t>(parts_) - 1));
    }
    std::size_t vertex(NodeIndex node, Time time) const {
        const auto known = place_of_.find(node);
        return known == place_of_.end() ? 0 : 1 + known->second * parts_ + part_of(time);
    }
    Time middle_of(std::size_t part) const {
        return source_.begin() + part_ * static_cast<std::int64_t>(part) + part_ / 2;
    }
    // The errors of a measured clock and the drift of every clock are bounded.
    ClockBounds with_measurements() const {
        ClockBounds bounds = messages_;
        for (std::size_t node = 0; node < nodes_.size(); ++node) {
            const bool measured = source_.is_measured(nodes_[node].node);
            const ClockFit fit = source_.clock(nodes_[node].node);
            const Time doubt(static_cast<std::int64_t>(fit.doubt()));
            const Time drift(1 + static_cast<std::int64_t>(fit.drift_doubt() *
                                                           static_cast<double>(part_.count())));
            for (std::size_t part = 0; part < parts_; ++part) {
                const std::size_t here = 1 + node * parts_ + part;
                if (measured) {
                    bounds.before(0, here, doubt);
                    bounds.before(here, 0, doubt);
                }
                if (part + 1 == parts_) continue;
                bounds.before(here, here + 1, drift);
                bounds.before(here + 1, here, drift);
            }
        }
        return bounds;
    }

    const TraceSource& source_;
    Time part_{0};
    std::size_t parts_ = 1;
    std::vector<ClockDoubt> nodes_;  // without the home node
    std::map<NodeIndex, std::size_t> place_of_;
    ClockBounds messages_{1};
};

// Returns the middle of a range; its only end if it has one end; empty if it has none.
std::optional<Time> middle(const ClockBounds::Range& range) {
    if (range.least && range.most) return (*range.least + *range.most) / 2;
    return range.least ? range.least : range.most;
}

bool allows_nothing(const ClockBounds::Range& range) {
    return (range.least && *range.least > Time{0}) || (range.most && *range.most < Time{0});
}

void Clocks::correct(TraceSource& source) const {
    if (messages_.empty()) return;
    auto ranges = with_measurements().solve(0);
    if (!ranges) ranges = messages_.solve(0);
    if (!ranges) return;
    std::map<NodeIndex, ClockFit> clocks;
    std::vector<ClockDoubt> doubts = nodes_;
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
        const NodeIndex index = nodes_[node].node;
        const auto first = ranges->begin() + static_cast<std::ptrdiff_t>(1 + node * parts_);
        const std::vector<ClockBounds::Range> own(first,
                                                  first + static_cast<std::ptrdiff_t>(parts_));
        // A clock that was not measured is changed only if a message contradicts it.
        if (!source.is_measured(index) && std::none_of(own.begin(), own.end(), allows_nothing))
            continue;
        std::vector<ClockFit::Correction> corrections;
        std::optional<Time> within;
        for (std::size_t part = 0; part < parts_; ++part) {
            const ClockBounds::Range& range = own[part];
            if (range.least && range.most)
                within =
                    std::max(within.value_or(Time{0}), (*range.most - *range.least + Time{1}) / 2);
            if (const auto by = middle(range))
                corrections.push_back({source.node_time(index, middle_of(part)), by->count()});
        }
        clocks[index] = source.clock(index).corrected(corrections);
        if (within) doubts[node].within = within;
    }
    source.set_clocks(clocks, std::move(doubts));
}

void move_late(TraceSource& source, std::map<std::uint32_t, std::vector<Move>> moves) {
    for (auto& [stream, all] : moves) {
        std::sort(all.begin(), all.end(),
                  [](const Move& a, const Move& b) { return a.from < b.from; });
        // A later message of the stream needs only the difference to the previous move.
        Time moved{0};
        for (const Move& move : all) {
            if (move.by <= moved) continue;
            source.move_forward(stream, move.from, move.by - moved);
            moved = move.by;
        }
    }
}

}  // namespace

Repaired repair_clocks(TraceSource& source) {
    Repaired result;
    std::map<TaskId, std::uint32_t> stream_of;
    for (std::uint32_t i = 0; i < source.streams().size(); ++i)
        if (source.task_of(i) >= 0) stream_of[source.task_of(i)] = i;
    Clocks clocks(source);
    for (int walk = clocks.several() ? -1 : 0; walk < kMostWalks; ++walk) {
        std::uint64_t wrong = 0;
        std::map<std::uint32_t, std::vector<Move>> moves;
        Walk(source).run([&](const Message& message) {
            if (walk < 0) clocks.note(message);
            if (message.received >= message.sent) return;
            ++wrong;
            const auto stream = stream_of.find(message.to);
            if (stream != stream_of.end())
                moves[stream->second].push_back(
                    {message.receive_in.since, message.sent - message.received});
        });
        if (result.messages == 0) result.messages = wrong;
        result.all = wrong == 0;
        if (walk < 0) {
            clocks.correct(source);
            continue;
        }
        if (wrong == 0) break;
        move_late(source, std::move(moves));
    }
    result.farthest = source.farthest_move();
    source.set_repaired(result);
    return result;
}

}  // namespace poe::trace
