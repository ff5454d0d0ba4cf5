// Messages between pmd and pmd-pmix: there and back, in pieces, and bytes that are none.
#include "partition_manager/pmi/pmix_messages.hpp"

#include <random>

#include <catch2/catch.hpp>

#include "base/error.hpp"

namespace {

using namespace poe;
using namespace poe::pm;

std::vector<PmixMessage> one_of_each() {
    PmixStart start;
    start.job.job_id = "j";
    start.job.nspace = "poe-j";
    start.job.nodes = {"a", "b"};
    start.job.this_node = 1;
    start.job.node_of_task = {0, 1, 1};
    start.job.appnum_of_task = {0, 0, 7};
    start.job.directory = "/dev/shm/d";
    start.job.uid = 65534;
    start.job.gid = 100;
    start.promised = {{"A", "1"}, {"B", ""}};
    start.promise_given = true;
    return {start,
            PmixReady{{{"X", "y=z"}}},
            PmixConnected{3},
            PmixFinalized{4},
            PmixAbort{5, -7, "bye"},
            PmixAttention{"look"},
            PmixFailed{"no"},
            PmixPeerLost{2},
            PmixPassed{KeyRequest{"", 3, {"", 1, 9}}},
            PmixPassed{KeyReply{{"j", 1, 9}, -46, std::string("\0\xff", 2)}}};
}

std::string bytes_of(const std::vector<PmixMessage>& messages) {
    std::string bytes;
    for (const PmixMessage& message : messages) bytes += pmix_encode(message);
    return bytes;
}

}  // namespace

TEST_CASE("PMIx messages arrive whole, byte by byte") {
    const std::string bytes = bytes_of(one_of_each());
    PmixDecoder decoder;
    std::vector<PmixMessage> got;
    for (const char c : bytes) {
        decoder.append({&c, 1});
        while (auto message = decoder.next()) got.push_back(std::move(*message));
    }
    REQUIRE(got.size() == 10);
    CHECK(bytes_of(got) == bytes);
    const auto& start = std::get<PmixStart>(got[0]);
    CHECK(start.job.nodes == std::vector<std::string>{"a", "b"});
    CHECK(start.job.node_of_task == std::vector<NodeIndex>{0, 1, 1});
    CHECK(start.job.appnum_of_task == std::vector<std::uint32_t>{0, 0, 7});
    CHECK(start.job.uid == 65534);
    CHECK(start.promised == Environment{{"A", "1"}, {"B", ""}});
    CHECK(start.promise_given);
    CHECK_FALSE(start.shared_store);
    CHECK(std::get<PmixAbort>(got[4]).status == -7);
    const auto& told = std::get<KeyReply>(std::get<PmixPassed>(got[9]).message);
    CHECK(told.asker.request == 9);
    CHECK(told.data == std::string("\0\xff", 2));
}

TEST_CASE("bytes that are no PMIx message are an error") {
    const auto decode = [](const std::string& bytes) {
        PmixDecoder decoder;
        decoder.append(bytes);
        return decoder.next();
    };
    CHECK_FALSE(decode(""));
    CHECK_FALSE(decode(std::string(3, '\0')));
    CHECK_THROWS_AS(decode(std::string(4, '\0')), Error);                     // nothing inside
    CHECK_THROWS_AS(decode("\xff\xff\xff\xff"), Error);                       // too long
    CHECK_THROWS_AS(decode(std::string("\1\0\0\0\xf6", 5)), Error);           // null
    CHECK_THROWS_AS(decode(std::string("\6\0\0\0\x81\x64junk", 10)), Error);  // unknown name
}

TEST_CASE("mutated PMIx messages are messages or errors") {
    std::mt19937 random(4711);
    const std::string good = bytes_of(one_of_each());
    std::size_t errors = 0;
    for (int round = 0; round < 2000; ++round) {
        std::string bytes = good;
        for (int i = 0; i < 4; ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
        PmixDecoder decoder;
        decoder.append(bytes);
        try {
            while (decoder.next()) {
            }
        } catch (const Error&) {
            ++errors;
        }
    }
    CHECK(errors > 100);
}
