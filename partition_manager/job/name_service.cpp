// See name_service.hpp.
#include "partition_manager/job/name_service.hpp"

#include <algorithm>
#include <cstring>
#include <net/if.h>
#include <netinet/in.h>
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
         std::vector<std::vector<NodeAddress>>& found) {
    std::string command = "exec getent ahosts --";
    for (const std::size_t name : wanted)
        command.append(" ").append(shell_quoted(names[name])).append(" ").append(kEnd);
    std::size_t at = 0;
    for (const std::string& line : lines_of_command(command)) {
        const std::string address = line.substr(0, line.find(' '));
        if (line.find(" STREAM") == std::string::npos || at == wanted.size()) continue;
        if (address == kEnd)
            ++at;
        else if (const auto one = parse_address(address))
            found[wanted[at]].push_back(*one);
    }
}

}  // namespace

std::optional<NodeAddress> parse_address(const std::string& text) {
    const std::size_t percent = text.find('%');
    if (percent == std::string::npos) return NodeAddress::parse(text);
    const unsigned interface = ::if_nametoindex(text.substr(percent + 1).c_str());
    if (interface == 0) return NodeAddress::parse(text);
    return NodeAddress::parse(text.substr(0, percent + 1) + std::to_string(interface));
}

bool is_loopback(const NodeAddress& address) noexcept {
    if (address.family == AF_INET) return address.bytes[0] == 127;
    in6_addr six{};
    std::memcpy(&six, address.bytes, sizeof six);
    return address.family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&six);
}

bool is_same_host(const NodeAddress& one, const NodeAddress& other) noexcept {
    return one.family == other.family && std::memcmp(one.bytes, other.bytes, sizeof one.bytes) == 0;
}

std::vector<std::vector<NodeAddress>> addresses_of(std::span<const std::string> names) {
    std::vector<std::vector<NodeAddress>> found(names.size());
    std::vector<std::size_t> wanted;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (const auto address = parse_address(names[i]))
            found[i].push_back(*address);
        else if (!names[i].empty())
            wanted.push_back(i);
    }
    for (std::size_t from = 0; from < wanted.size(); from += kNamesAtOnce)
        ask(names, std::span(wanted).subspan(from, std::min(kNamesAtOnce, wanted.size() - from)),
            found);
    return found;
}

}  // namespace poe::pm
