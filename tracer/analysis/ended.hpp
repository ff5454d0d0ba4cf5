// Ended: what came to an end in a stretch of a trace: messages, calls, waits, as sums. The index
// keeps one for each stretch between two keyframes, so that sums of any stretch are soon made.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <unordered_map>

#include "tracer/analysis/replay.hpp"
#include "tracer/analysis/summary.hpp"
#include "tracer/read/packing.hpp"

namespace poe::trace {

struct Ended {
    struct Calls {
        std::uint64_t count = 0;
        Time time{0};  // without what was within
        Time longest{0};
    };
    struct Waits {
        std::uint64_t count = 0;
        Time time{0};
    };

    // Events of a task, for who looks for the next one of a kind.
    struct Events {
        std::uint64_t all = 0;
        std::uint64_t messages = 0;  // ends of messages
        std::uint64_t collectives = 0;
        std::uint64_t markers = 0;
    };

    // How long a task has computed in a user's region, without calls and regions within.
    std::map<std::pair<TaskId, std::uint32_t>, Time> computed;
    std::unordered_map<std::uint64_t, PairSum> pairs;  // by pair(from, to); of the program
    std::map<std::uint32_t, Calls> calls;              // by region
    std::map<std::tuple<TaskId, TaskId, Wait::Why>, Waits> waits;
    std::array<std::uint64_t, 65> sizes{};  // messages, by how many bits their size has
    PairSum inner;                          // of all messages within collective calls
    std::map<TaskId, Events> events;

    void add(const Message& message);
    void add(const Interval& interval);
    void add(const Wait& wait);
    void add_computing(TaskId task, std::uint32_t region, Time time);
    void add(const Event& event, TaskId task);
};

// How much of packed sums is needed. Each has what those before it have.
enum class EndedPart : std::uint8_t { kComputed, kPairs, kAll };

// Adds what a replay tells.
class EndedListener : public Listener {
  public:
    explicit EndedListener(Ended& sums) : sums_(sums) {}
    void on_message(const Message& message) override { sums_.add(message); }
    void on_interval(const Interval& interval) override { sums_.add(interval); }
    void on_wait(const Wait& wait) override { sums_.add(wait); }
    void on_computing(TaskId task, std::uint32_t region, Time from, Time to) override {
        if (region != 0) sums_.add_computing(task, region, to - from);
    }
    void on_event(const Event& event, TaskId task) override { sums_.add(event, task); }

  private:
    Ended& sums_;
};

void pack(Packer& out, const Ended& sums);
// Adds what the bytes say, as far as that makes sense, of tasks and regions below these numbers.
// Reads no further than the wanted part.
void add_packed(Ended& sums, std::span<const std::byte> bytes, std::size_t tasks,
                std::size_t regions, EndedPart wanted);

}  // namespace poe::trace
