// Cards of tasks, and the numbers that a task gives to those of other jobs.
#include "comm/bootstrap/guests.hpp"

#include <catch2/catch.hpp>

using namespace poe::comm;
using poe::TaskId;

namespace {

TaskCard card(const std::string& job, TaskId task, poe::Bytes buffer_mem = 65536,
              poe::Bytes eager_limit = 4096) {
    return {job,        task,       *poe::NodeAddress::parse("192.0.2.7"), 4711, "node",
            buffer_mem, eager_limit};
}

LinkSecret secret(std::uint64_t number) {
    LinkSecret made;
    made.number = number;
    made.key.fill(static_cast<std::uint8_t>(number));
    return made;
}

}  // namespace

TEST_CASE("a card is a line of text and back", "[guests]") {
    for (const char* address : {"192.0.2.7", "2001:db8::5", "fe80::1%2"}) {
        TaskCard made = card("abc-1-0-s2", 17);
        made.address = *poe::NodeAddress::parse(address);
        const auto read = parse_card(text_of(made));
        REQUIRE(read.has_value());
        CHECK(read->is_same_task(made));
        CHECK(read->address == made.address);
        CHECK(read->port == 4711);
        CHECK(read->node == "node");
        CHECK(read->buffer_mem == 65536);
        CHECK(read->eager_limit == 4096);
    }
    CHECK(name_of(card("a", 3)) == "task 3 of job a");
}

TEST_CASE("a text that is no card is refused", "[guests]") {
    const std::string good = text_of(card("a", 1));
    REQUIRE(parse_card(good).has_value());
    for (std::size_t length = 0; length < good.size(); ++length) {
        const auto cut = parse_card(good.substr(0, length));
        // A number that is cut is still one, unless it contradicts the others.
        CHECK((!cut || length > good.rfind(' ')));
    }
    for (const char* bad :
         {"a 1 192.0.2.7 0 node 65536 4096", "a -1 192.0.2.7 4711 node 65536 4096",
          "a 1 host 4711 node 65536 4096", "a 1 192.0.2.7 4711 node 65536 65536",
          "a 1 192.0.2.7 4711 node 65536 4096 more", "a  192.0.2.7 4711 node 65536 4096",
          "a 1 192.0.2.7 70000 node 65536 4096"})
        CHECK_FALSE(parse_card(bad).has_value());
}

TEST_CASE("tasks of other jobs get the next numbers, once", "[guests]") {
    Guests guests;
    const TaskCard own = card("a", 1);
    const std::vector<TaskCard> first{card("a", 0), own, card("b", 0), card("b", 1, 32768, 100)};
    const Admission one = guests.admit(2, own, secret(1), first);
    CHECK(one.tasks == std::vector<TaskId>{0, 1, 2, 3});
    CHECK(one.link.identity.me == 1);
    CHECK(one.link.identity.tasks == 4);
    CHECK(one.link.identity.link == 1);
    CHECK(one.link.endpoints[3].name == "task 1 of job b on node");
    // The smaller values of both ends.
    CHECK(one.token_capacities == std::vector<poe::Bytes>{65536, 32768});
    CHECK(one.eager_limits == std::vector<poe::Bytes>{4096, 100});
    // Another link with a task that is known, in another order.
    const std::vector<TaskCard> second{card("c", 5), card("b", 1), own};
    const Admission two = guests.admit(2, own, secret(2), second);
    CHECK(two.tasks == std::vector<TaskId>{4, 3, 1});
    CHECK(two.link.identity.me == 2);
    CHECK(two.eager_limits.size() == 1);
    CHECK(guests.count() == 3);
    CHECK(guests.card(2).job == "c");
    // All are known.
    CHECK(guests.admit(2, own, secret(3), second).eager_limits.empty());
}

TEST_CASE("the secrets of links differ", "[guests]") {
    const LinkSecret one = make_link_secret();
    const LinkSecret other = make_link_secret();
    CHECK(one.number != 0);
    CHECK(one.number != other.number);
    CHECK(one.key != other.key);
}
