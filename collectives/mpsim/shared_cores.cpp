// The round-robin schedule of shared cores; see shared_cores.hpp.
#include "collectives/mpsim/shared_cores.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace poe::collectives {

SharedCores::SharedCores(std::uint32_t ranks, const std::vector<std::uint32_t>& node_of,
                         std::uint32_t cores, double turn)
    : turn_(turn), places_(ranks), ready_at_(ranks) {
    const std::uint32_t nodes =
        node_of.empty() ? 1 : 1 + *std::max_element(node_of.begin(), node_of.end());
    cores_.resize(std::size_t{nodes} * cores);
    std::vector<std::uint32_t> on_node(nodes);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        const std::uint32_t node = node_of.empty() ? 0 : node_of[rank];
        const std::uint32_t core = node * cores + on_node[node]++ % cores;
        std::vector<std::uint32_t>& all = cores_[core].ranks;
        places_[rank] = {core, static_cast<std::uint32_t>(all.size())};
        all.push_back(rank);
    }
    // Initially, the last rank seems to have released the core one turn ago.
    for (Core& core : cores_) {
        if (core.ranks.empty()) continue;
        core.position = static_cast<std::uint32_t>(core.ranks.size()) - 1;
        core.time = -turn_of(core);
    }
}

double SharedCores::comes_to(const Core& core, std::uint32_t position, double time) const {
    const double turn = turn_of(core);
    const auto size = static_cast<std::uint32_t>(core.ranks.size());
    const std::uint32_t behind =
        position > core.position ? position - core.position : position + size - core.position;
    const double first = core.time + behind * turn;
    if (first >= time || turn == 0) return std::max(first, time);
    const double round = size * turn;
    return std::max(time, first + std::ceil((time - first) / round) * round);
}

void SharedCores::consider(std::uint32_t index, std::uint32_t position, double time) {
    Core& core = cores_[index];
    const double at = comes_to(core, position, time);
    if (core.planned >= 0 && core.planned <= at) return;
    drop_plan(index);
    core.planned = at;
    core.planned_position = position;
    plans_.insert({at, index});
}

void SharedCores::drop_plan(std::uint32_t index) {
    Core& core = cores_[index];
    if (core.planned >= 0) plans_.erase({core.planned, index});
    core.planned = -1;
}

void SharedCores::ready(std::uint32_t rank, double time) {
    const Place& place = places_[rank];
    Core& core = cores_[place.core];
    ready_at_[rank] = time;
    core.ready_later.insert({time, place.position});
    if (!core.taken) consider(place.core, place.position, time);
}

std::optional<SharedCores::CoreTurn> SharedCores::next() {
    if (plans_.empty()) return std::nullopt;
    const auto [time, index] = *plans_.begin();
    drop_plan(index);
    Core& core = cores_[index];
    const std::uint32_t position = core.planned_position;
    if (!core.taken) {
        core.taken = true;
        core.position = position;
        core.waiting.erase(position);
        core.ready_later.erase({ready_at_[core.ranks[position]], position});
    }
    return CoreTurn{core.ranks[position], time};
}

void SharedCores::keep(std::uint32_t rank, double time) {
    const std::uint32_t index = places_[rank].core;
    cores_[index].planned = time;
    plans_.insert({time, index});
}

void SharedCores::hand_on(std::uint32_t rank, double time) {
    const std::uint32_t index = places_[rank].core;
    Core& core = cores_[index];
    core.taken = false;
    core.time = time;
    while (!core.ready_later.empty() && core.ready_later.begin()->first <= time) {
        core.waiting.insert(core.ready_later.begin()->second);
        core.ready_later.erase(core.ready_later.begin());
    }
    if (!core.waiting.empty()) {
        const auto next = core.waiting.upper_bound(core.position);
        consider(index, next != core.waiting.end() ? *next : *core.waiting.begin(), time);
    }
    for (const auto& [later, position] : core.ready_later) {
        if (core.planned >= 0 && later >= core.planned) break;
        consider(index, position, later);
    }
}

double SharedCores::earliest() const {
    return plans_.empty() ? std::numeric_limits<double>::infinity() : plans_.begin()->first;
}

}  // namespace poe::collectives
