// A collective operation as data. A schedule is what one rank of a group does in an operation: the
// sends and receives that it starts, waits for them, copies and reductions, on blocks of three
// buffers. An algorithm is a pure function that writes the schedule of one rank (algorithm.hpp).
// The same schedule is executed by messages (plan.hpp), verified (verifier.hpp), counted (below)
// and simulated (simulator.hpp). This file knows none of these.
//
// The n-th send of a rank to another rank matches the n-th receive of that rank from it. Between
// the start of a send and the wait for it, its block must not be written. Between the start of a
// receive and the wait for it, its block must not be accessed.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/types.hpp"

namespace poe::collectives {

using Rank = std::int32_t;  // within the group, 0..n-1

// The user's input, which is only read (`out` in MPL, because it is sent out); the user's result
// (`in` in MPL); scratch memory.
enum class Buffer : std::uint8_t { kInput, kOutput, kScratch };

struct Place {
    Buffer buffer = Buffer::kOutput;
    Bytes offset = 0;

    Place operator+(Bytes further) const noexcept { return {buffer, offset + further}; }
};

enum class StepKind : std::uint8_t {
    kSend,     // starts to send `length` bytes at `from` to `peer`
    kReceive,  // starts to receive `length` bytes from `peer` into `to`
    kWait,     // waits until the first `peer` messages that this rank has started have ended
    kCopy,     // `to` = `from`
    kAppend,   // `to` = `to` op `from`: the ranks in `from` come after those in `to`
    kPrepend,  // `to` = `from` op `to`
};

struct Step {
    StepKind kind = StepKind::kWait;
    Place from;
    Place to;
    std::int32_t peer = 0;
    // The round of the algorithm in which a message is sent. Rounds are the same for all ranks and
    // are used only for counting; no rank waits for a round.
    std::int32_t round = 0;
    Bytes length = 0;

    bool is_message() const noexcept {
        return kind == StepKind::kSend || kind == StepKind::kReceive;
    }
};

// The steps of one rank, in order, built by the functions below. A schedule that is reused stops
// allocating.
class Schedule {
  public:
    // Removes all steps.
    void clear() noexcept;

    // Messages. A message of 0 bytes is omitted, at both ends.
    void send(Rank to, Place from, Bytes length, int round);
    void receive(Rank from, Place to, Bytes length, int round);
    // Messages without data, which only order events.
    void signal(Rank to, int round);
    void await_signal(Rank from, int round);

    // Waits for all messages started so far.
    void wait();
    // Waits for the first `messages` messages started, or for all if fewer were started.
    void wait_for(std::uint32_t messages);
    std::uint32_t started() const noexcept { return started_; }

    // Local steps. A step of 0 bytes, and a copy of a block onto itself, is omitted. A copy that
    // continues the previous copy is merged into it.
    void copy(Place from, Place to, Bytes length);
    void append(Place from, Place to, Bytes length);
    void prepend(Place from, Place to, Bytes length);

    // Reserves scratch memory of this length, in bytes, which nothing else in this schedule uses.
    Place work(Bytes length);
    Bytes work_bytes() const noexcept { return work_; }

    // From here on, rounds count from this one: for algorithms that consist of others.
    void start_phase(int round) noexcept { phase_ = round; }
    int phase() const noexcept { return phase_; }

    std::span<const Step> steps() const noexcept { return steps_; }
    std::vector<Step>& edit() noexcept { return steps_; }

  private:
    void message(StepKind kind, Rank peer, Place from, Place to, Bytes length, int round);
    void local(StepKind kind, Place from, Place to, Bytes length);

    std::vector<Step> steps_;
    Bytes work_ = 0;
    std::uint32_t started_ = 0;
    std::uint32_t waited_ = 0;
    int phase_ = 0;
};

// Writes the schedule of one rank. Pure: the same rank always gets the same schedule. A call costs
// time in proportion to the number of steps.
using Generator = std::function<void(Rank rank, Schedule& into)>;

// The measures of the CCL paper, IV.A: C1 is the number of rounds; C2 is the data that are sent one
// after the other, the sum over rounds of the largest message; C3 is all data sent. Data are in
// bytes.
struct Counts {
    std::uint64_t c1 = 0;
    Bytes c2 = 0;
    Bytes c3 = 0;
    bool operator==(const Counts&) const = default;
    Counts operator+(const Counts& other) const noexcept {
        return {c1 + other.c1, c2 + other.c2, c3 + other.c3};
    }
    Counts operator-(const Counts& other) const noexcept {
        return {c1 - other.c1, c2 - other.c2, c3 - other.c3};
    }
};

// Counts what the schedules of n ranks really send.
Counts count(std::uint32_t n, const Generator& generate);

}  // namespace poe::collectives
