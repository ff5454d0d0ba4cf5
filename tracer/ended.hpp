// Ended: what came to an end in a stretch of a trace: messages, calls, waits, as sums. The index
// keeps one for each stretch between two keyframes, so that sums of any stretch are soon made.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <unordered_map>

#include "tracer/packing.hpp"
#include "tracer/replay.hpp"
#include "tracer/summary.hpp"

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

    std::unordered_map<std::uint64_t, PairSum> pairs;  // by pair(from, to)
    std::map<std::uint32_t, Calls> calls;              // by region
    std::map<std::tuple<TaskId, TaskId, Wait::Why>, Waits> waits;
    std::array<std::uint64_t, 65> sizes{};  // messages, by how many bits their size has

    void add(const Message& message);
    void add(const Interval& interval);
    void add(const Wait& wait);
};

// Adds what a replay tells.
class EndedListener : public Listener {
  public:
    explicit EndedListener(Ended& sums) : sums_(sums) {}
    void on_message(const Message& message) override { sums_.add(message); }
    void on_interval(const Interval& interval) override { sums_.add(interval); }
    void on_wait(const Wait& wait) override { sums_.add(wait); }

  private:
    Ended& sums_;
};

void pack(Packer& out, const Ended& sums);
// Adds what the bytes say, as far as that makes sense, of tasks and regions below these numbers.
// `pairs_only`: nothing but the pairs, which is soon done.
void add_packed(Ended& sums, std::span<const std::byte> bytes, std::size_t tasks,
                std::size_t regions, bool pairs_only);

}  // namespace poe::trace
