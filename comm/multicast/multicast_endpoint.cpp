// See multicast_endpoint.hpp.
#include "comm/multicast/multicast_endpoint.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <string_view>
#include <sys/socket.h>

#include "base/check.hpp"
#include "base/error.hpp"
#include "base/hash.hpp"

namespace poe::comm {
namespace {

// The system reduces it to what it permits.
constexpr int kReceiveBuffer = 1 << 20;
// Datagrams that one poll reads or sends at most, so that other messages are not delayed.
constexpr unsigned kBatchesPerPoll = 4;
constexpr unsigned kSentPerPoll = 32;

// Within 239.192.0.0/14, the addresses of organizations.
std::uint32_t first_address_of(std::uint32_t hash) noexcept {
    return 239U << 24 | 192U << 16 | (hash & 0x3ffffU & ~(MulticastEndpoint::kAddresses - 1));
}
// Below the ports that systems give to clients.
std::uint16_t port_of(std::uint32_t hash) noexcept {
    return static_cast<std::uint16_t>(16384 + (hash >> 18));
}

sockaddr_in socket_address(DatagramAddress where) noexcept {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = where.address;
    address.sin_port = where.port;
    return address;
}

UniqueFd datagram_socket() {
    UniqueFd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd) throw_errno("cannot make a socket for multicast");
    ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUF, &kReceiveBuffer, sizeof kReceiveBuffer);
    // Where the system does not know trains, it delivers datagrams one by one.
    const int yes = 1;
    ::setsockopt(fd.get(), SOL_UDP, UDP_GRO, &yes, sizeof yes);
    return fd;
}

template <typename Value>
void set_option(const UniqueFd& fd, int level, int option, const Value& value) {
    if (::setsockopt(fd.get(), level, option, &value, sizeof value) != 0)
        throw_errno("cannot prepare a socket for multicast");
}

void bind_to(const UniqueFd& fd, DatagramAddress where) {
    const sockaddr_in address = socket_address(where);
    if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        throw_errno("cannot bind a socket for multicast");
}

std::uint32_t ipv4_of(const NodeAddress& node) {
    if (node.family != AF_INET)
        throw Error("this node has no IPv4 address, so it cannot take part in multicast");
    std::uint32_t address = 0;
    std::memcpy(&address, node.bytes, sizeof address);
    return address;
}

// The size of each datagram of a train that has arrived; the last one may be shorter. What is not a
// train is one datagram.
std::size_t size_of_each(const mmsghdr& header) noexcept {
    const cmsghdr* const told = CMSG_FIRSTHDR(&header.msg_hdr);
    if (told != nullptr && told->cmsg_level == SOL_UDP && told->cmsg_type == UDP_GRO) {
        int each = 0;
        std::memcpy(&each, CMSG_DATA(told), sizeof each);
        if (each > 0) return static_cast<std::size_t>(each);
    }
    return std::max<std::size_t>(header.msg_len, 1);
}

// True if several nodes of the job are this computer, as in tests. Multicast must then return to
// it.
bool shares_computer(const NodeSegment& segment) {
    const NodeAddress& own = segment.node_record(segment.facts().node).address;
    for (NodeIndex node = 0; node < static_cast<NodeIndex>(segment.facts().nodes); ++node)
        if (node != segment.facts().node && segment.node_record(node).address == own) return true;
    return false;
}

}  // namespace

MulticastEndpoint::MulticastEndpoint(const NodeSegment& segment, TaskId me)
    : key_(segment.facts().job_key), unicast_(datagram_socket()), multicast_(datagram_socket()) {
    POE_CHECK(me >= 0, me);
    const std::uint32_t hash = Hash32().add(segment.facts().job_id).value();
    own_.address = ipv4_of(segment.node_record(segment.facts().node).address);
    first_address_ = first_address_of(hash);
    port_ = htons(port_of(hash));
    bind_to(unicast_, {own_.address, 0});
    sockaddr_in bound{};
    socklen_t size = sizeof bound;
    if (::getsockname(unicast_.get(), reinterpret_cast<sockaddr*>(&bound), &size) != 0)
        throw_errno("cannot ask for the port of a socket");
    own_.port = bound.sin_port;
    in_addr own{};
    own.s_addr = own_.address;
    set_option(unicast_, IPPROTO_IP, IP_MULTICAST_IF, own);
    set_option(unicast_, IPPROTO_IP, IP_MULTICAST_TTL, 1);
    set_option(unicast_, IPPROTO_IP, IP_MULTICAST_LOOP, shares_computer(segment) ? 1 : 0);
    // Other tasks and jobs of this computer may have the same port.
    set_option(multicast_, SOL_SOCKET, SO_REUSEADDR, 1);
    set_option(multicast_, IPPROTO_IP, IP_MULTICAST_ALL, 0);
    bind_to(multicast_, {htonl(INADDR_ANY), port_});
}

std::uint32_t MulticastEndpoint::address_of(std::uint64_t id) const noexcept {
    return htonl(first_address_ + static_cast<std::uint32_t>(id % kAddresses));
}

bool MulticastEndpoint::join(std::uint32_t address, bool wanted) noexcept {
    ip_mreq request{};
    request.imr_multiaddr.s_addr = address;
    request.imr_interface.s_addr = own_.address;
    const int option = wanted ? IP_ADD_MEMBERSHIP : IP_DROP_MEMBERSHIP;
    return ::setsockopt(multicast_.get(), IPPROTO_IP, option, &request, sizeof request) == 0;
}

MulticastGroup& MulticastEndpoint::open(std::uint64_t id, std::vector<DatagramAddress> members,
                                        std::uint32_t me) {
    auto opened = std::make_unique<Open>();
    opened->group =
        std::make_unique<MulticastGroup>(id, static_cast<std::uint32_t>(members.size()), me, key_);
    opened->members = std::move(members);
    opened->me = me;
    std::uint32_t& users = joined_[id % kAddresses];
    if (users == 0 && !join(address_of(id), true)) throw_errno("cannot join a multicast address");
    ++users;
    groups_.push_back(std::move(opened));
    return *groups_.back()->group;
}

void MulticastEndpoint::close(MulticastGroup& group) noexcept {
    const std::uint64_t id = group.id();
    const auto found = std::find_if(groups_.begin(), groups_.end(),
                                    [&](const auto& each) { return each->group.get() == &group; });
    if (found == groups_.end()) return;
    groups_.erase(found);
    if (--joined_[id % kAddresses] == 0) join(address_of(id), false);
}

bool MulticastEndpoint::busy() const noexcept {
    return std::any_of(groups_.begin(), groups_.end(), [](const auto& each) {
        return each->group->busy() || each->train.size > 0 || each->held;
    });
}

bool MulticastEndpoint::needs_room() const noexcept {
    return std::any_of(groups_.begin(), groups_.end(),
                       [](const auto& each) { return each->needs_room; });
}

std::optional<MulticastTime> MulticastEndpoint::due() const noexcept {
    std::optional<MulticastTime> earliest;
    for (const auto& each : groups_) {
        // A datagram that was not sent for lack of room waits for the socket, not for a time.
        if (each->needs_room) continue;
        const auto due = each->held ? MulticastTime{} : each->group->due();
        if (due && (!earliest || *due < *earliest)) earliest = due;
    }
    return earliest;
}

// --- reading

bool MulticastEndpoint::read_from(int socket, MulticastTime now) {
    struct alignas(cmsghdr) Control {
        std::array<std::byte, CMSG_SPACE(sizeof(int))> bytes;
    };
    bool changed = false;
    for (unsigned round = 0; round < kBatchesPerPoll; ++round) {
        std::array<mmsghdr, kBatch> headers{};
        std::array<iovec, kBatch> pieces{};
        std::array<Control, kBatch> controls{};
        for (unsigned i = 0; i < kBatch; ++i) {
            pieces[i] = {arrived_.data() + i * kArrival, kArrival};
            headers[i].msg_hdr.msg_iov = &pieces[i];
            headers[i].msg_hdr.msg_iovlen = 1;
            headers[i].msg_hdr.msg_control = controls[i].bytes.data();
            headers[i].msg_hdr.msg_controllen = sizeof controls[i];
        }
        const int count = ::recvmmsg(socket, headers.data(), kBatch, 0, nullptr);
        for (int i = 0; i < count; ++i) {
            const mmsghdr& header = headers[static_cast<std::size_t>(i)];
            const std::span arrived(arrived_.data() + static_cast<std::size_t>(i) * kArrival,
                                    header.msg_len);
            const std::size_t each = size_of_each(header);
            for (std::size_t at = 0; at < arrived.size(); at += each)
                changed =
                    take(arrived.subspan(at, std::min(each, arrived.size() - at)), now) || changed;
        }
        if (count < static_cast<int>(kBatch)) break;
    }
    return changed;
}

bool MulticastEndpoint::take(std::span<const std::byte> datagram, MulticastTime now) {
    if (datagram.size() < sizeof(DatagramHeader)) return false;
    DatagramHeader header;  // not authenticated yet
    std::memcpy(&header, datagram.data(), sizeof header);
    bool changed = false;
    for (const auto& each : groups_)
        if (each->group->id() == header.group)
            changed = each->group->take(datagram, now) || changed;
    return changed;
}

// --- sending

// Adds to the train what the group sends next, and returns the number of datagrams.
unsigned MulticastEndpoint::fill_train(Open& open, MulticastTime now) const {
    Train& train = open.train;
    const std::size_t most = takes_trains_ ? kTrain : 1;
    for (unsigned count = 0;; ++count) {
        auto& held = open.held;
        if (!held) held = open.group->next(open.held_bytes.data(), now);
        if (!held) return count;
        if (train.size == 0) {
            train.to = held->to;
            train.rank = held->rank;
            train.each = held->size;
        } else if (held->to != train.to || held->rank != train.rank || held->size > train.each ||
                   train.size % train.each != 0 || train.size == most * train.each) {
            return count;
        }
        std::memcpy(train.bytes.data() + train.size, open.held_bytes.data(), held->size);
        train.size += held->size;
        held.reset();
    }
}

// Returns false if the socket has no room. Any other failure is a loss, which the protocol repairs.
// After the failure of a train there are no more trains.
bool MulticastEndpoint::send_to(Train& train, DatagramAddress to) {
    sockaddr_in address = socket_address(to);
    iovec piece{train.bytes.data(), train.size};
    msghdr message{};
    message.msg_name = &address;
    message.msg_namelen = sizeof address;
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(std::uint16_t))> control{};
    const bool several = train.size > train.each;
    if (several) {
        message.msg_control = control.data();
        message.msg_controllen = control.size();
        cmsghdr* const segment = CMSG_FIRSTHDR(&message);
        segment->cmsg_level = SOL_UDP;
        segment->cmsg_type = UDP_SEGMENT;
        segment->cmsg_len = CMSG_LEN(sizeof(std::uint16_t));
        const auto each = static_cast<std::uint16_t>(train.each);
        std::memcpy(CMSG_DATA(segment), &each, sizeof each);
    }
    ssize_t sent = 0;
    do sent = ::sendmsg(unicast_.get(), &message, 0);
    while (sent < 0 && errno == EINTR);
    if (sent >= 0) return true;
    if (errno == EAGAIN) return false;
    if (several) takes_trains_ = false;
    return true;
}

bool MulticastEndpoint::send_train(Open& open) {
    using To = MulticastGroup::Outgoing::To;
    switch (open.train.to) {
        case To::kAll:
            return send_to(open.train, {address_of(open.group->id()), port_});
        case To::kOne:
            return send_to(open.train, open.members[open.train.rank]);
        case To::kEach:
            for (; open.next < open.members.size(); ++open.next)
                if (open.next != open.me && !send_to(open.train, open.members[open.next]))
                    return false;
            break;
    }
    return true;
}

bool MulticastEndpoint::send_for(Open& open, MulticastTime now) {
    bool sent = false;
    for (unsigned count = 0; count < kSentPerPoll;) {
        if (open.train.size == 0) {
            const unsigned more = fill_train(open, now);
            if (more == 0) break;
            count += more;
            open.next = 0;
        }
        open.needs_room = !send_train(open);
        if (open.needs_room) break;
        open.train.size = 0;
        // What is only repeated, because nothing answers, is no progress.
        sent = open.group->sender() == nullptr || !open.group->sender()->stalled();
    }
    return sent;
}

bool MulticastEndpoint::poll() {
    if (groups_.empty()) return false;
    const MulticastTime now = std::chrono::steady_clock::now();
    bool changed = read_from(multicast_.get(), now);
    changed = read_from(unicast_.get(), now) || changed;
    for (const auto& each : groups_) changed = send_for(*each, now) || changed;
    return changed;
}

}  // namespace poe::comm
