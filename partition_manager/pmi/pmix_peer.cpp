// Socket diagnosis over netlink, with the text table as a fallback.
#include "partition_manager/pmi/pmix_peer.hpp"

#include <arpa/inet.h>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <memory>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/unique_fd.hpp"

namespace poe::pm {

namespace {

// The connection as seen from its other end: `from` is the peer, `to` is this process.
struct Ends {
    sockaddr_in from;
    sockaddr_in to;
};

// The kernel's facts about one socket. A closed socket that lingers has no inode, and user 0.
struct Owner {
    uid_t uid;
    std::uint64_t inode;
};

std::optional<Ends> ends_of(int connection) noexcept {
    Ends ends = {};
    socklen_t size = sizeof ends.from;
    if (::getpeername(connection, reinterpret_cast<sockaddr*>(&ends.from), &size) != 0)
        return std::nullopt;
    size = sizeof ends.to;
    if (::getsockname(connection, reinterpret_cast<sockaddr*>(&ends.to), &size) != 0)
        return std::nullopt;
    if (ends.from.sin_family != AF_INET || ends.to.sin_family != AF_INET) return std::nullopt;
    return ends;
}

// Returns nothing if there is no such socket, or if the kernel lacks the diagnosis module.
std::optional<Owner> ask_kernel(const Ends& ends) noexcept {
    const UniqueFd netlink(::socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
    if (!netlink) return std::nullopt;
    struct {
        nlmsghdr header;
        inet_diag_req_v2 request;
    } ask = {};
    ask.header.nlmsg_len = sizeof ask;
    ask.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
    ask.header.nlmsg_flags = NLM_F_REQUEST;
    ask.request.sdiag_family = AF_INET;
    ask.request.sdiag_protocol = IPPROTO_TCP;
    ask.request.idiag_states = ~0U;
    ask.request.id.idiag_sport = ends.from.sin_port;
    ask.request.id.idiag_dport = ends.to.sin_port;
    ask.request.id.idiag_src[0] = ends.from.sin_addr.s_addr;
    ask.request.id.idiag_dst[0] = ends.to.sin_addr.s_addr;
    ask.request.id.idiag_cookie[0] = INET_DIAG_NOCOOKIE;
    ask.request.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
    if (::send(netlink.get(), &ask, sizeof ask, 0) != sizeof ask) return std::nullopt;

    alignas(nlmsghdr) char buffer[4096];
    const ssize_t count = ::recv(netlink.get(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (count < static_cast<ssize_t>(NLMSG_HDRLEN)) return std::nullopt;
    const auto* header = reinterpret_cast<const nlmsghdr*>(buffer);
    if (header->nlmsg_type != SOCK_DIAG_BY_FAMILY ||
        count < static_cast<ssize_t>(NLMSG_SPACE(sizeof(inet_diag_msg))))
        return std::nullopt;
    const auto* found = static_cast<const inet_diag_msg*>(NLMSG_DATA(header));
    return Owner{found->idiag_uid, found->idiag_inode};
}

std::optional<Owner> search_table(const Ends& ends) noexcept {
    const std::unique_ptr<FILE, int (*)(FILE*)> table(std::fopen("/proc/net/tcp", "re"),
                                                      [](FILE* f) { return std::fclose(f); });
    if (!table) return std::nullopt;
    char line[512];
    while (std::fgets(line, sizeof line, table.get()) != nullptr) {
        unsigned from = 0, from_port = 0, to = 0, to_port = 0, uid = 0;
        std::uint64_t inode = 0;
        if (std::sscanf(line, " %*d: %x:%x %x:%x %*x %*x:%*x %*x:%*x %*x %u %*d %" SCNu64, &from,
                        &from_port, &to, &to_port, &uid, &inode) != 6)
            continue;
        if (from == ends.from.sin_addr.s_addr && from_port == ntohs(ends.from.sin_port) &&
            to == ends.to.sin_addr.s_addr && to_port == ntohs(ends.to.sin_port))
            return Owner{uid, inode};
    }
    return std::nullopt;
}

}  // namespace

std::optional<uid_t> tcp_peer_owner(int connection) noexcept {
    const std::optional<Ends> ends = ends_of(connection);
    if (!ends) return std::nullopt;
    std::optional<Owner> owner = ask_kernel(*ends);
    if (!owner) owner = search_table(*ends);
    if (!owner || owner->inode == 0) return std::nullopt;
    return owner->uid;
}

}  // namespace poe::pm
