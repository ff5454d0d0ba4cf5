// See connection_use.hpp.
#include "comm/tcp/connection_use.hpp"

#include <algorithm>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace poe::comm {
namespace {

constexpr std::uint64_t kFewestBytes = 256 << 10;
// The system counts the busy time in steps of up to 10 ms.
constexpr std::chrono::milliseconds kLeastBusy{20};
// A receiver may acknowledge the last segment of a transfer so late.
constexpr std::chrono::milliseconds kLateAcknowledgement{45};
// Messages of at least this length are assumed to wait for an acknowledgement each.
constexpr std::uint64_t kMessageBytes = 16 << 10;

// What the connection did between two looks; its round trip and segment as now.
ConnectionUse since(const ConnectionUse& then, const ConnectionUse& now) noexcept {
    ConnectionUse use = now;
    use.acknowledged -= std::min(now.acknowledged, then.acknowledged);
    use.segments -= std::min(now.segments, then.segments);
    use.repeated -= std::min(now.repeated, then.repeated);
    use.busy -= std::min(now.busy, then.busy);
    return use;
}

}  // namespace

ConnectionUse use_of_connection(int fd, TaskId peer) noexcept {
    tcp_info info = {};
    socklen_t size = sizeof info;
    ConnectionUse use{.peer = peer};
    if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return use;
    use.acknowledged = info.tcpi_bytes_acked;
    use.segments = info.tcpi_data_segs_out;
    use.repeated = info.tcpi_total_retrans;
    use.segment_bytes = info.tcpi_snd_mss;
    use.round_trip = std::chrono::microseconds(info.tcpi_min_rtt);
    use.busy = std::chrono::microseconds(info.tcpi_busy_time -
                                         std::min(info.tcpi_busy_time, info.tcpi_rwnd_limited));
    return use;
}

double time_of_byte(const std::vector<ConnectionUse>& before,
                    const std::vector<ConnectionUse>& after, unsigned transfers) noexcept {
    std::uint64_t bytes = 0;
    ConnectionUse busiest;
    for (const ConnectionUse& now : after) {
        const auto then = std::find_if(before.begin(), before.end(), [&](const ConnectionUse& use) {
            return use.peer == now.peer;
        });
        const ConnectionUse use = since(then == before.end() ? ConnectionUse{} : *then, now);
        bytes += use.acknowledged;
        if (use.busy > busiest.busy) busiest = use;
    }
    const bool full_segments =
        5 * busiest.acknowledged >= 4 * busiest.segments * busiest.segment_bytes;
    const auto waits = static_cast<std::int64_t>(1 + busiest.acknowledged / kMessageBytes);
    const std::chrono::microseconds sending =
        busiest.busy - transfers * kLateAcknowledgement - waits * busiest.round_trip;
    if (bytes < kFewestBytes || busiest.repeated > 0 || !full_segments || sending < kLeastBusy ||
        3 * sending < busiest.busy)
        return 0;
    return static_cast<double>((sending + busiest.busy).count()) / 2 / static_cast<double>(bytes);
}

}  // namespace poe::comm
