// The postal model (Bruck, De Coster, Dewulf, Ho, Lauwereins 1996, and Bar-Noy and Kipnis 1994): a
// rank can send one message per unit of time, and a message takes lambda units to arrive. These
// functions compute how many ranks a message can reach in a given time, and how to split a group so
// that all ranks are reached as early as possible. "The paper" is Bruck et al. 1996.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace poe::collectives {

// A rational lambda >= 1. Times are whole numbers of 1/unit.
struct Lambda {
    std::uint32_t latency = 1;  // lambda, and
    std::uint32_t unit = 1;     // the time of one send, in the same small unit of time

    // Returns the nearest multiple of 1/1000, between 1 and 1000000.
    static Lambda nearest(double lambda);
    double value() const noexcept { return static_cast<double>(latency) / unit; }
};

// N_lambda(t) and its inverse T_lambda(n); t is in units of 1/lambda.unit.
class PostalTimes {
  public:
    // Computes both for up to n ranks.
    PostalTimes(Lambda lambda, std::uint64_t n);

    // The maximum number of ranks reached at time t; formula (1) of the paper. 1 before the first
    // message arrives.
    std::uint64_t reached(std::int64_t t) const noexcept;
    // The earliest time at which n ranks can have been reached.
    std::int64_t time(std::uint64_t n) const noexcept;
    Lambda lambda() const noexcept { return lambda_; }

  private:
    Lambda lambda_;
    std::vector<std::uint64_t> reached_;
};

// Returns how many of n >= 2 ranks remain with the sender; the others go with the receiver. At
// least ceil(n / 2), at most n - 1.
using SplitRule = std::function<std::uint32_t(std::uint32_t n)>;

// Splits in half, which gives the binomial tree.
SplitRule split_in_half();
// Keeps the share alpha (2.4 of the paper).
SplitRule split_by(double alpha);
// The best alpha for large groups: 1/gamma(lambda). It is optimal for all sizes if lambda is 1 or
// 2.
double fixed_alpha(Lambda lambda);

// The small table of the paper's section 2.4: entry i is for groups larger than up_to of entry i -
// 1 and not larger than its own. With this table, T_lambda(n) is reached for all n up to `most`.
struct AlphaEntry {
    std::uint32_t up_to = 0;
    double alpha = 0.5;
};
std::vector<AlphaEntry> alpha_table(Lambda lambda, std::uint32_t most);
SplitRule split_by_table(std::vector<AlphaEntry> table);

// The time at which the last of n ranks is reached in the tree of this rule, in units of
// 1/lambda.unit.
std::int64_t tree_time(const SplitRule& split, Lambda lambda, std::uint32_t n);

// lim N(t+1)/N(t): Table 1 of the paper. It is the root of x^lambda = x^(lambda-1) + 1.
double growth(double lambda);
// The lambda between `floor` and floor + 1 up to which, in a global combine, it is better to delay
// sends (use the integer below) than to delay receives (use the integer above): Table 2.
double break_even(int floor);
// The integer lambda to use in a global combine for this lambda.
int combine_lambda(double lambda);

// The time of a global combine of n ranks with that integer lambda, in units of the time of one
// send. With the integer above, each receive is delayed: T'_lambda(n) of the paper's 3.2. With the
// integer below, a send takes lambda / floor(lambda) units: T''_lambda(n) of 3.3.
double combine_time(double lambda, std::uint64_t n);

}  // namespace poe::collectives
