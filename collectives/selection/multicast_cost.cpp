// The formula of the time of a multicast; see multicast_cost.hpp.
#include "collectives/selection/multicast_cost.hpp"

#include <algorithm>

namespace poe::collectives {
namespace {

// The share of headers in an Ethernet frame of data.
constexpr double kHeaders = 1.07;
// Microseconds per byte to send or receive datagrams and to authenticate them, if mptune has not
// measured it. The value is rather too high (docs/decisions/076).
constexpr double kHandling = 0.02;
// Each member waits for reports of at most four others (report_tree.hpp of comm/multicast).
constexpr std::uint32_t kFan = 4;
// A limit that no message of a program reaches; packets are counted by 32 bits.
constexpr Bytes kMaxBytes = Bytes{1} << 40;

}  // namespace

bool fits_multicast(const Shape& shape, const std::vector<std::uint32_t>& nodes) noexcept {
    return has_multicast(shape.operation) && shape.bytes <= kMaxBytes / shape.n &&
           multicast_bytes(shape) > 0 && !nodes.empty() &&
           *std::max_element(nodes.begin(), nodes.end()) + 1 == shape.n;
}

double multicast_waits(std::uint32_t n) noexcept {
    double levels = 1;
    for (std::uint64_t reached = 1 + kFan, level = kFan; reached < n; ++levels) {
        level *= kFan;
        reached += level;
    }
    return 1 + levels;
}

double predicted_multicast(const Tuning& tuning, const Shape& placed) {
    const CostModel& network = tuning.network;
    const bool measured = network.multicast_byte > 0;
    const double wait = measured ? network.multicast : network.start_up;
    const double per_byte =
        measured ? network.multicast_byte : std::max(network.transfer * kHeaders, kHandling);
    const double transfers = placed.operation == Operation::kConcat ? placed.n : 1;
    return transfers * wait * multicast_waits(placed.n) +
           static_cast<double>(multicast_bytes(placed)) * per_byte;
}

bool multicast_is_faster(const Tuning& tuning, const Shape& placed, const Choice& by_messages,
                         double time_of_byte) {
    if (time_of_byte == 0 || tuning.network.multicast_byte > 0)
        return predicted_multicast(tuning, placed) < predicted(tuning, placed, by_messages);
    Tuning found = tuning;
    found.network.transfer = time_of_byte;
    return predicted_multicast(found, placed) < predicted(found, placed, by_messages);
}

}  // namespace poe::collectives
