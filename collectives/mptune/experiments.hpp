// The experiments of mptune: what messages cost, measured with MPL's own calls. Apart from mptune
// so that its arithmetic can be tested without tasks.
#pragma once

#include <string>
#include <vector>

#include "collectives/selection/tuning.hpp"

namespace poe::collectives {

// The time that task P0 sees when it sends to k others, for k = 1, 2, ...; microseconds.
struct Times {
    std::vector<double> first;   // experiment 1: the k-th answers
    std::vector<double> second;  // experiment 2: the k-th sends to all others before, then to P0
};

// What the two experiments say of one length (paper 001, 2.2).
struct Postal {
    double first_t0 = 0;  // microseconds that a message keeps its sender busy
    double first_lambda = 1;
    double second_t0 = 0;
    double second_lambda = 1;

    double lambda() const noexcept { return (first_lambda + second_lambda) / 2; }
    // By more than a quarter: what is measured is not what the model describes.
    bool disagree() const noexcept;
};
// T = t0 (k - 1 + 2 lambda), and T = 2 t0 (k - 1 + lambda): lines through the times. A slope that
// is not positive, or a lambda below 1, counts as lambda 1.
Postal postal_of(const Times& times);

struct LengthMeasured {
    Bytes bytes = 0;
    Postal postal;
    double one_way = 0;  // half a round trip, microseconds
};

// start_up and transfer: the line with the least relative error through the one-way times. One
// length says nothing of a line, and leaves the model as it is.
void fit_messages(const std::vector<LengthMeasured>& lengths, CostModel& model);

// What is measured at most; and at least, or nothing is known of what a byte costs.
inline constexpr Bytes kLongestMeasured = Bytes{1} << 20;
inline constexpr Bytes kLeastLongest = 256;

// Measures between this task's P0 = players[0] and the others, which all call it, as do all other
// tasks of the job; messages of 8 bytes and more, none longer than `longest`. Blocking; the answer
// is task 0's, which is players[0].
std::vector<LengthMeasured> measure_lengths(const std::vector<int>& players, Bytes longest);
// Sets message and load: how much longer it takes when all players exchange with their neighbours
// at once than when two do. Two players cannot tell, and leave the model as it is. Likewise.
void measure_sharing(const std::vector<int>& players, Bytes longest, CostModel& model);

}  // namespace poe::collectives
