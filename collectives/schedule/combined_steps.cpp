// Implementation of combined_steps.hpp.
#include "collectives/schedule/combined_steps.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace poe::collectives {

CombinedLayout::CombinedLayout(std::uint32_t n, const std::vector<std::uint32_t>& nodes)
    : nodes_(n), ranks_(n), places_(n) {
    std::vector<std::uint32_t> many;
    for (const std::uint32_t node : nodes) {
        if (node >= many.size()) many.resize(node + 1);
        ++many[node];
    }
    const bool equal = !many.empty() && std::all_of(many.begin(), many.end(),
                                                    [&](auto each) { return each == many[0]; });
    if (equal) {
        nodes_ = static_cast<std::uint32_t>(many.size());
        per_node_ = many[0];
    }
    std::fill(many.begin(), many.end(), 0);
    for (std::uint32_t rank = 0; rank < n; ++rank) {
        places_[rank] = equal ? many[nodes[rank]]++ * nodes_ + nodes[rank] : rank;
        ranks_[places_[rank]] = rank;
    }
}

std::uint32_t CombinedLayout::after(std::uint32_t rank, std::uint32_t distance) const noexcept {
    const std::uint32_t own = places_[rank];
    const std::uint32_t place = (own / nodes_ + distance / nodes_) % per_node_;
    return ranks_[place * nodes_ + (own % nodes_ + distance % nodes_) % nodes_];
}

std::uint32_t CombinedLayout::before(std::uint32_t rank, std::uint32_t distance) const noexcept {
    const std::uint32_t own = places_[rank];
    const std::uint32_t place = (own / nodes_ + per_node_ - distance / nodes_) % per_node_;
    return ranks_[place * nodes_ + (own % nodes_ + nodes_ - distance % nodes_) % nodes_];
}

std::vector<CombinedStep> combined_steps(const CombinedLayout& layout, std::uint32_t radix) {
    POE_CHECK(radix >= 2, radix);
    std::vector<CombinedStep> steps;
    std::uint32_t round = 0;
    for (std::uint32_t place = 1; place < layout.per_node(); ++place) {
        CombinedStep& step = steps.emplace_back(CombinedStep{round, place * layout.nodes(), {}});
        for (std::uint32_t node = 0; node < layout.nodes(); ++node)
            step.slots.push_back(place * layout.nodes() + node);
    }
    if (layout.per_node() > 1) ++round;
    for (std::uint64_t weight = 1; weight < layout.nodes(); weight *= radix, ++round) {
        for (std::uint64_t digit = 1; digit < radix && digit * weight < layout.nodes(); ++digit) {
            CombinedStep& step = steps.emplace_back(
                CombinedStep{round, static_cast<std::uint32_t>(digit * weight), {}});
            for (std::uint32_t slot = 0; slot < layout.size(); ++slot)
                if (slot % layout.nodes() / weight % radix == digit) step.slots.push_back(slot);
        }
    }
    return steps;
}

}  // namespace poe::collectives
