// A collective operation as data. A schedule is what one rank of a group does in an operation:
// sends and receives that it starts, waits for them, copies and reductions, over blocks of three
// buffers. An algorithm is a pure function that writes the schedule of one rank (algorithm.hpp).
// The same schedule is run on messages (plan.hpp), checked (verifier.hpp), counted (below) and
// simulated (simulator.hpp). This file knows nothing of any of them.
//
// A rank's n-th send to another rank meets that one's n-th receive from it. Between the start of a
// send and the wait for it its block must not be written, between the start of a receive and the
// wait for it its block must not be touched.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/types.hpp"

namespace poe::collectives {

using Rank = std::int32_t;  // within the group, 0..n-1

// The user's contribution, which is only read (MPL calls it `out`, as it goes out); the user's
// result (MPL's `in`); scratch memory.
enum class Buffer : std::uint8_t { kInput, kOutput, kScratch };

struct Place {
    Buffer buffer = Buffer::kOutput;
    Bytes offset = 0;

    Place operator+(Bytes further) const noexcept { return {buffer, offset + further}; }
};

enum class StepKind : std::uint8_t {
    kSend,     // start to send `length` bytes at `from` to `peer`
    kReceive,  // start to receive `length` bytes from `peer` into `to`
    kWait,     // until the first `peer` messages that this rank has started have ended
    kCopy,     // `to` = `from`
    kAppend,   // `to` = `to` op `from`: the ranks in `from` come after those in `to`
    kPrepend,  // `to` = `from` op `to`
};

struct Step {
    StepKind kind = StepKind::kWait;
    Place from;
    Place to;
    std::int32_t peer = 0;
    // In which round of the algorithm a message travels. Rounds are the same for all ranks and only
    // serve to count: no rank waits for a round.
    std::int32_t round = 0;
    Bytes length = 0;

    bool is_message() const noexcept {
        return kind == StepKind::kSend || kind == StepKind::kReceive;
    }
};

// The steps of one rank, in order. Built by calling the functions below; used again and again it
// stops allocating.
class Schedule {
  public:
    // Empties it.
    void clear() noexcept;

    // Messages. One of no bytes is left out, at both ends alike.
    void send(Rank to, Place from, Bytes length, int round);
    void receive(Rank from, Place to, Bytes length, int round);
    // Messages without data, for the sake of the order they bring.
    void signal(Rank to, int round);
    void await_signal(Rank from, int round);

    // Waits for everything started.
    void wait();
    // Waits for the first so many messages started, or for all when there are fewer.
    void wait_for(std::uint32_t messages);
    std::uint32_t started() const noexcept { return started_; }

    // Local steps. One of no bytes, or of a block onto itself, is left out; a copy that goes on
    // where the last one ended becomes part of it.
    void copy(Place from, Place to, Bytes length);
    void append(Place from, Place to, Bytes length);
    void prepend(Place from, Place to, Bytes length);

    // Scratch memory of that size, which nothing else in this schedule uses.
    Place work(Bytes length);
    Bytes work_bytes() const noexcept { return work_; }

    // From here on rounds are counted from this one: for algorithms made of others.
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

// Writes one rank's schedule. Pure: the same rank always gets the same schedule. A call costs about
// as much as the schedule has steps.
using Generator = std::function<void(Rank rank, Schedule& into)>;

// The measures of the CCL paper, IV.A: C1 rounds, C2 data that moves one after the other (the sum
// over rounds of the largest message), C3 all data that moves. Data in bytes.
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

// Counts what n ranks really send.
Counts count(std::uint32_t n, const Generator& generate);

}  // namespace poe::collectives
