// See name_service.hpp.
#include "partition_manager/job/name_service.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cstring>
#include <net/if.h>
#include <string_view>

#include "partition_manager/job/command_lines.hpp"
#include "partition_manager/job/commands_file.hpp"

namespace poe::pm {

namespace {

// getent does not report which of several names a line belongs to. Therefore this address, which no
// host has, is queried after each name and marks the end of its lines.
constexpr std::string_view kEnd = "255.255.255.255";

// A shell accepts a command of 128 KiB.
constexpr std::size_t kNamesAtOnce = 400;

// `wanted` contains indices of `names`.
void ask(std::span<const std::string> names, std::span<const std::size_t> wanted,
         std::vector<std::vector<SocketAddress>>& found) {
    std::string command = "exec getent ahosts --";
    for (const std::size_t name : wanted)
        command.append(" ").append(shell_quoted(names[name])).append(" ").append(kEnd);
    std::size_t at = 0;
    for (const std::string& line : lines_of_command(command)) {
        const std::string address = line.substr(0, line.find(' '));
        if (line.find(" STREAM") == std::string::npos || at == wanted.size()) continue;
        if (address == kEnd)
            ++at;
        else if (const SocketAddress one = parse_address(address); one.size() > 0)
            found[wanted[at]].push_back(one);
    }
}

}  // namespace

socklen_t SocketAddress::size() const {
    return any.sa_family == AF_INET ? sizeof v4 : any.sa_family == AF_INET6 ? sizeof v6 : 0;
}

bool SocketAddress::is_loopback() const {
    if (any.sa_family == AF_INET) return ntohl(v4.sin_addr.s_addr) >> 24 == 127;
    return any.sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr);
}

bool SocketAddress::same_host(const SocketAddress& other) const {
    if (any.sa_family != other.any.sa_family) return false;
    if (any.sa_family == AF_INET) return v4.sin_addr.s_addr == other.v4.sin_addr.s_addr;
    return any.sa_family == AF_INET6 &&
           std::memcmp(&v6.sin6_addr, &other.v6.sin6_addr, sizeof(in6_addr)) == 0;
}

std::string SocketAddress::text() const {
    std::array<char, INET6_ADDRSTRLEN> text{};
    const void* address = any.sa_family == AF_INET ? static_cast<const void*>(&v4.sin_addr)
                                                   : static_cast<const void*>(&v6.sin6_addr);
    if (size() == 0 || ::inet_ntop(any.sa_family, address, text.data(), text.size()) == nullptr)
        return "";
    std::string result = text.data();
    std::array<char, IF_NAMESIZE> interface {};
    if (any.sa_family == AF_INET6 && v6.sin6_scope_id != 0 &&
        ::if_indextoname(v6.sin6_scope_id, interface.data()) != nullptr)
        result.append("%").append(interface.data());
    return result;
}

SocketAddress parse_address(const std::string& text) {
    SocketAddress address;
    const std::size_t percent = text.find('%');
    if (::inet_pton(AF_INET, text.c_str(), &address.v4.sin_addr) == 1) {
        address.v4.sin_family = AF_INET;
    } else if (::inet_pton(AF_INET6, text.substr(0, percent).c_str(), &address.v6.sin6_addr) == 1) {
        address.v6.sin6_family = AF_INET6;
        if (percent != std::string::npos)
            address.v6.sin6_scope_id = ::if_nametoindex(text.substr(percent + 1).c_str());
    }
    return address;
}

std::vector<std::vector<SocketAddress>> addresses_of(std::span<const std::string> names) {
    std::vector<std::vector<SocketAddress>> found(names.size());
    std::vector<std::size_t> wanted;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (const SocketAddress address = parse_address(names[i]); address.size() > 0)
            found[i].push_back(address);
        else if (!names[i].empty())
            wanted.push_back(i);
    }
    for (std::size_t from = 0; from < wanted.size(); from += kNamesAtOnce)
        ask(names, std::span(wanted).subspan(from, std::min(kNamesAtOnce, wanted.size() - from)),
            found);
    return found;
}

}  // namespace poe::pm
