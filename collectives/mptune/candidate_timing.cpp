// The timing of candidates; see candidate_timing.hpp.
#include "collectives/mptune/candidate_timing.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <numeric>

#include "base/error.hpp"
#include "base/hash.hpp"
#include "collectives/engine/multicast_calls.hpp"
#include "collectives/selection/catalogue.hpp"
#include "collectives/selection/default_path.hpp"
#include "collectives/selection/multicast_cost.hpp"
#include "comm/api/mpproto.h"

namespace poe::collectives {
namespace {

constexpr std::size_t kLeast = 3;
constexpr std::size_t kMost = 101;
constexpr double kShort = 200;  // microseconds
constexpr std::uint32_t kManyInRow = 32;
constexpr std::uint32_t kFewInRow = 3;

double now() {
    return std::chrono::duration<double, std::micro>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

double median_of(std::vector<double> times) {
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

// The input and output buffers of a member.
struct Buffers {
    explicit Buffers(const Shape& shape)
        : given(shape.bytes * (many_given(shape.operation) ? shape.n : 1) + 8),
          result(shape.bytes * (many_got(shape.operation) ? shape.n : 1) + 8) {}
    static bool many_given(Operation operation) {
        return operation == Operation::kScatter || operation == Operation::kIndex;
    }
    static bool many_got(Operation operation) {
        return operation == Operation::kGather || operation == Operation::kConcat ||
               operation == Operation::kIndex;
    }
    std::vector<std::byte> given;
    std::vector<std::byte> result;
};

class Timer {
  public:
    Timer(CollectiveContext& library, Group& group) : library_(library), group_(group) {}

    void run(Plan& plan, const Run& run) {
        library_.begin(group_, plan, run);
        plan.finish(library_.messages());
        if (plan.running())
            throw Error("a collective call with task " + std::to_string(plan.culprit()) +
                        " failed while it was timed");
    }

    // Returns the median time of `call`, in microseconds. All members make equally many calls: rank
    // 0 decides.
    double median(const std::function<void()>& call, double budget) {
        std::vector<double> times;
        call();
        // Short calls are timed many in a row, so that the members' waiting for each other is a
        // small part.
        const double first = now();
        call();
        std::uint32_t in_row = now() - first < kShort ? kManyInRow : kFewInRow;
        tell(in_row);
        const double end = now() + budget;
        for (std::uint32_t more = 1; more != 0;) {
            synchronise();
            const double start = now();
            for (std::uint32_t i = 0; i < in_row; ++i) call();
            synchronise();
            times.push_back((now() - start) / in_row);
            more = times.size() < kLeast || (now() < end && times.size() < kMost) ? 1 : 0;
            tell(more);
        }
        return median_of(times);
    }

    // Sends rank 0's number to all members.
    void tell(std::uint32_t& number) {
        library_.bcast_internal(group_, number, library_.next_type(group_));
    }

  private:
    void synchronise() {
        std::uint32_t none = 0;
        std::vector<std::uint32_t> all(group_.size());
        library_.allgather_internal(group_, &none, all.data(), sizeof none,
                                    library_.next_type(group_));
    }

    CollectiveContext& library_;
    Group& group_;
};

}  // namespace

Shape usual_shape(Operation operation, std::uint32_t n, Bytes bytes) {
    Shape shape;
    shape.operation = operation;
    shape.n = n;
    shape.bytes = operation == Operation::kSync ? 0 : bytes;
    if (operation == Operation::kReduce || operation == Operation::kCombine ||
        operation == Operation::kPrefix) {
        shape.bytes = (bytes + sizeof(double) - 1) / sizeof(double) * sizeof(double);
        shape.element = sizeof(double);
        shape.commutative = true;
    }
    if (operation == Operation::kShift) {
        shape.step = 1;
        shape.circular = true;
    }
    return shape;
}

namespace {

// Returns all methods for such a call, not timed yet.
std::vector<TimedCandidate> ways_of(CollectiveContext& library, Group& group, const Shape& shape,
                                    const Shape& placed) {
    std::vector<TimedCandidate> all;
    const Transport usual = default_transport(shape);
    Transport by_model = Transport::kMessages;
    if (library.path_by(Transport::kShared, group, shape)) {
        all.push_back({{Transport::kShared, {}}});
        if (usual != Transport::kMessages) by_model = Transport::kShared;
    }
    if (library.path_by(Transport::kDirect, group, shape)) {
        all.push_back({{Transport::kDirect, {}}});
        if (usual == Transport::kDirect) by_model = Transport::kDirect;
    }
    const bool by_multicast = can_multicast(library, group, shape);
    const Transport taken = library.path_for(group, shape).path->transport;
    Tuning model = library.tuning();
    model.node.bests.clear();
    model.network.bests.clear();
    const Choice cheapest = choose(catalogue(), placed, model, {});
    const Choice chosen = library.choice_for(placed);
    if (by_multicast) {
        const double time = predicted_multicast(model, placed);
        all.push_back({{Transport::kMulticast, {}}, time});
        if (multicast_bytes(shape) >= least_multicast_bytes(shape.operation) &&
            time < predicted(model, placed, cheapest))
            by_model = Transport::kMulticast;
    }
    for (const Candidate& each : candidates(catalogue(), placed, model))
        all.push_back({{Transport::kMessages, each.choice}, each.time});
    const auto method_of = [](Transport transport, const Choice& choice) {
        return Method{transport, transport == Transport::kMessages ? choice : Choice{}};
    };
    const Method one_taken = method_of(taken, chosen);
    const Method one_by_model = method_of(by_model, cheapest);
    const bool known = std::any_of(all.begin(), all.end(), [&](const TimedCandidate& each) {
        return each.method == one_taken;
    });
    // A parameter that a user has written into the file.
    if (!known) all.push_back({one_taken});
    for (TimedCandidate& each : all) {
        each.taken = each.method == one_taken;
        each.by_model = each.method == one_by_model;
    }
    return all;
}

// A hash of the steps of all ranks, without the rounds used for counting.
std::uint64_t fingerprint(const Shape& shape, const Choice& choice) {
    Hash64 sum;
    const Generator generate = choice.make(shape);
    Schedule schedule;
    for (std::uint32_t rank = 0; rank < shape.n; ++rank) {
        schedule.clear();
        generate(static_cast<Rank>(rank), schedule);
        for (const Step& step : schedule.steps()) {
            sum.add(static_cast<std::uint64_t>(step.kind) << 16 |
                    static_cast<std::uint64_t>(step.from.buffer) << 8 |
                    static_cast<std::uint64_t>(step.to.buffer));
            sum.add(static_cast<std::uint64_t>(step.peer));
            sum.add(step.from.offset).add(step.to.offset).add(step.length);
        }
        sum.add(std::uint64_t{rank});
    }
    return sum.value();
}

// Returns, for each candidate, the first one with equal schedules; with few ranks many algorithms
// have equal schedules. If they were timed separately, chance would decide between them.
std::vector<std::size_t> first_alike(const std::vector<TimedCandidate>& all, const Shape& shape) {
    std::vector<std::size_t> first(all.size());
    std::map<std::uint64_t, std::size_t> known;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const Method& method = all[i].method;
        first[i] = method.transport != Transport::kMessages
                       ? i
                       : known.emplace(fingerprint(shape, method.choice), i).first->second;
    }
    return first;
}

}  // namespace

std::vector<TimedCandidate> time_candidates(CollectiveContext& library, Group& group,
                                            const Shape& shape, double budget) {
    constexpr std::uint32_t kLooksFast = 3;
    constexpr int kRounds = 5;
    Timer timer(library, group);
    Buffers buffers(shape);
    const Run run{buffers.given.data(), buffers.result.data(), find_reduction(d_vadd), 0};
    const CollectiveCall call{"mptune", Call::kNone, shape, run};
    Shape placed = shape;
    placed.nodes = library.nodes_of(group);
    std::vector<TimedCandidate> all = ways_of(library, group, shape, placed);
    const auto time = [&](const TimedCandidate& each) {
        if (each.method.transport != Transport::kMessages) {
            const auto path = library.path_by(each.method.transport, group, shape);
            return timer.median([&] { library.run_on(*path, group, call); }, budget);
        }
        Plan plan(placed, each.method.choice.make(placed), group.me, false);
        return timer.median([&] { timer.run(plan, run); }, budget);
    };
    const std::vector<std::size_t> first = first_alike(all, placed);
    std::vector<std::uint32_t> order;
    for (std::uint32_t i = 0; i < all.size(); ++i) {
        if (all[i].taken || all[i].by_model) all[first[i]].again = true;
        if (first[i] != i) continue;
        all[i].measured = time(all[i]);
        order.push_back(i);
    }
    // Rank 0 decides which candidates are timed again.
    std::sort(order.begin(), order.end(),
              [&](std::uint32_t a, std::uint32_t b) { return all[a].measured < all[b].measured; });
    for (std::uint32_t i = 0; i < std::min<std::size_t>(kLooksFast, order.size()); ++i) {
        timer.tell(order[i]);
        all[order[i]].again = true;
    }
    std::vector<std::vector<double>> times(all.size());
    for (int round = 0; round < kRounds; ++round) {
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (all[i].again && first[i] == i) times[i].push_back(time(all[i]));
        }
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (!times[i].empty()) all[i].measured = median_of(times[i]);
        all[i].measured = all[first[i]].measured;
        all[i].again = all[first[i]].again;
    }
    return all;
}

std::vector<MulticastMeasured> time_multicast(CollectiveContext& library, Group& group,
                                              const std::vector<Bytes>& lengths, double budget) {
    Timer timer(library, group);
    std::vector<MulticastMeasured> measured;
    for (const Bytes bytes : lengths) {
        const Shape shape = usual_shape(Operation::kBcast, group.size(), bytes);
        if (!can_multicast(library, group, shape)) return {};
        Buffers buffers(shape);
        const Run run{nullptr, buffers.result.data(), {}, 0};
        const CollectiveCall call{"mptune", Call::kNone, shape, run};
        const auto path = library.path_by(Transport::kMulticast, group, shape);
        measured.push_back(
            {bytes, timer.median([&] { library.run_on(*path, group, call); }, budget)});
    }
    return measured;
}

std::vector<double> time_choices(CollectiveContext& library, Group& group, const Shape& shape,
                                 const std::vector<Choice>& choices, double budget) {
    Timer timer(library, group);
    Buffers buffers(shape);
    const Run run{buffers.given.data(), buffers.result.data(), find_reduction(d_vadd), 0};
    std::vector<double> times;
    for (const Choice& choice : choices) {
        Plan plan(shape, choice.make(shape), group.me, false);
        times.push_back(timer.median([&] { timer.run(plan, run); }, budget));
    }
    return times;
}

}  // namespace poe::collectives
