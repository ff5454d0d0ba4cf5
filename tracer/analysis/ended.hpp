// Ended: sums of what ended in a section of a trace: messages, calls, waits. The index stores one
// object per section between two keyframes, so that sums over any section are computed quickly.
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
        Time time{0};  // without calls and regions inside
        Time longest{0};
    };
    struct Waits {
        std::uint64_t count = 0;
        Time time{0};
    };

    // Numbers of a task's events, for searching the next event of a kind.
    struct Events {
        std::uint64_t all = 0;
        std::uint64_t messages = 0;  // ends of messages
        std::uint64_t collectives = 0;
        std::uint64_t markers = 0;
    };

    // The time that a task has computed in a user's region, without calls and regions inside it.
    std::map<std::pair<TaskId, std::uint32_t>, Time> computed;
    std::unordered_map<std::uint64_t, PairSum> pairs;  // by pair(from, to); of the program
    std::map<std::uint32_t, Calls> calls;              // by region
    std::map<std::tuple<TaskId, TaskId, Wait::Why>, Waits> waits;
    std::array<std::uint64_t, 65> sizes{};  // messages, by the number of bits of their size
    PairSum inner;                          // of all messages within collective calls
    std::map<TaskId, Events> events;

    void add(const Message& message);
    void add(const Interval& interval);
    void add(const Wait& wait);
    void add_computing(TaskId task, std::uint32_t region, Time time);
    void add(const Event& event, TaskId task);
};

// Which part of packed sums is needed. Each value includes the ones before it.
enum class EndedPart : std::uint8_t { kComputed, kPairs, kAll };

// Adds what a replay reports.
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
// Adds packed sums, as long as they are valid, of tasks and regions below these numbers. Stops
// after the wanted part.
void add_packed(Ended& sums, std::span<const std::byte> bytes, std::size_t tasks,
                std::size_t regions, EndedPart wanted);

}  // namespace poe::trace
