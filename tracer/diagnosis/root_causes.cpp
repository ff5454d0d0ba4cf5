// Implementation of root_causes.hpp.
#include "tracer/diagnosis/root_causes.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "tracer/diagnosis/sync_points.hpp"

namespace poe::trace {
namespace {

using Victims = std::vector<Cause::Victim>;

void add_to(Victims& victims, TaskId task, double time) {
    const auto found = std::find_if(victims.begin(), victims.end(),
                                    [task](const Cause::Victim& v) { return v.task == task; });
    if (found == victims.end())
        victims.push_back({task, time});
    else
        found->time += time;
}

// Keeps the longest. Returns true if some were dropped.
bool keep_longest(Victims& victims) {
    std::sort(victims.begin(), victims.end(), [](const auto& a, const auto& b) {
        return a.time != b.time ? a.time > b.time : a.task < b.task;
    });
    const bool more = victims.size() > Cause::kVictims;
    if (more) victims.resize(Cause::kVictims);
    return more;
}

// What a wait has received from waits that it has caused.
struct Carried {
    double time = 0;
    Victims victims;
    bool more_victims = false;
};

// What a task did in an interval, without its waits, and which of its waits fall into it.
struct Did {
    struct Piece {
        std::uint32_t activity = 0;
        Time time{0};
    };
    struct Waited {
        std::uint32_t wait = 0;
        Time time{0};
    };
    std::vector<Piece> pieces;
    std::vector<Waited> waits;
};

// Times by kind. Computing is divided by region; calls and the rest are one kind each. Few, so a
// search from the beginning is fast.
class Kinds {
  public:
    Time& operator[](std::uint64_t kind) {
        for (auto& [known, time] : times_)
            if (known == kind) return time;
        return times_.emplace_back(kind, Time{0}).second;
    }
    Time of(std::uint64_t kind) const {
        for (const auto& [known, time] : times_)
            if (known == kind) return time;
        return Time{0};
    }
    Time all() const {
        Time sum{0};
        for (const auto& [kind, time] : times_) sum += time;
        return sum;
    }
    // What is longer here than there, by kind.
    Kinds excess_over(const Kinds& other) const {
        Kinds more = *this;
        for (auto& [kind, time] : more.times_) time = std::max(Time{0}, time - other.of(kind));
        return more;
    }

  private:
    std::vector<std::pair<std::uint64_t, Time>> times_;
};
constexpr std::uint64_t kCommunicating = std::uint64_t{1} << 32;
constexpr std::uint64_t kRest = kCommunicating + 1;
constexpr std::uint64_t kWaiting = kCommunicating + 2;

std::uint64_t kind_of(const Activity& activity) {
    if (activity.is_call) return kCommunicating;
    return activity.state == State::kComputing ? activity.region : kRest;
}

class Search {
  public:
    explicit Search(const History& history)
        : history_(history),
          points_(find_sync_points(history)),
          carried_(history.waits.size()),
          done_(history.waits.size()) {}

    std::vector<Cause> run() {
        LongVector<std::uint32_t> order(history_.waits.size());
        std::iota(order.begin(), order.end(), 0u);
        std::sort(order.begin(), order.end(), [this](std::uint32_t a, std::uint32_t b) {
            const Time to_a = history_.waits[a].to;
            const Time to_b = history_.waits[b].to;
            return to_a != to_b ? to_a > to_b : a < b;
        });
        for (const std::uint32_t wait : order) divide(wait);
        std::vector<Cause> causes;
        for (auto& [key, cause] : causes_) {
            cause.more_victims |= keep_longest(cause.victims);
            causes.push_back(std::move(cause));
        }
        std::stable_sort(causes.begin(), causes.end(),
                         [](const Cause& a, const Cause& b) { return a.cost() > b.cost(); });
        return causes;
    }

    Time cut() const { return cut_; }

  private:
    Did did_between(TaskId task, Time from, Time to) const;
    Kinds kinds_of(TaskId task, const Did& did) const;
    Time earliest(TaskId task, Time to) const;
    void divide(std::uint32_t number);
    void charge(TaskId task, const Activity* activity, const TaskWait& wait, double share);

    const History& history_;
    LongVector<Time> points_;
    LongVector<Carried> carried_;  // by wait
    LongVector<bool> done_;        // by wait
    Time cut_{0};                  // length of the waits for which kMostLookedAt ended the search
    std::map<std::tuple<TaskId, State, std::uint32_t, std::uint32_t, std::uint32_t>, Cause> causes_;
};

// No activity before this moment is looked at.
Time Search::earliest(TaskId task, Time to) const {
    const std::uint32_t last = history_.activity_at(task, to);
    if (last == kNoActivity || last < kMostLookedAt) return -kFarthest;
    return history_.tasks[task][last - kMostLookedAt].from;
}

Did Search::did_between(TaskId task, Time from, Time to) const {
    Did found;
    const LongVector<Activity>& all = history_.tasks[task];
    if (from >= to || all.empty()) return found;
    const std::span<const TaskWait> waits = history_.waits_of(task);
    auto wait = std::partition_point(waits.begin(), waits.end(),
                                     [from](const TaskWait& each) { return each.to <= from; });
    const std::uint32_t first = history_.activity_at(task, from);
    for (std::size_t at = first == kNoActivity ? 0 : first; at < all.size() && all[at].from < to;
         ++at) {
        const Time since = std::max(all[at].from, from);
        const Time until = std::min(history_.end_of(task, at), to);
        Time time = until - since;
        for (; wait != waits.end() && wait->from < until; ++wait) {
            const Time waited = std::min(wait->to, until) - std::max(wait->from, since);
            if (waited > Time{0}) {
                time -= waited;
                found.waits.push_back(
                    {static_cast<std::uint32_t>(history_.number_of(*wait)), waited});
            }
            if (wait->to > until) break;
        }
        if (time > Time{0}) found.pieces.push_back({static_cast<std::uint32_t>(at), time});
    }
    return found;
}

Kinds Search::kinds_of(TaskId task, const Did& did) const {
    Kinds kinds;
    const LongVector<Activity>& all = history_.tasks[task];
    for (const Did::Piece& piece : did.pieces) kinds[kind_of(all[piece.activity])] += piece.time;
    for (const Did::Waited& waited : did.waits) kinds[kWaiting] += waited.time;
    return kinds;
}

// Charges a part of a wait, and of what it carries, to something that a task did; null: unknown.
void Search::charge(TaskId task, const Activity* activity, const TaskWait& wait, double share) {
    const Activity what = activity != nullptr ? *activity : Activity{};
    Cause& cause = causes_[{task, what.state, what.region, what.site, what.phase}];
    cause.task = task;
    cause.state = what.state;
    cause.region = what.region;
    cause.site = what.site;
    cause.phase = what.phase;
    const auto length = static_cast<double>(wait.cost().count());
    const Carried& carried = carried_[history_.number_of(wait)];
    cause.short_term += share * length;
    cause.long_term += share * carried.time;
    if (length > 0) add_to(cause.victims, wait.task, share * length);
    for (const Cause::Victim& victim : carried.victims)
        add_to(cause.victims, victim.task, share * victim.time);
    cause.more_victims |= carried.more_victims;
    constexpr std::size_t kRoom = 8 * Cause::kVictims;
    if (cause.victims.size() > kRoom) cause.more_victims |= keep_longest(cause.victims);
}

void Search::divide(std::uint32_t number) {
    const TaskWait& wait = history_.waits[number];
    done_[number] = true;
    if (wait.cost() == Time{0} && carried_[number].time <= 0) return;
    const Time limit = std::max(earliest(wait.whom, wait.to), earliest(wait.task, wait.from));
    const Time since = std::max(points_[number], limit);
    if (limit > points_[number]) cut_ += wait.cost();
    const Did awaited = did_between(wait.whom, since, wait.to);
    const Did own = did_between(wait.task, since, wait.from);
    const Kinds of_awaited = kinds_of(wait.whom, awaited);
    Kinds delays = of_awaited.excess_over(kinds_of(wait.task, own));
    if (delays.all() <= Time{0}) delays = of_awaited;  // none is longer, so all of them count
    const Time all = delays.all();
    if (all <= Time{0}) {
        charge(wait.whom, nullptr, wait, 1);
    } else {
        const auto share_of = [&](std::uint64_t kind, Time time) {
            const auto total = static_cast<double>(of_awaited.of(kind).count());
            return static_cast<double>(delays.of(kind).count()) / static_cast<double>(all.count()) *
                   static_cast<double>(time.count()) / total;
        };
        const LongVector<Activity>& activities = history_.tasks[wait.whom];
        for (const Did::Piece& piece : awaited.pieces) {
            const Activity& activity = activities[piece.activity];
            const double share = share_of(kind_of(activity), piece.time);
            if (share > 0) charge(wait.whom, &activity, wait, share);
        }
        for (const Did::Waited& waited : awaited.waits) {
            const double share = share_of(kWaiting, waited.time);
            if (share <= 0) continue;
            if (done_[waited.wait]) {  // both end at the same moment
                const TaskWait& other = history_.waits[waited.wait];
                charge(wait.whom, other.call == kNoActivity ? nullptr : &activities[other.call],
                       wait, share);
                continue;
            }
            Carried& to = carried_[waited.wait];
            const Carried& from = carried_[number];
            const double length = share * static_cast<double>(wait.cost().count());
            to.time += length + share * from.time;
            if (length > 0) add_to(to.victims, wait.task, length);
            for (const Cause::Victim& victim : from.victims)
                add_to(to.victims, victim.task, share * victim.time);
            to.more_victims |= from.more_victims;
            to.more_victims |= keep_longest(to.victims);
        }
    }
    carried_[number] = {};
}

}  // namespace

std::vector<Cause> find_root_causes(const History& history, Time* cut) {
    Search search(history);
    std::vector<Cause> causes = search.run();
    if (cut != nullptr) *cut += search.cut();
    return causes;
}

}  // namespace poe::trace
