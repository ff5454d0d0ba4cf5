// Implementation of session.hpp.
#include "tracer/analysis/session.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/collective_progress.hpp"
namespace poe::trace {
namespace {

// Calls add(column, fraction of the column) for each column that a section of time overlaps.
template <typename Add>
void spread(std::size_t columns, Stretch stretch, Time from, Time to, Add add) {
    from = std::max(from, stretch.from);
    to = std::min(to, stretch.to);
    if (from >= to) return;
    const double length = static_cast<double>(stretch.length().count());
    const auto place = [&](Time time) {
        return static_cast<double>((time - stretch.from).count()) / length *
               static_cast<double>(columns);
    };
    const double first = place(from);
    const double last = place(to);
    for (auto column = static_cast<std::size_t>(first);
         column < columns && static_cast<double>(column) < last; ++column)
        add(column, std::min(last, static_cast<double>(column) + 1) -
                        std::max(first, static_cast<double>(column)));
}

// A fraction of a time.
Time share_of(Time time, double share) {
    return Time(std::llround(share * static_cast<double>(time.count())));
}

// Maps the tasks of a chart to rows: `group` tasks share one.
struct Rows {
    std::vector<PartBins>& rows;
    TaskId first;
    std::size_t group;
    PartBins* of(TaskId task) const {
        const auto row = static_cast<std::size_t>(task - first) / group;
        return task >= first && row < rows.size() ? &rows[row] : nullptr;
    }
};

class PartListener : public Listener {
  public:
    PartListener(Stretch stretch, Rows rows, const TimeParts& parts)
        : stretch_(stretch), rows_(rows), parts_(parts) {}
    void on_state(TaskId task, State state, Time from, Time to) override {
        if (state != State::kComputing) add(task, static_cast<std::size_t>(state), from, to);
    }
    void on_computing(TaskId task, std::uint32_t region, Time from, Time to) override {
        add(task, parts_.of_region(region), from, to);
    }

  private:
    void add(TaskId task, std::size_t part, Time from, Time to) {
        PartBins* row = rows_.of(task);
        if (row == nullptr) return;
        const Time width = stretch_.length();
        const auto columns = static_cast<double>(row->size());
        spread(row->size(), stretch_, from, to, [&](std::size_t column, double share) {
            (*row)[column][part] += share_of(width, share / columns);
        });
    }

    Stretch stretch_;
    Rows rows_;
    const TimeParts& parts_;
};

class NestedListener : public Listener {
  public:
    NestedListener(Stretch stretch, TaskId first, std::size_t count, Definitions& definitions)
        : stretch_(stretch), first_(first), count_(count), definitions_(definitions) {}
    void on_interval(const Interval& interval) override {
        take(interval.task, interval.depth, interval.frame, interval.to);
    }
    void on_open(TaskId task, std::size_t depth, const CallFrame& frame, Time to) override {
        take(task, depth, frame, to);
        if (frame.path != 0) on_round(task, depth, frame, to);
    }
    void on_round(TaskId task, std::size_t depth, const CallFrame& frame, Time to) override {
        const bool wanted =
            frame.rounds > 1 || definitions_.region(frame.path).name ==
                                    collective_path_name(CollectivePath::kMulticast);
        if (wanted && is_shown(task, frame.round_since, to))
            found.push_back({task, depth,
                             definitions_.round_of(frame.path, frame.round, frame.rounds),
                             frame.round_since, to});
    }

    std::vector<Session::Nested> found;

  private:
    bool is_shown(TaskId task, Time from, Time to) const {
        const auto row = static_cast<std::size_t>(task - first_);
        return task >= first_ && row < count_ && to > stretch_.from && from < stretch_.to;
    }
    void take(TaskId task, std::size_t depth, const CallFrame& frame, Time to) {
        if (is_shown(task, frame.since, to) && definitions_.region(frame.region).of_user)
            found.push_back({task, depth, frame.region, frame.since, to});
    }

    Stretch stretch_;
    TaskId first_;
    std::size_t count_;
    Definitions& definitions_;
};

StateBins states_of(const PartBins& parts) {
    StateBins bins(parts.size());
    for (std::size_t column = 0; column < parts.size(); ++column) {
        std::copy_n(parts[column].begin(), kStates, bins[column].begin());
        bins[column][static_cast<std::size_t>(State::kComputing)] = computing_of(parts[column]);
    }
    return bins;
}

class MessageListener : public Listener {
  public:
    explicit MessageListener(std::function<void(const Message&)> take) : take_(std::move(take)) {}
    void on_message(const Message& message) override { take_(message); }

  private:
    std::function<void(const Message&)> take_;
};

}  // namespace

Session::Session(TraceSource source, const Index::Places& places,
                 const std::function<void(double)>& progress, std::uint64_t between)
    : source_(std::make_unique<TraceSource>(std::move(source))),
      index_(std::make_unique<Index>(Index::open(*source_, places, progress, between))),
      definitions_(index_->definitions()) {
    learn_parts();
}

void Session::grow(TraceSource grown) {
    auto source = std::make_unique<TraceSource>(std::move(grown));
    merge_.reset();
    replay_.reset();
    at_.reset();
    index_ = std::make_unique<Index>(Index::grown(std::move(*index_), *source));
    source_ = std::move(source);
    definitions_ = index_->definitions();
    learn_parts();
}

void Session::learn_parts() {
    std::vector<Time> times(definitions_.regions().size());
    if (TimeParts::too_many(definitions_)) {
        Ended sums;
        for (std::size_t i = 0; i < index_->size(); ++i)
            index_->add_ended(sums, i, EndedPart::kComputed);
        for (const auto& [key, time] : sums.computed) times[key.second] += time;
        forget();
    }
    parts_ = TimeParts(definitions_, times);
}

void Session::forget() const {
    source_->forget();
    index_->forget();
    read_ = 0;
}

const JobState& Session::at(Time moment) {
    const std::size_t keyframe = index_->before(moment);
    if (!at_ || moment < *at_ || index_->time(keyframe) > *at_) {
        forget();
        replay_ = std::make_unique<Replay>(*source_, definitions_);
        const auto from = index_->restore(keyframe, *replay_);
        merge_ = std::make_unique<EventMerge>(*source_, from);
    }
    Event event;
    while (merge_->next_time() <= moment && merge_->next(event)) {
        replay_->apply(event);
        note_read();
    }
    replay_->settle(moment);
    at_ = moment;
    return replay_->state();
}

std::size_t Session::keyframes_in(Stretch stretch) const {
    return index_->before(stretch.to) - index_->before(stretch.from);
}

std::optional<Time> Session::step_of_sums(Stretch stretch) const {
    const std::size_t keyframes = keyframes_in(stretch);
    if (keyframes <= kMostReplayed) return std::nullopt;
    return stretch.length() / static_cast<std::int64_t>(keyframes);
}

Stretch Session::replayable(Stretch stretch) const {
    if (keyframes_in(stretch) <= kMostReplayed) return stretch;
    return {index_->time(index_->before(stretch.to) - kMostReplayed), stretch.to};
}

void Session::listen(Stretch stretch, Listener& listener) {
    stretch = replayable(stretch);
    forget();
    Replay replay(*source_, definitions_);
    EventMerge merge(*source_, index_->restore(index_->before(stretch.from), replay));
    Event event;
    // Events before the section determine what is in progress in it.
    replay.tell(&listener);
    while (merge.next_time() <= stretch.to && merge.next(event)) {
        replay.apply(event);
        note_read();
    }
    replay.settle(stretch.to);
    // Releases memory after each view, so that the memory of successive views does not add up.
    forget();
    const JobState& state = replay.state();
    for (std::size_t task = 0; task < state.tasks.size(); ++task) {
        const TaskTimeline& now = state.tasks[task];
        const auto id = static_cast<TaskId>(task);
        if (!now.seen) continue;
        listener.on_state(id, now.state, now.since, stretch.to);
        if (now.state == State::kComputing)
            listener.on_computing(id, now.region, now.region_since, stretch.to);
        for (std::size_t depth = 0; depth < now.frames.size(); ++depth)
            listener.on_open(id, depth, now.frames[depth], stretch.to);
    }
}

void Session::add_sums(std::vector<PartBins>& rows, Stretch stretch, TaskId first,
                       std::size_t count, std::size_t group) const {
    const Rows place{rows, first, group};
    const std::size_t last = index_->before(stretch.to);
    for (std::size_t i = index_->before(stretch.from); i + 1 < index_->size() && i <= last; ++i) {
        const Time from = index_->time(i);
        const Time to = index_->time(i + 1);
        if (from >= to) continue;
        const double whole = seconds_of(to - from) / seconds_of(stretch.length());
        // Assumes that all states are evenly distributed between two keyframes.
        const auto add = [&](PartBins& row, std::size_t part, std::size_t instead, Time time) {
            if (time == Time{0}) return;
            const double columns = whole * static_cast<double>(row.size());
            spread(row.size(), stretch, from, to, [&](std::size_t column, double share) {
                const Time piece = share_of(time, share / columns);
                row[column][part] += piece;
                if (instead != part) row[column][instead] -= piece;
            });
        };
        for (std::size_t n = 0; n < count; ++n) {
            const auto task = static_cast<TaskId>(static_cast<std::size_t>(first) + n);
            const auto before = index_->spent(i, task);
            const auto after = index_->spent(i + 1, task);
            for (std::size_t state = 0; state < kStates; ++state)
                // A later event may decide a state again and so reduce its time.
                add(*place.of(task), state, state, std::max(Time{0}, after[state] - before[state]));
        }
        Ended sums;
        index_->add_ended(sums, i + 1, EndedPart::kComputed);
        for (const auto& [key, time] : sums.computed)
            if (PartBins* row = place.of(key.first))
                add(*row, parts_.of_region(key.second), static_cast<std::size_t>(State::kComputing),
                    time);
    }
    // Rounding may have made a difference negative.
    for (PartBins& row : rows)
        for (PartTimes& bin : row)
            for (Time& time : bin) time = std::max(time, Time{0});
}

std::vector<PartBins> Session::part_bins(Stretch stretch, TaskId first, std::size_t count,
                                         std::size_t group, std::size_t columns) {
    const auto all = static_cast<std::size_t>(source_->facts().tasks);
    count = std::min(count, all - std::min(all, static_cast<std::size_t>(first)));
    group = std::max<std::size_t>(group, 1);
    std::vector<PartBins> rows((count + group - 1) / group, PartBins(columns));
    if (stretch.from >= stretch.to || columns == 0) return rows;
    if (keyframes_in(stretch) > kMostReplayed) {
        add_sums(rows, stretch, first, count, group);
        forget();
        return rows;
    }
    PartListener listener(stretch, {rows, first, group}, parts_);
    listen(stretch, listener);
    return rows;
}

std::vector<Session::Nested> Session::nested(Stretch stretch, TaskId first, std::size_t count) {
    if (keyframes_in(stretch) > kMostReplayed) return {};
    NestedListener listener(stretch, first, count, definitions_);
    listen(stretch, listener);
    return std::move(listener.found);
}

std::vector<StateBins> Session::bins(Stretch stretch, TaskId first, std::size_t count,
                                     std::size_t columns) {
    std::vector<StateBins> rows;
    for (const PartBins& row : part_bins(stretch, first, count, 1, columns))
        rows.push_back(states_of(row));
    return rows;
}

StateBins Session::sum_of_bins(Stretch stretch, std::size_t columns) {
    const std::size_t all = source_->facts().node_of.size();
    const auto rows = part_bins(stretch, 0, all, all, columns);
    return rows.empty() ? StateBins(columns) : states_of(rows.front());
}

std::vector<std::array<Time, kStates>> Session::spent(Stretch stretch) {
    std::vector<std::array<Time, kStates>> sums;
    for (const StateBins& row : bins(stretch, 0, source_->facts().node_of.size(), 1))
        sums.push_back(row.front());
    return sums;
}

std::vector<Message> Session::messages(Stretch stretch, std::size_t most) {
    std::vector<Message> found;
    MessageListener listener([&](const Message& message) {
        if (message.received >= stretch.from && found.size() < most) found.push_back(message);
    });
    listen(stretch, listener);
    at(stretch.to);
    for (Message& message : in_flight()) {
        if (found.size() >= most) break;
        message.received = stretch.to;
        found.push_back(message);
    }
    return found;
}

void Session::walk(std::size_t keyframe, Stretch stretch, std::uint64_t events,
                   Listener& listener) {
    forget();
    Replay replay(*source_, definitions_);
    EventMerge merge(*source_, index_->restore(keyframe, replay));
    Event event;
    while (replay.state().events < events && merge.next_time() <= stretch.to && merge.next(event)) {
        if (event.time >= stretch.from) replay.tell(&listener);
        replay.apply(event);
        note_read();
    }
    forget();
}

Ended Session::ended(Stretch stretch, EndedPart wanted) {
    constexpr auto kAll = std::numeric_limits<std::uint64_t>::max();
    Ended sums;
    EndedListener listener(sums);
    const std::size_t first = index_->before(stretch.from);
    const std::size_t last = index_->before(stretch.to);
    // Replays both ends; the index has the sums between them.
    walk(first, stretch, first < last ? index_->events(first + 1) : kAll, listener);
    for (std::size_t i = first + 2; i <= last; ++i) index_->add_ended(sums, i, wanted);
    if (first < last) walk(last, stretch, kAll, listener);
    // Computing that began before the section, or continues after it, is not known here.
    sums.computed.clear();
    return sums;
}

std::vector<std::vector<Session::Sent>> Session::sent(Stretch stretch, TaskId first,
                                                      std::size_t count, std::size_t columns) {
    std::vector<std::vector<Sent>> rows(count, std::vector<Sent>(columns));
    if (stretch.from >= stretch.to || columns == 0) return rows;
    const double width =
        static_cast<double>(stretch.length().count()) / static_cast<double>(columns);
    const auto column_of = [&](Time time) {
        const double column = static_cast<double>((time - stretch.from).count()) / width;
        return std::clamp(column, 0.0, static_cast<double>(columns));
    };
    const auto row_of = [&](TaskId task) -> std::vector<Sent>* {
        const auto row = static_cast<std::size_t>(task - first);
        return task >= first && row < count ? &rows[row] : nullptr;
    };
    if (!step_of_sums(stretch)) {
        for (const Message& message : messages(stretch, std::numeric_limits<std::size_t>::max())) {
            std::vector<Sent>* row = row_of(message.from);
            if (row == nullptr) continue;
            const auto last =
                std::min(static_cast<std::size_t>(column_of(message.received)), columns - 1);
            for (auto column = static_cast<std::size_t>(column_of(message.sent)); column <= last;
                 ++column) {
                (*row)[column].bytes += static_cast<double>(message.bytes);
                ++(*row)[column].messages;
            }
        }
        return rows;
    }
    const std::size_t last = std::min(index_->before(stretch.to) + 1, index_->size() - 1);
    for (std::size_t i = index_->before(stretch.from) + 1; i <= last; ++i) {
        const double from = column_of(index_->time(i - 1));
        const double to = column_of(index_->time(i));
        const double whole =
            static_cast<double>((index_->time(i) - index_->time(i - 1)).count()) / width;
        if (from >= to) continue;
        Ended between;
        index_->add_ended(between, i, EndedPart::kPairs);
        for (const auto& [key, sum] : between.pairs) {
            std::vector<Sent>* row = row_of(sum.from);
            if (row == nullptr) continue;
            for (auto column = static_cast<std::size_t>(from);
                 column < columns && static_cast<double>(column) < to; ++column) {
                const auto left = static_cast<double>(column);
                const double share = (std::min(to, left + 1) - std::max(from, left)) / whole;
                (*row)[column].bytes += share * static_cast<double>(sum.bytes);
                (*row)[column].messages += share * static_cast<double>(sum.count);
            }
        }
    }
    forget();
    return rows;
}

std::vector<PairSum> Session::pairs(Stretch stretch) {
    const Ended sums = ended(stretch, EndedPart::kPairs);
    std::vector<PairSum> found;
    found.reserve(sums.pairs.size());
    for (const auto& [key, sum] : sums.pairs) found.push_back(sum);
    std::sort(found.begin(), found.end(), [](const PairSum& a, const PairSum& b) {
        return std::pair(a.from, a.to) < std::pair(b.from, b.to);
    });
    return found;
}

// Returns the number of the event at which a pass from this keyframe to the next ends.
std::uint64_t Session::events_until(std::size_t keyframe) const {
    return keyframe + 1 < index_->size() ? index_->events(keyframe + 1)
                                         : std::numeric_limits<std::uint64_t>::max();
}

void Session::listen_from(std::size_t keyframe, Listener& listener) {
    walk(keyframe, {-kFarthest, kFarthest}, events_until(keyframe), listener);
}

std::optional<Event> Session::find_from(std::size_t keyframe, Time from, bool forward,
                                        const Condition& condition) {
    forget();
    Replay unused(*source_, definitions_);
    EventMerge merge(*source_, index_->restore(keyframe, unused));
    std::optional<Event> last;
    std::uint64_t left = events_until(keyframe) - index_->events(keyframe);
    for (Event event; left > 0 && merge.next(event); --left) {
        note_read();
        if (!forward && event.time >= from) break;
        if (forward && event.time <= from) continue;
        bool holds = false;
        source_->parts_of(event, [&](const Event& part) {
            holds = holds || condition(part, source_->task_of(part.stream));
        });
        if (!holds) continue;
        last = event;
        if (forward) break;
    }
    return last;
}

std::optional<Event> Session::find(Time from, bool forward, const Condition& condition,
                                   const MayHold& may_hold) {
    const auto count = static_cast<std::ptrdiff_t>(index_->size());
    for (auto at = static_cast<std::ptrdiff_t>(index_->before(from)); at >= 0 && at < count;
         at += forward ? 1 : -1) {
        const auto keyframe = static_cast<std::size_t>(at);
        if (may_hold && at + 1 < count && !may_hold(index_->ended(keyframe + 1))) continue;
        if (const auto event = find_from(keyframe, from, forward, condition)) return event;
    }
    return std::nullopt;
}

}  // namespace poe::trace
