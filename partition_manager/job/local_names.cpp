// Reads the names and addresses of this computer from the system.
#include "partition_manager/job/local_names.hpp"

#include <algorithm>
#include <array>
#include <ifaddrs.h>
#include <limits.h>
#include <memory>
#include <string_view>
#include <unistd.h>

#include "base/suggest.hpp"
#include "partition_manager/job/name_service.hpp"

namespace poe::pm {
namespace {

std::string_view first_label(std::string_view name) {
    return name.substr(0, name.find('.'));
}

bool is_qualified(std::string_view name) {
    return name.find('.') != std::string_view::npos;
}

// True if a host name as written is that of this computer: in full, or with one of the two in short
// form.
bool is_own_name(std::string_view name, std::string_view own) {
    if (same_word(name, own)) return true;
    if (is_qualified(name) && is_qualified(own)) return false;
    return same_word(first_label(name), first_label(own));
}

std::vector<NodeAddress> own_addresses() {
    ifaddrs* first = nullptr;
    if (::getifaddrs(&first) != 0) return {};
    const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> all(first, ::freeifaddrs);
    std::vector<NodeAddress> found;
    for (const ifaddrs* one = first; one != nullptr; one = one->ifa_next) {
        if (one->ifa_addr == nullptr) continue;
        const auto family = one->ifa_addr->sa_family;
        if (family == AF_INET || family == AF_INET6)
            found.push_back(NodeAddress::of(*one->ifa_addr));
    }
    return found;
}

}  // namespace

std::string local_host_name() {
    std::array<char, HOST_NAME_MAX + 2> name{};
    if (::gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "localhost";
    return name.data();
}

std::vector<bool> find_this_node(const std::vector<std::string>& names) {
    std::vector<bool> found(names.size());
    std::vector<std::string> others;
    std::vector<std::size_t> index_of_other;
    for (std::size_t i = 0; i < names.size(); ++i) {
        found[i] = same_word(names[i], "localhost") || is_own_name(names[i], local_host_name());
        if (found[i]) continue;
        others.push_back(names[i]);
        index_of_other.push_back(i);
    }
    if (others.empty()) return found;
    const std::vector<NodeAddress> own = own_addresses();
    const auto addresses = addresses_of(others);
    for (std::size_t i = 0; i < others.size(); ++i)
        found[index_of_other[i]] =
            std::any_of(addresses[i].begin(), addresses[i].end(), [&own](const NodeAddress& one) {
                return is_loopback(one) ||
                       std::any_of(own.begin(), own.end(), [&one](const NodeAddress& mine) {
                           return is_same_host(mine, one);
                       });
            });
    return found;
}

}  // namespace poe::pm
