// See socket_channel.hpp.
#include "mpi/communicator/socket_channel.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <limits>
#include <mpi.h>
#include <poll.h>
#include <string>
#include <sys/socket.h>

#include "comm/tcp/tcp_pipe.hpp"

namespace poe::mpi {
namespace {

// No list of members is longer.
constexpr std::size_t kMostWords = std::size_t{1} << 26;

Fault socket_fault(const std::string& doing, const char* why) {
    return {MPI_ERR_PROC_ABORTED, "", doing + " the other group's process fails: " + why,
            "find out whether that process has ended"};
}

bool would_block() noexcept {
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

}  // namespace

void let_poe_report(comm::Runtime& runtime) {
    const auto limit = std::chrono::steady_clock::now() + comm::TcpPipe::kFaultDelay;
    wait_for_socket(runtime, -1, 0, [&] { return std::chrono::steady_clock::now() >= limit; });
}

void wait_for_socket(comm::Runtime& runtime, int fd, short events,
                     const std::function<bool()>& over, const Awaited& awaited) {
    comm::MessageLayer& messages = runtime.messages();
    messages.begin_wait_elsewhere();
    while (!over()) {
        messages.look_elsewhere(awaited);
        messages.help();
        pollfd watched{fd, events, 0};
        // With several threads, look_elsewhere() has let the others have the turn.
        ::poll(&watched, 1, messages.shared() ? 0 : 1);
    }
}

bool SocketChannel::shake_hands(comm::Handshake& handshake, bool called,
                                std::chrono::steady_clock::time_point deadline) {
    bool failed = false;
    const auto over = [&] {
        for (;;) {
            while (!handshake.output().empty()) {
                const auto out = handshake.output();
                const ssize_t n = ::send(fd_, out.data(), out.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
                if (n < 0 && would_block()) return false;
                failed = n < 0;
                if (failed) return true;
                handshake.sent(static_cast<std::size_t>(n));
            }
            if (called && handshake.proven()) {
                handshake.decide(comm::Verdict::kAccepted);
                continue;
            }
            if (handshake.decided()) return true;
            std::array<std::byte, 128> bytes;
            const ssize_t n = ::recv(fd_, bytes.data(), handshake.missing(), MSG_DONTWAIT);
            if (n < 0 && would_block()) {
                failed = std::chrono::steady_clock::now() >= deadline;
                return failed;
            }
            failed = n <= 0 || !handshake.take(bytes.data(), static_cast<std::size_t>(n));
            if (failed) return true;
        }
    };
    wait_for_socket(runtime_, fd_, POLLIN, over, awaited_);
    return !failed;
}

// Both directions at the same time, so that two ends with much to send do not wait for each other.
Fault SocketChannel::move(const std::byte* out, std::size_t out_bytes, std::byte* in,
                          std::size_t in_bytes) {
    std::size_t sent = 0;
    std::size_t got = 0;
    Fault fault;
    bool closed = false;
    const auto over = [&] {
        while (sent < out_bytes) {
            const ssize_t n =
                ::send(fd_, out + sent, out_bytes - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
            if (n < 0 && would_block()) break;
            if (n < 0) {
                closed = errno == EPIPE || errno == ECONNRESET;
                fault = socket_fault("writing to", std::strerror(errno));
                return true;
            }
            sent += static_cast<std::size_t>(n);
        }
        while (got < in_bytes) {
            const ssize_t n = ::recv(fd_, in + got, in_bytes - got, MSG_DONTWAIT);
            if (n < 0 && would_block()) return false;
            if (n <= 0) {
                closed = n == 0 || errno == ECONNRESET;
                fault = socket_fault(
                    "reading from", n == 0 ? "it has closed the connection" : std::strerror(errno));
                return true;
            }
            got += static_cast<std::size_t>(n);
        }
        return sent == out_bytes;
    };
    wait_for_socket(runtime_, fd_, POLLIN, over, awaited_);
    if (closed) let_poe_report(runtime_);
    return fault;
}

Fault SocketChannel::swap_bytes(const void* given, void* taken, std::size_t bytes) {
    return move(static_cast<const std::byte*>(given), bytes, static_cast<std::byte*>(taken), bytes);
}

Fault SocketChannel::swap(const Words& given, Words& taken) {
    const auto own_count = static_cast<std::uint32_t>(given.size());
    std::uint32_t count = 0;
    if (Fault fault = swap_bytes(&own_count, &count, sizeof count)) return fault;
    if (count > kMostWords) return socket_fault("reading from", "it has sent an impossible length");
    taken.resize(count);
    return move(reinterpret_cast<const std::byte*>(given.data()), given.size() * sizeof given[0],
                reinterpret_cast<std::byte*>(taken.data()), taken.size() * sizeof taken[0]);
}

}  // namespace poe::mpi
