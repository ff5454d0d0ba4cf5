// The file of a communication plan: what a traced run of a program has communicated, call by call,
// and how later runs send it (docs/plan.md). vt -plan writes it; poe -plan passes its text to the
// tasks; the engine and mpsim read it. Pure: no file is accessed here.
//
// A line describes the calls of one place in the program on one communicator:
//
//   alltoallv group=0 tasks=0-3 first=0 every=1 calls=50 schedule=greedy at="main at is.c:220"
//       lengths=0,8K,8K,1000/8K,0,8K,8K/...
//
// all on one line. A line that combines short blocks has "schedule=combined radix=4 limit=2K". A
// comment after '#' gives the reason for the schedule. `lengths` is a matrix: each task of `tasks`,
// in this order, has a row with the number of bytes that it sends to each task. "8K*3" means
// "8K,8K,8K". A line that begins with '#' is a comment.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/types.hpp"
#include "collectives/schedule/phases.hpp"

namespace poe::collectives {

struct PlannedCall {
    std::string operation;      // "alltoallv" of MPI, "indexv" of MPL, or another collective call
    int group = 0;              // number of the group of MPL or of the communicator's group
    std::vector<TaskId> tasks;  // members, ascending
    // Which calls: number first, first + every ... of the blocking calls of this operation on the
    // group, counted from 0. Only for calls with `lengths`.
    std::uint64_t first = 0;
    std::uint64_t every = 1;
    std::uint64_t calls = 0;  // in the traced run
    PhaseMethod schedule = PhaseMethod::kSimple;
    // Used by schedule kCombined only. `radix` is the argument of combined_steps(). Blocks of up to
    // `limit` bytes are combined; longer ones are sent directly.
    std::uint32_t radix = 0;
    Bytes limit = 0;
    Bytes bytes = 0;  // of a call without `lengths`: what its record in the trace says
    // Bytes from tasks[i] to tasks[j] at [i * n + j]; empty for operations whose lengths all
    // members know without a plan.
    std::vector<Bytes> lengths;
    std::string site;  // place in the program, for people

    bool operator==(const PlannedCall&) const = default;
};

// Returns "0-3,7" for ascending tasks.
std::string tasks_text(const std::vector<TaskId>& tasks);
// Returns the line of a call without its comment and without a newline.
std::string plan_line(const PlannedCall& call);
// Reads the text of a plan; `source` is the name of its file for messages. The calls with lengths
// have n * n of them.
Result<std::vector<PlannedCall>> read_plan(std::string_view text, const std::string& source);

// The lengths as messages between ranks, as phases.hpp needs them, with the rank of tasks[i] being
// i.
std::vector<PhasedMessage> messages_of(const PlannedCall& call);

// A member whose lengths differ from the plan tells the others by notices that travel along the
// long messages of the plan (kShortBlock and longer), one message in each call. Returns in how many
// calls a notice of any member reaches every other; 0 if it does not reach all.
std::uint32_t calls_to_reach_all(std::uint32_t n, const std::vector<PhasedMessage>& messages);

// The largest limit of a line that combines blocks. Longer ones are better sent directly.
inline constexpr Bytes kMostCombined = Bytes{32} << 10;

// True if a message of `bytes` may take the place of a planned one of `planned` bytes: both are
// empty, or they differ by at most a factor of 2. Both ends of a message decide alike.
constexpr bool fits_plan(Bytes planned, Bytes bytes) noexcept {
    return (planned == 0) == (bytes == 0) && bytes <= 2 * planned && planned <= 2 * bytes;
}

}  // namespace poe::collectives
