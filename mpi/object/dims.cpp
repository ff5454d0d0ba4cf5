// A search over the divisors of the number of tasks. A number below 2^31 has at most 1536 divisors,
// and every intermediate result is one of them.
#include "mpi/object/dims.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <mpi.h>
#include <string>
#include <utility>
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

class Search {
  public:
    explicit Search(int n) : divisors_(divisors_of(n)) {}

    // The smallest possible largest factor of `n` written as a product of `factors` numbers.
    int largest_factor(int n, std::size_t factors) {
        if (factors == 1 || n == 1) return n;
        const auto known = known_.try_emplace({n, factors}, 0);
        if (!known.second) return known.first->second;
        int best = n;
        for (const int d : divisors_) {
            if (d >= best) break;
            // d^factors must reach n.
            if (n % d != 0 || !reaches(d, factors, n)) continue;
            if (largest_factor(n / d, factors - 1) <= d) best = d;
        }
        known_[{n, factors}] = best;
        return best;
    }

  private:
    static bool reaches(int d, std::size_t factors, int n) {
        std::int64_t power = 1;
        for (std::size_t i = 0; i < factors && power < n; ++i) {
            if (d == 1) break;
            power *= d;
        }
        return power >= n;
    }

    std::vector<int> divisors_;
    std::map<std::pair<int, std::size_t>, int> known_;
};

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
    int rest = static_cast<int>(nodes / fixed);
    Search search(rest);
    for (int& dim : dims) {
        if (dim != 0) continue;
        dim = search.largest_factor(rest, open--);
        rest /= dim;
    }
    return {};
}

}  // namespace poe::mpi
