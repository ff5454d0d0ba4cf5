// Reads the kernel's description of the caches; see cache_size.hpp.
#include "base/cache_size.hpp"

#include <charconv>
#include <fstream>
#include <optional>
#include <string_view>

namespace poe {
namespace {

std::string line_of(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

// Parses the number at the beginning of `text` and removes it from `text`.
std::optional<unsigned long> take_number(std::string_view& text) {
    unsigned long number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return number;
}

// Parses a cache size such as "32768K". Returns bytes, 0 if `text` is no such size.
Bytes size_in(std::string_view text) {
    const auto number = take_number(text);
    if (!number) return 0;
    const int shift = text == "K" ? 10 : text == "M" ? 20 : text == "G" ? 30 : 0;
    return Bytes{*number} << shift;
}

// Adds the processors of a list such as "0-7,64-71" to `cpus`.
void add_cpus_in(std::string_view list, cpu_set_t& cpus) {
    while (const auto first = take_number(list)) {
        auto last = first;
        if (!list.empty() && list.front() == '-') {
            list.remove_prefix(1);
            last = take_number(list);
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
