// What /proc says about a process that we know: ourselves.
#include "partition_manager/daemon/system_sampler.hpp"

#include <map>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "partition_manager/daemon/node_statistics.hpp"

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

// Where the kernel permits it. Elsewhere there is no number, not a wrong one.
TEST_CASE("the system calls of a task are counted", "[system_sampler]") {
    const bool readable =
        ::access("/sys/kernel/tracing/events/raw_syscalls/sys_enter/id", R_OK) == 0;
    SystemSampler sampler;
    std::vector<Record> records;
    sampler.sample_task(1, ::getpid(), true, false, records);
    constexpr int kCalls = 1000;
    for (int i = 0; i < kCalls; ++i) ::getppid();
    const auto first = sums(records, 1);
    records.clear();
    sampler.sample_task(1, ::getpid(), true, false, records);
    const auto second = sums(records, 1);
    CHECK(first.contains(Metric::kSystemCalls) == readable);
    if (!readable) return;
    const std::uint64_t counted = second.at(Metric::kSystemCalls) - first.at(Metric::kSystemCalls);
    CHECK(counted >= kCalls);
    CHECK(counted < kCalls + 100);
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
    CHECK(found.contains(Metric::kPacketsIn));
    CHECK(found.contains(Metric::kPacketsOut));
    CHECK(found.at(Metric::kProcessors) > 0);
}

TEST_CASE("the load of a node between two samples", "[system_sampler]") {
    const auto of = [](std::initializer_list<std::pair<Metric, std::uint64_t>> values) {
        std::vector<Record> records;
        for (const auto& [metric, value] : values)
            records.push_back({.kind = Kind::kSystem,
                               .detail = static_cast<std::uint8_t>(metric),
                               .a = trace::kNobody,
                               .b = value});
        return records;
    };
    const auto before = of({{Metric::kProcessors, 2},
                            {Metric::kCpuUser, 1'000'000'000},
                            {Metric::kCpuSystem, 500'000'000},
                            {Metric::kMemory, 5000},
                            {Metric::kNetworkIn, 100},
                            {Metric::kPacketsIn, 10}});
    // Two seconds later; the system's time has not changed.
    const auto after = of({{Metric::kCpuUser, 3'000'000'000},
                           {Metric::kMemory, 7000},
                           {Metric::kNetworkIn, 2100},
                           {Metric::kPacketsIn, 30}});
    CHECK(node_statistics_line(before, after, 2) ==
          "user=0.5 system=0 memory=7000 net_in=1000 packets_in=10");
    CHECK(node_statistics_line({}, {}, 1) == "");
}
