// What poe says of a job that has no task on its node, and where it is found.
#include "partition_manager/status/home_jobs.hpp"

#include <random>

#include <catch2/catch.hpp>

using namespace poe::pm;

TEST_CASE("facts of a job come back as they were", "[home_jobs]") {
    JobFacts facts;
    facts.tasks = 3;
    facts.elapsed = std::chrono::milliseconds(1234);
    facts.nodes = {"node1", "node2"};
    facts.programs = {"/bin/\xffodd"};
    const auto back = decode_facts(encode_facts(facts));
    REQUIRE(back);
    CHECK(back->tasks == 3);
    CHECK(back->elapsed == facts.elapsed);
    CHECK(back->nodes == facts.nodes);
    CHECK(back->programs == facts.programs);
}

TEST_CASE("what is no facts is nothing", "[home_jobs]") {
    JobFacts facts;
    CHECK_FALSE(decode_facts(encode_facts(facts)));  // no tasks
    facts.tasks = 2;
    CHECK_FALSE(decode_facts(encode_facts(facts)));  // no nodes
    facts.nodes = {"a", "b"};
    const std::string good = encode_facts(facts);
    for (std::size_t length = 0; length < good.size(); ++length)
        CHECK_FALSE(decode_facts(good.substr(0, length)));
    std::mt19937 random(1);
    for (int i = 0; i < 20000; ++i) {
        std::string bytes = good;
        for (int k = 0; k < 3; ++k) bytes[random() % bytes.size()] = static_cast<char>(random());
        if (const auto found = decode_facts(bytes)) CHECK_FALSE(found->nodes.empty());
    }
}

TEST_CASE("jobs in a table of sockets", "[home_jobs]") {
    const std::string table =
        "Num       RefCount Protocol Flags    Type St Inode Path\n"
        "0000000000000000: 00000002 00000000 00010000 0001 01 41 @poe-7-k1-q2-0-facts\n"
        "0000000000000000: 00000003 00000000 00000000 0001 03 42 @poe-7-k1-q2-0-facts\n"
        "0000000000000000: 00000002 00000000 00010000 0001 01 43 @poe-7-k1-q2-0-command\n"
        "0000000000000000: 00000002 00000000 00010000 0001 01 44 /tmp/poe-7-a-facts\n"
        "0000000000000000: 00000002 00000000 00010000 0001 01 45 @poe-x-a-facts\n"
        "0000000000000000: 00000002 00000000 00010000 0001 01 46 @poe-7--facts\n"
        "0000000000000000: 00000002 00000000 00010000 0001 01 47 @-facts\n"
        "0000000000000000: 00000002 00000000 00010000 0001 01 48\n"
        "0000000000000000: 00000002 00000000 00010000 0001 01 49 @poe-0-b-facts\n";
    CHECK((jobs_with_facts(table) == std::vector<JobName>{{7, "k1-q2-0"}, {0, "b"}}));
    CHECK(jobs_with_facts("").empty());
    CHECK(jobs_with_facts(" @-facts").empty());
}
