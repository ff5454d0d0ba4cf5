// The experiments of mptune: what messages cost, measured with MPL's own calls. They are separate
// from mptune_main.cpp so that the arithmetic is tested without tasks.
#pragma once

#include <string>
#include <vector>

#include "collectives/selection/tuning.hpp"

namespace poe::collectives {

// The times that task P0 measures when it sends to k others, for k = 1, 2, ...; in microseconds.
struct Times {
    std::vector<double> first;   // experiment 1: the k-th answers
    std::vector<double> second;  // experiment 2: the k-th sends to all others first, then to P0
};

// The results of the two experiments for one length (postal paper, Bruck et al. 1996, 2.2).
struct Postal {
    double first_t0 = 0;  // microseconds that a message keeps its sender busy
    double first_lambda = 1;
    double second_t0 = 0;
    double second_lambda = 1;

    double lambda() const noexcept { return (first_lambda + second_lambda) / 2; }
    // True if the two lambdas differ by more than a quarter: the model does not describe what is
    // measured.
    bool disagree() const noexcept;
};
// Fits lines to the times: T = t0 (k - 1 + 2 lambda) and T = 2 t0 (k - 1 + lambda). A slope that is
// not positive, or a lambda below 1, counts as lambda 1.
Postal postal_of(const Times& times);

struct LengthMeasured {
    Bytes bytes = 0;
    Postal postal;
    double one_way = 0;  // half a round trip, microseconds
};

// Sets start_up and transfer of the model: the line through the one-way times with the least
// squares of logarithms. Some networks pass a short burst faster than a steady stream, so a byte
// costs at least as much as between the two longest lengths. One length does not determine a line,
// so the model remains unchanged.
void fit_messages(const std::vector<LengthMeasured>& lengths, CostModel& model);

struct MulticastMeasured {
    Bytes bytes = 0;
    double time = 0;  // microseconds of a broadcast
};
// Sets multicast and multicast_byte of the model: the line through the times with the least squares
// of logarithms, of broadcasts to `n` members. Each wait is for a report, which is a message: if
// the line says that it takes less than start_up, it takes start_up, and the longest length
// determines the cost of a byte. One length does not determine a line, so the model remains
// unchanged.
void fit_multicast(const std::vector<MulticastMeasured>& lengths, std::uint32_t n,
                   CostModel& model);

// Sets the lambdas of the model. A length at which the two experiments disagree keeps the lambda
// that the model has for exactly this length, or gets none. If they disagree at all lengths, the
// model remains unchanged.
void fit_lambdas(const std::vector<LengthMeasured>& lengths, CostModel& model);

// The range of the longest length to measure. The minimum is necessary to determine the cost per
// byte.
inline constexpr Bytes kLongestMeasured = Bytes{1} << 20;
inline constexpr Bytes kLeastLongest = 256;

// How a task sends to several others: it waits for each message, or starts all and then waits for
// all (figure 5 of the postal paper).
enum class Sends { kBlocking, kNonBlocking };

// Measures messages of one length between P0 = players[0] and the other players. All players, and
// all other tasks of the job, call it. Blocks. Only the result of players[0], which is task 0, is
// valid. `bytes` is at most kLongestMeasured.
LengthMeasured measure_length(const std::vector<int>& players, Bytes bytes, Sends sends);
// The same for the lengths that mptune measures, of 8 bytes up to `longest` bytes.
std::vector<Bytes> lengths_up_to(Bytes longest);
std::vector<LengthMeasured> measure_lengths(const std::vector<int>& players, Bytes longest);
// Sets message and load of the model: how much longer it takes when all players exchange with their
// neighbours at once than when two do. With two players the model remains unchanged. All tasks call
// it; blocks; only the result of players[0] is valid.
void measure_sharing(const std::vector<int>& players, Bytes longest, CostModel& model);

}  // namespace poe::collectives
