// A search over the divisors of the number of tasks. A number below 2^31 has at most 1600 divisors,
// and every factor and every intermediate result is one of them.
#include "mpi/object/dims.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <mpi.h>
#include <string>
#include <vector>

namespace poe::mpi {
namespace {

std::vector<int> divisors_of(int n) {
    std::vector<int> divisors;
    for (std::int64_t d = 1; d * d <= n; ++d) {
        if (n % d != 0) continue;
        divisors.push_back(static_cast<int>(d));
        if (d * d != n) divisors.push_back(static_cast<int>(n / d));
    }
    std::ranges::sort(divisors);
    return divisors;
}

// True if base^exponent >= limit. Precondition: base >= 1.
bool power_reaches(int base, std::size_t exponent, std::int64_t limit) {
    std::int64_t power = 1;
    for (std::size_t i = 0; i < exponent && power < limit && base > 1; ++i) power *= base;
    return power >= limit;
}
bool exceeds(int base, std::size_t exponent, int limit) {
    return power_reaches(base, exponent, std::int64_t{limit} + 1);
}

// Writes numbers as products. Tries the smallest and the largest factor from the root of the number
// outwards, so the first product that it finds is nearly always the best one.
class Search {
  public:
    explicit Search(int n) : divisors_(divisors_of(n)) {}

    // The factors of `n` with the smallest difference between the largest and the smallest one; of
    // several such products the one with the largest smallest factor, then the one with the largest
    // second smallest factor, and so on. The factors do not increase. `factors` is at least 2.
    std::vector<int> closest(int n, std::size_t factors) {
        std::vector<int> best;
        int difference = 0;
        const int root =
            *std::ranges::find_if(divisors_, [&](int d) { return power_reaches(d, factors, n); });
        for (auto least = divisors_.rbegin(); least != divisors_.rend(); ++least) {
            if (exceeds(*least, factors, n)) continue;
            if (!best.empty() && root - *least >= difference) break;
            for (const int most : divisors_) {
                if (!best.empty() && most - *least >= difference) break;
                if (most < root || n / *least % most != 0) continue;
                chosen_.assign(1, *least);
                if (!divide(n / *least / most, factors - 2, *least, most)) continue;
                difference = most - *least;
                chosen_.push_back(most);
                best.assign(chosen_.rbegin(), chosen_.rend());
                break;
            }
        }
        return best;
    }

  private:
    // Appends to `chosen_` the factors of `n`, which lie between these limits, in increasing order.
    // False if there are none.
    bool divide(int n, std::size_t factors, int least, int most) {
        if (factors == 0) return n == 1;
        if (!power_reaches(most, factors, n)) return false;
        if (factors == 1) {
            chosen_.push_back(n);
            return n >= least;
        }
        const auto end = std::ranges::find_if(
            divisors_, [&](int d) { return d > most || exceeds(d, factors, n); });
        for (auto d = std::make_reverse_iterator(end); d != divisors_.rend() && *d >= least; ++d) {
            if (n % *d != 0) continue;
            const std::size_t before = chosen_.size();
            chosen_.push_back(*d);
            if (divide(n / *d, factors - 1, *d, most)) return true;
            chosen_.resize(before);
        }
        return false;
    }

    std::vector<int> divisors_;
    std::vector<int> chosen_;
};

std::vector<int> factors_of(int n, std::size_t factors) {
    if (factors < 2) return {n};
    return Search(n).closest(n, factors);
}

}  // namespace

Fault create_dims(int nodes, std::span<int> dims) {
    if (nodes < 1) {
        return {MPI_ERR_ARG, "nnodes", std::to_string(nodes) + " is no number of tasks",
                "use at least 1"};
    }
    std::int64_t fixed = 1;
    std::size_t open = 0;
    for (const int dim : dims) {
        if (dim < 0) {
            return {MPI_ERR_DIMS, "dims", "a dimension has the size " + std::to_string(dim),
                    "use 0 for a dimension whose size is to be chosen"};
        }
        if (dim == 0) {
            ++open;
        } else if (fixed <= nodes) {
            fixed *= dim;
        }
    }
    if (fixed > nodes || nodes % fixed != 0 || (open == 0 && fixed != nodes)) {
        return {MPI_ERR_DIMS, "dims",
                "the product of the given sizes" +
                    std::string(open == 0 ? " is not " : " does not divide ") +
                    std::to_string(nodes),
                "change the sizes or the number of tasks"};
    }
    const std::vector<int> chosen = factors_of(static_cast<int>(nodes / fixed), open);
    std::size_t next = 0;
    for (int& dim : dims) {
        if (dim == 0) dim = chosen[next++];
    }
    return {};
}

}  // namespace poe::mpi
