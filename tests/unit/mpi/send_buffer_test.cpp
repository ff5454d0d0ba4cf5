// Buffered sends from attached memory, in a job of one task whose buffer memory for its own
// messages is too small: each message then stays in its slot until it is received.
#include "mpi/point/send_buffer.hpp"

#include <algorithm>
#include <deque>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

using namespace poe;
using namespace poe::mpi;

namespace {

constexpr poe::ContextId kContext = poe::kFirstMpiContext;

struct Sender {
    comm::MessageLayer messages{{0, 1, 0, 0}, {}, {}, nullptr};

    Fault send(SendBuffer& buffer, int tag, std::size_t bytes) {
        std::vector<std::byte> data(bytes, static_cast<std::byte>(tag));
        return buffer.send(messages, comm::SendRequest({data.data(), bytes}, 0, tag, kContext));
    }
    // Receives the oldest message with this tag and checks its contents.
    void receive(int tag, std::size_t bytes) {
        std::vector<std::byte> data(bytes + 1, std::byte{0xff});
        comm::ReceiveRequest request;
        request.reset({data.data(), bytes}, {kContext, 0, tag});
        messages.start(request);
        REQUIRE(request.outcome == comm::Outcome::kDone);
        REQUIRE(request.length == bytes);
        const auto other = std::count_if(data.begin(), data.end() - 1, [tag](std::byte each) {
            return each != static_cast<std::byte>(tag);
        });
        CHECK(other == 0);
        CHECK(data.back() == std::byte{0xff});
    }
};

}  // namespace

TEST_CASE("A message and MPI_BSEND_OVERHEAD fit exactly, also at an odd address") {
    Sender sender;
    for (std::size_t shift = 0; shift < 17; ++shift) {
        std::vector<std::byte> memory(2 * (1000 + MPI_BSEND_OVERHEAD) + shift);
        SendBuffer buffer(memory.data() + shift, 2 * (1000 + MPI_BSEND_OVERHEAD));
        CHECK(!sender.send(buffer, 1, 1000));
        CHECK(!sender.send(buffer, 2, 1000));
        CHECK(!buffer.idle());
        sender.receive(2, 1000);
        sender.receive(1, 1000);
        CHECK(buffer.idle());
    }
}

TEST_CASE("A message that does not fit is refused, and the others stay") {
    Sender sender;
    std::vector<std::byte> memory(2000);
    SendBuffer buffer(memory.data(), 2000);
    CHECK(!sender.send(buffer, 1, 800));
    CHECK(sender.send(buffer, 2, 1500).code == MPI_ERR_BUFFER);
    sender.receive(1, 800);
    CHECK(!sender.send(buffer, 2, 1400));
    sender.receive(2, 1400);
}

TEST_CASE("The number of the oldest message says what was sent") {
    Sender sender;
    SendBuffer buffer(MPI_BUFFER_AUTOMATIC, 0);
    CHECK(buffer.oldest_number() == buffer.next_number());
    for (int tag = 0; tag < 3; ++tag) CHECK(!sender.send(buffer, tag, 10));
    sender.receive(1, 10);
    CHECK(buffer.oldest_number() == 0);
    sender.receive(0, 10);
    CHECK(buffer.oldest_number() == 2);
    sender.receive(2, 10);
    CHECK(buffer.oldest_number() == 3);
    CHECK(buffer.idle());
}

TEST_CASE("Memory of sent messages is used again, whatever the order") {
    std::mt19937 random(7);
    for (const bool automatic : {false, true}) {
        Sender sender;
        std::vector<std::byte> memory(20000);
        SendBuffer buffer(automatic ? MPI_BUFFER_AUTOMATIC : memory.data(), 20000);
        std::deque<std::pair<int, std::size_t>> open;
        int accepted = 0;
        for (int i = 0; i < 2000; ++i) {
            const std::size_t bytes = random() % 3000;
            if (open.size() < 40 && !sender.send(buffer, i % 251, bytes)) {
                open.emplace_back(i % 251, bytes);
                ++accepted;
            } else {
                REQUIRE(!open.empty());
                const std::size_t which = random() % open.size();
                // The oldest message with this tag comes first.
                const auto first = std::find_if(open.begin(), open.end(), [&](const auto& each) {
                    return each.first == open[which].first;
                });
                sender.receive(first->first, first->second);
                open.erase(first);
            }
        }
        CHECK(accepted > 900);
        for (const auto& [tag, bytes] : open) sender.receive(tag, bytes);
        CHECK(buffer.idle());
    }
}
