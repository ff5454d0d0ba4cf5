// See node_statistics.hpp.
#include "partition_manager/daemon/node_statistics.hpp"

#include <array>
#include <chrono>
#include <cstdio>
#include <optional>
#include <thread>

#include "partition_manager/daemon/system_sampler.hpp"

namespace poe::pm {
namespace {

using trace::Metric;

std::optional<double> value_of(const std::vector<trace::Record>& records, Metric metric) {
    for (const trace::Record& record : records)
        if (record.detail == static_cast<std::uint8_t>(metric))
            return static_cast<double>(record.b);
    return std::nullopt;
}

struct Rate {
    const char* name;
    Metric metric;
};
constexpr std::array kRates = {
    Rate{"disk_read", Metric::kDiskRead},         Rate{"disk_written", Metric::kDiskWritten},
    Rate{"net_in", Metric::kNetworkIn},           Rate{"net_out", Metric::kNetworkOut},
    Rate{"packets_in", Metric::kPacketsIn},       Rate{"packets_out", Metric::kPacketsOut},
    Rate{"switches", Metric::kSwitchesVoluntary}, Rate{"faults", Metric::kFaultsMinor}};

}  // namespace

std::string node_statistics_line(const std::vector<trace::Record>& before,
                                 const std::vector<trace::Record>& after, double seconds) {
    std::string line;
    const auto add = [&](const char* name, double value) {
        char text[64];
        std::snprintf(text, sizeof text, "%s%s=%.4g", line.empty() ? "" : " ", name, value);
        line += text;
    };
    // The second sample contains only values that have changed.
    const auto growth = [&](Metric metric) -> std::optional<double> {
        const auto first = value_of(before, metric);
        if (!first) return std::nullopt;
        return (value_of(after, metric).value_or(*first) - *first) / seconds;
    };
    const double processors = value_of(before, Metric::kProcessors).value_or(1);
    constexpr double kNsPerSecond = 1e9;
    if (const auto user = growth(Metric::kCpuUser)) add("user", *user / kNsPerSecond / processors);
    if (const auto system = growth(Metric::kCpuSystem))
        add("system", *system / kNsPerSecond / processors);
    const auto memory = value_of(after, Metric::kMemory);
    if (const auto first = value_of(before, Metric::kMemory))
        add("memory", memory.value_or(*first));
    for (const Rate& rate : kRates)
        if (const auto value = growth(rate.metric)) add(rate.name, *value);
    return line;
}

std::string node_statistics_now() {
    SystemSampler sampler;
    std::vector<trace::Record> before;
    std::vector<trace::Record> after;
    sampler.sample_node(before);
    const auto start = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(std::chrono::seconds(1));  // the interval that is measured
    sampler.sample_node(after);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    return node_statistics_line(before, after, time.count());
}

}  // namespace poe::pm
