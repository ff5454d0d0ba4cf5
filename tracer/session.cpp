// See session.hpp.
#include "tracer/session.hpp"

#include <algorithm>
#include <limits>

namespace poe::trace {
namespace {

// Adds a stretch of a state to the columns that it lies in.
void spread(StateBins& bins, Stretch stretch, State state, Time from, Time to) {
    from = std::max(from, stretch.from);
    to = std::min(to, stretch.to);
    if (from >= to) return;
    const auto columns = static_cast<double>(bins.size());
    const double length = static_cast<double>(stretch.length().count());
    const double first = static_cast<double>((from - stretch.from).count()) / length * columns;
    const double last = static_cast<double>((to - stretch.from).count()) / length * columns;
    const double width = length / columns;
    for (auto column = static_cast<std::size_t>(first);
         column < bins.size() && static_cast<double>(column) < last; ++column) {
        const double part = std::min(last, static_cast<double>(column) + 1) -
                            std::max(first, static_cast<double>(column));
        bins[column][static_cast<std::size_t>(state)] +=
            Time(static_cast<std::int64_t>(part * width));
    }
}

class BinListener : public Listener {
  public:
    BinListener(Stretch stretch, TaskId first, std::vector<StateBins>& rows)
        : stretch_(stretch), first_(first), rows_(rows) {}
    void on_state(TaskId task, State state, Time from, Time to) override {
        const auto row = static_cast<std::size_t>(task - first_);
        if (task >= first_ && row < rows_.size()) spread(rows_[row], stretch_, state, from, to);
    }

  private:
    Stretch stretch_;
    TaskId first_;
    std::vector<StateBins>& rows_;
};

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
      definitions_(index_->definitions()) {}

void Session::grow(TraceSource grown) {
    auto source = std::make_unique<TraceSource>(std::move(grown));
    merge_.reset();
    replay_.reset();
    at_.reset();
    index_ = std::make_unique<Index>(Index::grown(std::move(*index_), *source));
    source_ = std::move(source);
    definitions_ = index_->definitions();
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
    // What is before the stretch counts for what is under way in it.
    replay.tell(&listener);
    while (merge.next_time() <= stretch.to && merge.next(event)) {
        replay.apply(event);
        note_read();
    }
    replay.settle(stretch.to);
    // Views follow one on another: what this one has read is not to add up with the next one's.
    forget();
    const JobState& state = replay.state();
    for (std::size_t task = 0; task < state.tasks.size(); ++task)
        if (state.tasks[task].seen)
            listener.on_state(static_cast<TaskId>(task), state.tasks[task].state,
                              state.tasks[task].since, stretch.to);
}

StateBins Session::bins_by_sums(Stretch stretch, TaskId task, std::size_t columns) const {
    StateBins bins(columns);
    const double width =
        static_cast<double>(stretch.length().count()) / static_cast<double>(columns);
    const auto column_of = [&](Time time) {
        return static_cast<double>((time - stretch.from).count()) / width;
    };
    const std::size_t last = index_->before(stretch.to);
    for (std::size_t i = index_->before(stretch.from); i + 1 < index_->size() && i <= last; ++i) {
        const auto before = index_->spent(i, task);
        const auto after = index_->spent(i + 1, task);
        const double from = column_of(index_->time(i));
        const double to = column_of(index_->time(i + 1));
        // As if all states went on side by side from one keyframe to the next.
        for (auto column = static_cast<std::size_t>(std::max(from, 0.0));
             column < columns && static_cast<double>(column) < to; ++column) {
            const auto left = static_cast<double>(column);
            const double share = (std::min(to, left + 1) - std::max(from, left)) / (to - from);
            for (std::size_t state = 0; state < kStates; ++state)
                // A state that a later event has decided may be less than it was.
                bins[column][state] += Time(static_cast<std::int64_t>(
                    share *
                    std::max(0.0, static_cast<double>((after[state] - before[state]).count()))));
        }
    }
    return bins;
}

std::vector<StateBins> Session::bins(Stretch stretch, TaskId first, std::size_t count,
                                     std::size_t columns) {
    const auto all = static_cast<std::size_t>(source_->facts().tasks);
    count = std::min(count, all - std::min(all, static_cast<std::size_t>(first)));
    std::vector<StateBins> rows(count, StateBins(columns));
    if (stretch.from >= stretch.to || columns == 0) return rows;
    if (keyframes_in(stretch) > kMostReplayed) {
        for (std::size_t row = 0; row < count; ++row)
            rows[row] = bins_by_sums(stretch, first + static_cast<TaskId>(row), columns);
        forget();
        return rows;
    }
    BinListener listener(stretch, first, rows);
    listen(stretch, listener);
    return rows;
}

StateBins Session::sum_of_bins(Stretch stretch, std::size_t columns) {
    StateBins sums(columns);
    const auto add = [&sums](const StateBins& row) {
        for (std::size_t column = 0; column < row.size(); ++column)
            for (std::size_t state = 0; state < kStates; ++state)
                sums[column][state] += row[column][state];
    };
    for (const StateBins& row : bins(stretch, 0, source_->facts().node_of.size(), columns))
        add(row);
    return sums;
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

Ended Session::ended(Stretch stretch, bool pairs_only) {
    constexpr auto kAll = std::numeric_limits<std::uint64_t>::max();
    Ended sums;
    EndedListener listener(sums);
    const std::size_t first = index_->before(stretch.from);
    const std::size_t last = index_->before(stretch.to);
    // Both ends are replayed; what is between them is told by the index.
    walk(first, stretch, first < last ? index_->events(first + 1) : kAll, listener);
    for (std::size_t i = first + 2; i <= last; ++i) index_->add_ended(sums, i, pairs_only);
    if (first < last) walk(last, stretch, kAll, listener);
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
        index_->add_ended(between, i, true);
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
    const Ended sums = ended(stretch, true);
    std::vector<PairSum> found;
    found.reserve(sums.pairs.size());
    for (const auto& [key, sum] : sums.pairs) found.push_back(sum);
    std::sort(found.begin(), found.end(), [](const PairSum& a, const PairSum& b) {
        return std::pair(a.from, a.to) < std::pair(b.from, b.to);
    });
    return found;
}

std::optional<Event> Session::find(Time from, bool forward, const Condition& condition) {
    std::size_t keyframe = index_->before(from);
    while (true) {
        forget();
        Replay unused(*source_, definitions_);
        EventMerge merge(*source_, index_->restore(keyframe, unused));
        std::optional<Event> last;
        const Time until = forward ? kFarthest : from;
        Event event;
        while (merge.next(event)) {
            note_read();
            if (!forward && event.time >= until) break;
            if (forward && event.time <= from) continue;
            if (!condition(event, source_->task_of(event.stream))) continue;
            last = event;
            if (forward) break;
        }
        if (forward || last || keyframe == 0) return last;
        --keyframe;
    }
}

}  // namespace poe::trace
