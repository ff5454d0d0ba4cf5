// The replacement of the listening socket, and the accept() that libpmix calls.
#include "partition_manager/pmi/pmix_adoption.hpp"

#include <arpa/inet.h>
#include <cerrno>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/unique_fd.hpp"
#include "partition_manager/pmi/pmix_peer.hpp"

namespace poe::pm {

namespace {

// libpmix reads a greeting on its only thread. A greeting that does not arrive must not delay the
// job.
constexpr timeval kGreetingTimeout = {2, 0};

sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    return address;
}

// Returns 0 if it is not a listening TCP socket.
std::uint16_t listening_port(int fd) {
    int listens = 0;
    socklen_t size = sizeof listens;
    if (::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 || listens == 0) return 0;
    sockaddr_in address = {};
    size = sizeof address;
    if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0 ||
        address.sin_family != AF_INET)
        return 0;
    return ntohs(address.sin_port);
}

int find_listener(std::uint16_t port) {
    const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir("/proc/self/fd"),
                                                        [](DIR* d) { return ::closedir(d); });
    if (!directory) throw_errno("reading /proc/self/fd");
    while (const dirent* entry = ::readdir(directory.get())) {
        const int fd = std::atoi(entry->d_name);
        if (fd > 2 && listening_port(fd) == port) return fd;
    }
    throw Error("libpmix does not listen where it says");
}

// Makes a connection that is closed before it is accepted.
void knock(std::uint16_t port) {
    const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_in address = loopback(port);
    if (!fd ||
        ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        throw_errno("connecting to the PMIx server's own port");
    // A listener with TCP_DEFER_ACCEPT reports a connection when its first byte arrives.
    if (::send(fd.get(), "", 1, MSG_NOSIGNAL) < 0) throw_errno("waking libpmix");
}

}  // namespace

// libpmix's listening thread sleeps in select() on the old socket, and would notice the new one
// only after two seconds. Therefore there is a connection to accept on the new socket before the
// exchange, and one on the old socket after it, to wake the thread.
void adopt_listener(int listener, std::uint16_t library_port) {
    const UniqueFd ours(listener);
    const std::uint16_t port = listening_port(ours.get());
    if (port == 0) throw Error("the inherited descriptor is no listening socket");
    const int theirs = find_listener(library_port);
    const int flags = ::fcntl(theirs, F_GETFL);
    if (flags < 0 || ::fcntl(ours.get(), F_SETFL, flags | O_NONBLOCK) != 0)
        throw_errno("setting up the PMIx listener");
    knock(port);
    if (::dup3(ours.get(), theirs, O_CLOEXEC) < 0) throw_errno("handing the listener to libpmix");
    try {
        knock(library_port);
    } catch (const Error&) {
        // The thread was awake, so the old socket was no longer in use.
    }
}

}  // namespace poe::pm

// libpmix calls this function for each connection instead of the C library's. Connections of other
// users, and connections that are already closed, are dropped here.
extern "C" [[gnu::visibility("default")]] int accept(int listener, sockaddr* address,
                                                     socklen_t* size) {
    while (true) {
        const int fd = ::accept4(listener, address, size, SOCK_CLOEXEC);
        if (fd < 0) return fd;
        if (poe::pm::tcp_peer_owner(fd) == ::getuid()) {
            ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &poe::pm::kGreetingTimeout,
                         sizeof poe::pm::kGreetingTimeout);
            return fd;
        }
        ::close(fd);
    }
}
