// What /proc says about a process that we know: ourselves.
#include "partition_manager/daemon/system_sampler.hpp"

#include <map>
#include <unistd.h>

#include <catch2/catch.hpp>

using namespace poe;
using namespace poe::pm;
using trace::Kind;
using trace::Metric;
using trace::Record;

namespace {

std::map<Metric, std::uint64_t> sums(const std::vector<Record>& records, std::uint32_t owner) {
    std::map<Metric, std::uint64_t> found;
    for (const Record& record : records)
        if (record.kind == Kind::kSystem && record.a == owner)
            found[static_cast<Metric>(record.detail)] = record.b;
    return found;
}

}  // namespace

TEST_CASE("the statistics of a task", "[system_sampler]") {
    SystemSampler sampler;
    std::vector<Record> records;
    sampler.sample_task(5, ::getpid(), true, true, records);
    const auto first = sums(records, 5);
    CHECK(first.at(Metric::kMemory) > 100'000);
    CHECK(first.at(Metric::kFaultsMinor) > 10);
    CHECK(first.contains(Metric::kSwitchesForced));
    CHECK(records.front().kind == Kind::kDoing);
    CHECK(records.front().detail == static_cast<std::uint8_t>(trace::Doing::kRuns));
    // Only what has changed is told again.
    std::vector<char> touched(std::size_t{4} << 20, 'x');
    records.clear();
    sampler.sample_task(5, ::getpid(), true, true, records);
    const auto second = sums(records, 5);
    CHECK(second.at(Metric::kFaultsMinor) > first.at(Metric::kFaultsMinor));
    CHECK_FALSE(second.contains(Metric::kFaultsMajor));
    CHECK(touched.back() == 'x');
}

TEST_CASE("a task that is gone has none", "[system_sampler]") {
    SystemSampler sampler;
    std::vector<Record> records;
    sampler.sample_task(0, 0x7ffffffe, true, true, records);
    CHECK(records.empty());
}

TEST_CASE("the statistics of the node", "[system_sampler]") {
    SystemSampler sampler;
    std::vector<Record> records;
    sampler.sample_node(records);
    const auto found = sums(records, trace::kNobody);
    CHECK(found.at(Metric::kCpuUser) > 0);
    CHECK(found.at(Metric::kMemory) > 1'000'000);
    CHECK(found.at(Metric::kSwitchesVoluntary) > 0);
    CHECK(found.contains(Metric::kNetworkIn));
    CHECK(found.at(Metric::kProcessors) > 0);
}
