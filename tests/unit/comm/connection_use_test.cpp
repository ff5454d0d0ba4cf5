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

TEST_CASE("a byte takes the time of the busiest connection") {
    const std::vector<ConnectionUse> before = {{1, 1'000'000, microseconds(50'000)}};
    // Together 1,000,000 bytes in 80 ms: two connections have shared a cable.
    const std::vector<ConnectionUse> after = {{1, 1'600'000, microseconds(130'000)},
                                              {2, 400'000, microseconds(70'000)}};
    CHECK(time_of_byte(before, after) == Approx(0.08));
}

TEST_CASE("too little use tells nothing") {
    CHECK(time_of_byte({}, {}) == 0);
    CHECK(time_of_byte({}, {{1, 100'000, microseconds(500'000)}}) == 0);
    CHECK(time_of_byte({}, {{1, 100'000'000, microseconds(10'000)}}) == 0);
    // A connection that was made anew has sent less than before.
    CHECK(time_of_byte({{1, 500'000, microseconds(9'000'000)}},
                       {{1, 400'000, microseconds(8'000'000)}}) == 0);
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
