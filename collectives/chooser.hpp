// Which algorithm a call takes: the cheapest by the model T = C1 ts + C2 tc + C3 tn, the formula of
// the CCL paper (IV.A) with a linear f, over the algorithms of the catalogue that fit and have
// formulas. Decided once per shape. MP_COLL_<OPERATION>=algorithm[:number] decides instead.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "collectives/catalogue.hpp"
#include "comm/base/result.hpp"

namespace poe::collectives {

// In microseconds, and microseconds per byte.
struct CostModel {
    double start_up = 1;  // ts: of a message
    double transfer = 0;  // tc: of a byte of a message
    double load = 0;      // tn: of a byte anywhere, because ranks share what moves it
};

// Where nobody has measured: tasks that share a node and its memory, or talk over a network.
inline constexpr CostModel kSameNode{1.0, 0.00012, 0.00006};
inline constexpr CostModel kNetwork{40.0, 0.01, 0.0};

double predicted(const CostModel& model, const Counts& counts) noexcept;

// "binomial", "radix:4": an algorithm of that operation. An error names what there is.
Result<Choice> read_choice(Operation operation, std::string_view text);

// What was asked for, per operation.
using Overrides = std::array<std::optional<Choice>, kOperations>;
// Reads MP_COLL_BCAST and so on.
Result<Overrides> read_overrides(const std::function<const char*(const char*)>& variables);

// What was asked for if it fits, else the cheapest. Every shape has one that fits.
Choice choose(const Shape& shape, const CostModel& model, const Overrides& overrides);

}  // namespace poe::collectives
