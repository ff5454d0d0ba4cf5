// See connection_use.hpp.
#include "comm/tcp/connection_use.hpp"

#include <algorithm>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace poe::comm {
namespace {

// The system counts the busy time in steps of up to 10 ms.
constexpr std::chrono::milliseconds kLeastBusy{20};
constexpr std::uint64_t kFewestBytes = 256 << 10;

}  // namespace

ConnectionUse use_of_connection(int fd, TaskId peer) noexcept {
    tcp_info info = {};
    socklen_t size = sizeof info;
    ConnectionUse use{.peer = peer};
    if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return use;
    use.acknowledged = info.tcpi_bytes_acked;
    use.busy = std::chrono::microseconds(info.tcpi_busy_time -
                                         std::min(info.tcpi_busy_time, info.tcpi_rwnd_limited));
    return use;
}

double time_of_byte(const std::vector<ConnectionUse>& before,
                    const std::vector<ConnectionUse>& after) noexcept {
    std::uint64_t bytes = 0;
    std::chrono::microseconds busiest{0};
    for (const ConnectionUse& now : after) {
        const auto then = std::find_if(before.begin(), before.end(), [&](const ConnectionUse& use) {
            return use.peer == now.peer;
        });
        const ConnectionUse earlier = then == before.end() ? ConnectionUse{} : *then;
        bytes += now.acknowledged - std::min(now.acknowledged, earlier.acknowledged);
        busiest = std::max(busiest, now.busy - std::min(now.busy, earlier.busy));
    }
    if (bytes < kFewestBytes || busiest < kLeastBusy) return 0;
    return static_cast<double>(busiest.count()) / static_cast<double>(bytes);
}

}  // namespace poe::comm
