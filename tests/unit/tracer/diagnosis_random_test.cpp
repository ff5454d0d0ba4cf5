// Random jobs: what must hold of every diagnosis.
#include <random>

#include <catch2/catch.hpp>

#include "tests/unit/tracer/diagnosis_maker.hpp"

using namespace poe;
using namespace poe::trace;
using namespace poe::trace::test;

namespace {

// Writes the trace of a job whose tasks compute, send, receive and meet at random. Times are in us.
class RandomJob {
  public:
    RandomJob(unsigned seed, TaskId tasks) : random_(seed), streams_(task_streams(tasks)) {
        clock_.resize(streams_.size(), 1);
        in_region_.resize(streams_.size());
    }

    const std::vector<StreamWriter>& run(int steps) {
        for (int step = 0; step < steps; ++step) {
            switch (below(8)) {
                case 0:
                    region();
                    break;
                case 1:
                case 2:
                case 3:
                    message();
                    break;
                case 4:
                    collective(kSyncCall, false);
                    break;
                case 5:
                    collective(kCombineCall, false);
                    break;
                case 6:
                    collective(kBcastCall, true);
                    break;
                default:
                    collective(kReduceCall, true);
                    break;
            }
        }
        return streams_;
    }

  private:
    std::uint64_t below(std::uint64_t limit) {
        return std::uniform_int_distribution<std::uint64_t>(0, limit - 1)(random_);
    }
    std::size_t any_task() { return below(streams_.size()); }
    void compute(std::size_t task) { clock_[task] += 1 + below(below(4) == 0 ? 500 : 20); }

    void region() {
        const std::size_t task = any_task();
        compute(task);
        if (in_region_[task])
            streams_[task].leave(us(clock_[task]), kSolve);
        else
            streams_[task].enter(us(clock_[task]), kSolve);
        in_region_[task] = !in_region_[task];
    }
    void message() {
        const std::size_t from = any_task();
        const std::size_t to = any_task();
        if (from == to) return;
        compute(from);
        compute(to);
        const std::uint64_t sent = clock_[from];
        const std::uint64_t asked = clock_[to];
        const std::uint64_t came = std::max(sent, asked) + 1 + below(5);
        const bool waits = below(3) == 0;  // the sender waits for the receiver
        send_call(streams_[from], sent, waits ? came + 1 : sent + 1, static_cast<TaskId>(to));
        receive_call(streams_[to], asked, came, static_cast<TaskId>(from));
        clock_[from] = (waits ? came + 1 : sent + 1) + 1;
        clock_[to] = came + 1;
    }
    void collective(std::uint32_t call, bool rooted) {
        const std::size_t root = rooted ? any_task() : 0;
        std::uint64_t last = 0;
        for (std::size_t task = 0; task < streams_.size(); ++task) {
            compute(task);
            last = std::max(last, clock_[task]);
        }
        const std::uint64_t root_came = clock_[root];
        for (std::size_t task = 0; task < streams_.size(); ++task) {
            std::uint64_t left = last;
            if (call == kBcastCall) left = std::max(clock_[task], root_came);
            if (call == kReduceCall && task != root) left = clock_[task];
            left += 1 + below(5);
            collective_call(streams_[task], call, clock_[task], left, number_,
                            rooted ? static_cast<std::uint32_t>(root) : kNobody);
            clock_[task] = left + 1;
        }
        ++number_;
    }

    std::mt19937 random_;
    std::vector<StreamWriter> streams_;
    std::vector<std::uint64_t> clock_;
    std::vector<bool> in_region_;
    std::uint16_t number_ = 0;
};

void check_activities(const History& history) {
    for (TaskId task = 0; task < history.tasks.size(); ++task) {
        const LongVector<Activity>& all = history.tasks[task];
        for (std::size_t at = 1; at < all.size(); ++at) REQUIRE(all[at - 1].from <= all[at].from);
        Time in_calls{0};
        for (std::size_t at = 0; at + 1 < all.size(); ++at)
            if (all[at].is_call) in_calls += all[at + 1].from - all[at].from;
        Time waits{0};
        for (const TaskWait& wait : history.waits_of(task)) {
            REQUIRE(wait.task == task);
            waits += wait.length();
            REQUIRE(wait.call != kNoActivity);
            REQUIRE(all[wait.call].from <= wait.from);
            REQUIRE(wait.to <= all[wait.call + 1].from);
        }
        REQUIRE(waits <= in_calls);
    }
}

void check_path(const History& history) {
    const CriticalPath path = find_critical_path(history);
    REQUIRE_FALSE(path.parts.empty());
    REQUIRE(path.parts.front().from == history.begin);
    REQUIRE(path.parts.back().to == history.end);
    for (std::size_t i = 1; i < path.parts.size(); ++i)
        REQUIRE(path.parts[i - 1].to == path.parts[i].from);
    REQUIRE(path.length() == history.end - history.begin);
    Time shares{0};
    for (const PathShare& share : path.shares) shares += share.time;
    REQUIRE(shares == path.length());
}

void check_causes(const History& history) {
    double waited = 0;
    for (const TaskWait& wait : history.waits) waited += static_cast<double>(wait.cost().count());
    double costs = 0;
    double direct = 0;
    double victims = 0;
    for (const Cause& cause : find_root_causes(history)) {
        costs += cause.cost();
        direct += cause.short_term;
        REQUIRE(cause.short_term >= 0);
        REQUIRE(cause.long_term >= 0);
        for (const Cause::Victim& victim : cause.victims) victims += victim.time;
    }
    REQUIRE(costs == Approx(waited));
    REQUIRE(direct <= Approx(waited));
    REQUIRE(victims == Approx(waited));
}

void check_efficiencies(const History& history) {
    const IdealHistory ideal = replay_ideally(history);
    for (TaskId task = 0; task < history.tasks.size(); ++task)
        for (std::size_t at = 0; at < history.tasks[task].size(); ++at)
            REQUIRE(ideal.begins[task][at] <= history.tasks[task][at].from);
    const Efficiencies found = find_efficiencies(history, ideal);
    REQUIRE(found.job.ideal <= found.job.elapsed);
    REQUIRE(found.job.ideal >= found.job.max_computing);
    std::vector<Efficiency> all = found.phases;
    all.push_back(found.job);
    for (const Efficiency& each : all)
        REQUIRE(each.load_balance() * each.serialisation() * each.transfer() ==
                Approx(each.parallel()));
}

}  // namespace

TEST_CASE("what holds of every diagnosis, for random jobs") {
    for (unsigned seed = 0; seed < 200; ++seed) {
        CAPTURE(seed);
        const auto tasks = static_cast<TaskId>(2 + seed % 7);
        const Told told = told_by(RandomJob(seed, tasks).run(static_cast<int>(10 + seed)));
        check_activities(told.history);
        check_path(told.history);
        check_causes(told.history);
        check_efficiencies(told.history);
    }
}
