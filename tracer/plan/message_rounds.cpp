// Loops of messages that are really a collective call; see pattern_finder.hpp.
#include <algorithm>
#include <set>

#include "tracer/plan/pattern_finder.hpp"

namespace poe::trace {
namespace {

// The first round of a task: its messages up to the first destination that comes again. Empty: the
// later messages do not repeat it.
std::vector<SentMessage> round_of(const std::vector<SentMessage>& sent) {
    std::set<TaskId> seen;
    std::size_t period = 0;
    while (period < sent.size() && seen.insert(sent[period].to).second) ++period;
    if (period == 0 || sent.size() % period != 0) return {};
    std::vector<SentMessage> first(sent.begin(),
                                   sent.begin() + static_cast<std::ptrdiff_t>(period));
    std::sort(first.begin(), first.end());
    for (std::size_t at = period; at < sent.size(); at += period) {
        std::vector<SentMessage> next(sent.begin() + static_cast<std::ptrdiff_t>(at),
                                      sent.begin() + static_cast<std::ptrdiff_t>(at + period));
        std::sort(next.begin(), next.end());
        if (next != first) return {};
    }
    return first;
}

}  // namespace

MessageRounds rounds_of(const SentFromPlace& sent) {
    MessageRounds found;
    for (const auto& [task, messages] : sent) {
        const std::vector<SentMessage> round = round_of(messages);
        if (round.empty()) return {};
        const std::uint64_t rounds = messages.size() / round.size();
        if (found.rounds != 0 && rounds != found.rounds) return {};
        found.rounds = rounds;
        for (const SentMessage& each : round) found.lengths[{task, each.to}] = each.bytes;
    }
    return found.rounds < 2 ? MessageRounds{} : found;
}

std::string collective_of(const MessageRounds& rounds) {
    std::set<TaskId> all;
    std::map<TaskId, std::size_t> sends;
    std::map<TaskId, std::size_t> receives;
    for (const auto& [ends, bytes] : rounds.lengths) {
        all.insert({ends.first, ends.second});
        ++sends[ends.first];
        ++receives[ends.second];
    }
    const std::size_t n = all.size();
    const Bytes bytes = rounds.lengths.begin()->second;
    const bool equal = std::all_of(rounds.lengths.begin(), rounds.lengths.end(),
                                   [&](const auto& each) { return each.second == bytes; });
    const auto each_has = [](const auto& counts, std::size_t many) {
        return std::all_of(counts.begin(), counts.end(),
                           [&](const auto& each) { return each.second == many; });
    };
    const bool one_each =
        sends.size() == n && receives.size() == n && each_has(sends, 1) && each_has(receives, 1);
    const std::string members =
        " of tasks " + collectives::tasks_text({all.begin(), all.end()}) +
        (equal ? ", " + std::to_string(bytes) + " bytes each" : ", of unequal lengths");
    if (n > 2 && sends.size() == n && each_has(sends, n - 1) &&
        rounds.lengths.size() == n * (n - 1))
        return (equal ? "MPI_Alltoall (mpc_index)" : "MPI_Alltoallv (mpc_indexv)") + members;
    if (one_each) return "a shift (mpc_shift, MPI_Sendrecv in a ring)" + members;
    if (n > 2 && sends.size() == 1 && receives.size() == n - 1)
        return (equal ? "MPI_Scatter or MPI_Bcast" : "MPI_Scatterv") + members;
    if (n > 2 && receives.size() == 1 && sends.size() == n - 1)
        return (equal ? "MPI_Gather or a reduction" : "MPI_Gatherv") + members;
    return "MPI_Neighbor_alltoallv, or MPI_Alltoallv with blocks of 0 bytes," + members;
}

}  // namespace poe::trace
