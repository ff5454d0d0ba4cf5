// Phases of a many-to-many communication (Karwande, Yuan, Lowenthal: CC-MPI, 4.2). The messages are
// divided into phases, so that in one phase no rank sends two messages and no rank receives two. On
// a switched network, the messages of such a phase do not compete for any cable. Pure: all members
// compute the same phases from the same lengths. The schedules are made by
// algorithms/index_phased.cpp.
//
// A phase takes as long as its longest message. Both methods therefore try to put messages of
// similar length into one phase; neither is best for all patterns:
//   greedy             Fills each phase with the longest messages that still fit into it.
//   all-to-all based   Fills each phase first with messages that have the same distance
//                      (destination minus source) as the longest one. Never needs more than n - 1
//                      phases.
// Once all remaining messages are shorter than the threshold, they form one last phase, in which
// ranks may send and receive several messages, because further phases would cost more than they
// save.
#pragma once

#include <cstdint>
#include <vector>

#include "collectives/schedule/shape.hpp"

namespace poe::collectives {

struct PhasedMessage {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    Bytes bytes = 0;
    bool operator==(const PhasedMessage&) const = default;
};
using Phase = std::vector<PhasedMessage>;

// The messages between different ranks of an irregular index, without those of 0 bytes, in the
// order of sources and then of destinations.
std::vector<PhasedMessage> messages_between(const Shape& shape);

// Messages of the same length keep their order. Preconditions: all ranks are below n, no message is
// from a rank to itself, and no two messages have the same source and destination. Cost: the number
// of messages times the number of phases.
std::vector<Phase> greedy_phases(std::uint32_t n, std::vector<PhasedMessage> messages,
                                 Bytes threshold);
std::vector<Phase> all_to_all_phases(std::uint32_t n, std::vector<PhasedMessage> messages,
                                     Bytes threshold);

// The bytes that move one after the other: the sum of the longest message of each phase. In a last
// phase of short messages, this is the largest sum of a rank.
Bytes bytes_in_order(std::uint32_t n, const std::vector<Phase>& phases);

// How the messages of a many-to-many communication are sent when all lengths are known.
enum class PhaseMethod : std::uint8_t {
    kSimple,     // all at once, without phases
    kGreedy,     // greedy_phases()
    kAllToAll,   // all_to_all_phases()
    kAutomatic,  // the best of these; only a wish, never a decision
    kCombined,   // in fewer messages that combine blocks (combined_steps.hpp); only in plans
};
// Returns "simple", "greedy", "all-to-all", "automatic" or "combined".
const char* name_of(PhaseMethod method) noexcept;

// Messages that are shorter form the last phase, because a signal costs more than they compete.
inline constexpr Bytes kShortBlock = Bytes{4} << 10;
// Messages that are longer overflow the queue of a cable if so many of them arrive at the same
// time: a message without phases has at most 64 KB under way (docs/decisions/053), and switches
// queue about 1 MB.
inline constexpr Bytes kLongBlock = Bytes{32} << 10;
inline constexpr std::uint32_t kMostLongSenders = 16;

struct PhaseDecision {
    PhaseMethod method = PhaseMethod::kSimple;  // never kAutomatic or kCombined
    std::vector<Phase> phases;                  // empty for kSimple
    std::uint32_t long_senders = 0;             // the most long messages that one rank receives
};
// Decides how such messages are sent and makes the phases. kAutomatic: phases are used if a rank
// receives kMostLongSenders long messages or more, by the method whose bytes_in_order() are fewer.
// kCombined has no phases, so the result is kSimple.
PhaseDecision decide_phases(std::uint32_t n, const std::vector<PhasedMessage>& messages,
                            PhaseMethod wanted);

}  // namespace poe::collectives
