// Timing candidates; see candidate_timing.hpp.
#include "collectives/candidate_timing.hpp"

#include <algorithm>
#include <chrono>
#include <functional>

#include "comm/base/error.hpp"
#include "comm/mpproto.h"

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

// What a member gives and gets.
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
    Timer(Library& library, Group& group) : library_(library), group_(group) {}

    void run(Plan& plan, const Run& run) {
        library_.begin(group_, plan, run);
        plan.finish(library_.messages());
        if (plan.running())
            throw Error("a collective call with task " + std::to_string(plan.culprit()) +
                        " failed while it was timed");
    }

    // The median time of `call`. All members make as many calls: rank 0 counts.
    double median(const std::function<void()>& call, double budget) {
        std::vector<double> times;
        call();
        // Short calls many in a row, so that waiting for each other is little of it.
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
        std::sort(times.begin(), times.end());
        return times[times.size() / 2];
    }

  private:
    void tell(std::uint32_t& number) {
        library_.tell_from_first(group_, number, library_.next_type(group_));
    }
    void synchronise() {
        std::uint32_t none = 0;
        std::vector<std::uint32_t> all(group_.size());
        library_.tell_all(group_, &none, all.data(), sizeof none, library_.next_type(group_));
    }

    Library& library_;
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

std::vector<TimedCandidate> time_candidates(Library& library, Group& group, const Shape& shape,
                                            double budget) {
    Timer timer(library, group);
    Buffers buffers(shape);
    const Run run{buffers.given.data(), buffers.result.data(), find_reduction(d_vadd), 0};
    std::vector<TimedCandidate> all;
    DirectCalls* direct = library.direct_for(group, shape);
    if (direct != nullptr) {
        const double time = timer.median([&] { direct->run(shape, run, false); }, budget);
        all.push_back({"direct memory", -1, time, true});
    }
    LocalCalls* local = library.local_for(group, shape);
    if (local != nullptr) {
        const double time = timer.median([&] { local->run(shape, run, false); }, budget);
        all.push_back({"shared memory", -1, time, direct == nullptr});
    }
    const bool without_messages = local != nullptr || direct != nullptr;
    Shape placed = shape;
    placed.nodes = library.nodes_of(group);
    const std::string taken = choose(placed, library.tuning(), {}).text();
    for (const Candidate& candidate : candidates(placed, library.tuning())) {
        Plan plan(placed, candidate.choice.make(placed), group.me, false);
        const double time = timer.median([&] { timer.run(plan, run); }, budget);
        const std::string name = candidate.choice.text();
        all.push_back({name, candidate.time, time, !without_messages && name == taken});
    }
    return all;
}

}  // namespace poe::collectives
