// Converts addresses between text and the socket interface, and opens listening sockets.
#include "base/segment/endpoint.hpp"

#include <arpa/inet.h>
#include <charconv>
#include <cstring>
#include <netinet/in.h>

#include "base/error.hpp"

namespace poe {
namespace {

// The longest backlog that the system allows. While the task computes and accepts no connection,
// connections from strangers must not fill the backlog.
constexpr int kBacklog = 4096;

}  // namespace

std::optional<NodeAddress> NodeAddress::parse(const std::string& text) {
    NodeAddress address;
    if (::inet_pton(AF_INET, text.c_str(), address.bytes) == 1) {
        address.family = AF_INET;
        return address;
    }
    const auto percent = text.find('%');
    if (::inet_pton(AF_INET6, text.substr(0, percent).c_str(), address.bytes) != 1)
        return std::nullopt;
    address.family = AF_INET6;
    if (percent == std::string::npos) return address;
    const char* end = text.data() + text.size();
    const auto [stop, fault] = std::from_chars(text.data() + percent + 1, end, address.scope);
    if (fault != std::errc{} || stop != end) return std::nullopt;
    return address;
}

std::string NodeAddress::text() const {
    char buffer[INET6_ADDRSTRLEN] = "none";
    if (family != 0) ::inet_ntop(static_cast<int>(family), bytes, buffer, sizeof buffer);
    return scope == 0 ? buffer : buffer + ("%" + std::to_string(scope));
}

SocketAddress::SocketAddress(const NodeAddress& node, std::uint16_t port) noexcept {
    if (node.family == AF_INET6) {
        sockaddr_in6 six{};
        six.sin6_family = AF_INET6;
        six.sin6_port = htons(port);
        six.sin6_scope_id = node.scope;
        std::memcpy(&six.sin6_addr, node.bytes, sizeof six.sin6_addr);
        std::memcpy(&storage, &six, sizeof six);
        length = sizeof six;
    } else {
        sockaddr_in four{};
        four.sin_family = AF_INET;
        four.sin_port = htons(port);
        std::memcpy(&four.sin_addr, node.bytes, sizeof four.sin_addr);
        std::memcpy(&storage, &four, sizeof four);
        length = sizeof four;
    }
}

UniqueFd listen_on(const NodeAddress& address, std::uint16_t& port) {
    const std::string what = "cannot listen for other tasks on the address " + address.text();
    UniqueFd fd(
        ::socket(static_cast<int>(address.family), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!fd) throw_errno(what);
    const SocketAddress any_port(address, 0);
    if (::bind(fd.get(), any_port.get(), any_port.length) != 0 || ::listen(fd.get(), kBacklog) != 0)
        throw_errno(what);
    port = local_address(fd.get()).second;
    return fd;
}

std::pair<NodeAddress, std::uint16_t> local_address(int socket) {
    sockaddr_storage bound{};
    socklen_t length = sizeof bound;
    if (::getsockname(socket, reinterpret_cast<sockaddr*>(&bound), &length) != 0)
        throw_errno("cannot ask for the address of a socket");
    // Both address families keep the port at the same offset.
    sockaddr_in as_four{};
    std::memcpy(&as_four, &bound, sizeof as_four);
    return {NodeAddress::of(reinterpret_cast<const sockaddr&>(bound)), ntohs(as_four.sin_port)};
}

NodeAddress loopback_address() noexcept {
    NodeAddress four;
    four.family = AF_INET;
    four.bytes[0] = 127;
    four.bytes[3] = 1;
    const UniqueFd probe(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const SocketAddress any_port(four, 0);
    if (probe && ::bind(probe.get(), any_port.get(), any_port.length) == 0) return four;
    NodeAddress six;
    six.family = AF_INET6;
    six.bytes[15] = 1;
    return six;
}

NodeAddress NodeAddress::of(const sockaddr& from) noexcept {
    NodeAddress address;
    address.family = from.sa_family;
    if (from.sa_family == AF_INET) {
        sockaddr_in four{};
        std::memcpy(&four, &from, sizeof four);
        std::memcpy(address.bytes, &four.sin_addr, sizeof four.sin_addr);
    } else {
        sockaddr_in6 six{};
        std::memcpy(&six, &from, sizeof six);
        std::memcpy(address.bytes, &six.sin6_addr, sizeof six.sin6_addr);
        if (IN6_IS_ADDR_LINKLOCAL(&six.sin6_addr)) address.scope = six.sin6_scope_id;
    }
    return address;
}

}  // namespace poe
