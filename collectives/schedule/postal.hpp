// The postal model (Bruck, De Coster, Dewulf, Ho, Lauwereins 1996, and Bar-Noy and Kipnis 1994): a
// rank can send one message per unit of time, and a message takes lambda units. How many ranks hear
// of something in a given time, and how to split a group so that all do as early as possible.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace poe::collectives {

// A rational lambda >= 1, so that times are whole numbers of 1/unit.
struct Lambda {
    std::uint32_t latency = 1;  // lambda, and
    std::uint32_t unit = 1;     // one send, both in the same small unit of time

    // The nearest multiple of 1/1000; below 1 becomes 1.
    static Lambda nearest(double lambda);
    double value() const noexcept { return static_cast<double>(latency) / unit; }
};

// N_lambda(t) and its inverse T_lambda(n), t in units of 1/lambda.unit.
class PostalTimes {
  public:
    // Knows everything up to n ranks.
    PostalTimes(Lambda lambda, std::uint64_t n);

    // The most ranks reached at time t; formula (1) of the paper. 1 before the first message.
    std::uint64_t reached(std::int64_t t) const noexcept;
    // The earliest time at which n ranks can have been reached.
    std::int64_t time(std::uint64_t n) const noexcept;
    Lambda lambda() const noexcept { return lambda_; }

  private:
    Lambda lambda_;
    std::vector<std::uint64_t> reached_;
};

// How many of n >= 2 ranks remain with the one that sends, the others going with the one it sends
// to: at least n/2, at most n - 1.
using SplitRule = std::function<std::uint32_t(std::uint32_t n)>;

// One half; the tree that this gives is the binomial one.
SplitRule split_in_half();
// alpha of them (2.4 of the paper).
SplitRule split_by(double alpha);
// The alpha that is right for large groups: 1/gamma(lambda). Optimal everywhere for lambda 1 and 2.
double fixed_alpha(Lambda lambda);

// The small table of the paper's 2.4: entry i is right for the groups larger than entry i-1's and
// not larger than its own. With it T_lambda(n) is reached for all n up to `most`.
struct AlphaEntry {
    std::uint32_t up_to = 0;
    double alpha = 0.5;
};
std::vector<AlphaEntry> alpha_table(Lambda lambda, std::uint32_t most);
SplitRule split_by_table(std::vector<AlphaEntry> table);

// When the last of n ranks has been reached in the tree of this rule, in units of 1/lambda.unit.
std::int64_t tree_time(const SplitRule& split, Lambda lambda, std::uint32_t n);

// lim N(t+1)/N(t): Table 1 of the paper. The root of x^lambda = x^(lambda-1) + 1.
double growth(double lambda);
// The lambda between `floor` and floor + 1 up to which it is better to delay sends (work with the
// integer below) than to delay receives (with the one above) in a global combine: Table 2.
double break_even(int floor);
// The integer that a global combine works with for this lambda.
int combine_lambda(double lambda);

}  // namespace poe::collectives
