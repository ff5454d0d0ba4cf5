// How long a byte takes, from what the system records of connections.
#include "comm/tcp/connection_use.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "base/unique_fd.hpp"

namespace poe::comm {
namespace {

using std::chrono::microseconds;

// A connection that has sent full segments.
ConnectionUse used(TaskId peer, std::uint64_t bytes, int busy_ms) {
    return {.peer = peer,
            .acknowledged = bytes,
            .segments = bytes / 1000,
            .repeated = 0,
            .segment_bytes = 1000,
            .round_trip = microseconds(100),
            .busy = microseconds(1000 * busy_ms)};
}

TEST_CASE("a byte takes the time of the busiest connection") {
    // Together 10 MB in 808 to 890 ms: two connections have shared a cable.
    const double found = time_of_byte({used(1, 1'000'000, 50)},
                                      {used(1, 7'000'000, 940), used(2, 4'000'000, 700)}, 1);
    CHECK(found > 0.0808);
    CHECK(found < 0.0890);
}

TEST_CASE("what may be the time of acknowledgements tells nothing about the network") {
    CHECK(time_of_byte({}, {}, 1) == 0);
    CHECK(time_of_byte({}, {used(1, 100'000, 500)}, 1) == 0);
    CHECK(time_of_byte({}, {used(1, 100'000'000, 10)}, 1) == 0);
    CHECK(time_of_byte({}, {used(1, 1'000'000, 60)}, 1) == 0);
    CHECK(time_of_byte({}, {used(1, 4'000'000, 190)}, 4) == 0);
    // Messages of 16 KB on a network of 10 Gbit/s with long round trips: 250 x 0.6 ms.
    ConnectionUse waiting = used(1, 4'000'000, 150);
    waiting.round_trip = microseconds(500);
    CHECK(time_of_byte({}, {waiting}, 1) == 0);
    ConnectionUse lossy = used(1, 4'000'000, 800);
    CHECK(time_of_byte({}, {lossy}, 1) > 0);
    lossy.repeated = 1;
    CHECK(time_of_byte({}, {lossy}, 1) == 0);
    ConnectionUse small = used(1, 4'000'000, 800);
    small.segments *= 2;
    CHECK(time_of_byte({}, {small}, 1) == 0);
    // A connection that was made anew has sent less than before.
    CHECK(time_of_byte({used(1, 5'000'000, 9000)}, {used(1, 4'000'000, 8000)}, 1) == 0);
}

TEST_CASE("the system counts the bytes that the other end has acknowledged") {
    const UniqueFd listener(::socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const name = reinterpret_cast<sockaddr*>(&address);
    REQUIRE(::bind(listener.get(), name, size) == 0);
    REQUIRE(::listen(listener.get(), 1) == 0);
    REQUIRE(::getsockname(listener.get(), name, &size) == 0);
    const UniqueFd here(::socket(AF_INET, SOCK_STREAM, 0));
    REQUIRE(::connect(here.get(), name, size) == 0);
    const UniqueFd there(::accept(listener.get(), nullptr, nullptr));
    REQUIRE(there);
    const std::vector<char> sent(1 << 20);
    std::thread reader([&] {
        std::vector<char> got(sent.size());
        for (std::size_t count = 0; count < got.size();)
            count += static_cast<std::size_t>(
                std::max<ssize_t>(::read(there.get(), got.data(), got.size()), 0));
    });
    for (std::size_t count = 0; count < sent.size();)
        count += static_cast<std::size_t>(
            std::max<ssize_t>(::write(here.get(), sent.data(), sent.size() - count), 0));
    reader.join();
    while (use_of_connection(here.get(), 7).acknowledged < sent.size()) std::this_thread::yield();
    const ConnectionUse use = use_of_connection(here.get(), 7);
    CHECK(use.peer == 7);
    CHECK(use.acknowledged <= sent.size() + 1);  // and perhaps the start of the connection
    CHECK(use_of_connection(-1, 7).acknowledged == 0);
}

}  // namespace
}  // namespace poe::comm
