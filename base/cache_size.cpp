// Reads the kernel's description of the caches; see cache_size.hpp.
#include "base/cache_size.hpp"

#include <fstream>
#include <optional>
#include <string_view>

#include "base/parse.hpp"

namespace poe {
namespace {

std::string line_of(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

// Parses a cache size such as "32768K". Returns bytes, 0 if `text` is no such size.
Bytes size_in(std::string_view text) {
    const auto number = take_number<unsigned long>(text);
    if (!number) return 0;
    const int shift = text == "K" ? 10 : text == "M" ? 20 : text == "G" ? 30 : 0;
    return Bytes{*number} << shift;
}

// Adds the processors of a list such as "0-7,64-71" to `cpus`.
void add_cpus_in(std::string_view list, cpu_set_t& cpus) {
    while (const auto first = take_number<unsigned long>(list)) {
        auto last = first;
        if (!list.empty() && list.front() == '-') {
            list.remove_prefix(1);
            last = take_number<unsigned long>(list);
        }
        for (auto cpu = *first; last && cpu <= *last && cpu < CPU_SETSIZE; ++cpu)
            CPU_SET(cpu, &cpus);
        if (list.empty() || list.front() != ',') return;
        list.remove_prefix(1);
    }
}

}  // namespace

Bytes last_level_cache(const cpu_set_t& cpus, const std::string& directory) {
    Bytes all = 0;
    cpu_set_t counted;
    CPU_ZERO(&counted);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (!CPU_ISSET(cpu, &cpus) || CPU_ISSET(cpu, &counted)) continue;
        std::string last;
        std::string highest;
        for (int index = 0;; ++index) {
            const std::string cache = directory + "/cpu" + std::to_string(cpu) + "/cache/index" +
                                      std::to_string(index) + "/";
            const std::string level = line_of(cache + "level");
            if (level.empty()) break;
            if (level > highest && line_of(cache + "type") != "Instruction") {
                highest = level;
                last = cache;
            }
        }
        if (last.empty()) continue;
        all += size_in(line_of(last + "size"));
        add_cpus_in(line_of(last + "shared_cpu_list"), counted);
        CPU_SET(cpu, &counted);
    }
    return all;
}

}  // namespace poe
