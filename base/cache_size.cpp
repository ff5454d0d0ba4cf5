// Reads the kernel's description of the caches; see cache_size.hpp.
#include "base/cache_size.hpp"

#include <optional>
#include <string>
#include <string_view>

#include "base/cpu_list.hpp"
#include "base/parse.hpp"

namespace poe {
namespace {

// Parses a cache size such as "32768K". Returns bytes, 0 if `text` is no such size.
Bytes size_in(std::string_view text) {
    const auto number = take_number<unsigned long>(text);
    if (!number) return 0;
    const int shift = text == "K" ? 10 : text == "M" ? 20 : text == "G" ? 30 : 0;
    return Bytes{*number} << shift;
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
            const std::string level = first_line(cache + "level");
            if (level.empty()) break;
            if (level > highest && first_line(cache + "type") != "Instruction") {
                highest = level;
                last = cache;
            }
        }
        if (last.empty()) continue;
        all += size_in(first_line(last + "size"));
        const cpu_set_t sharing = cpus_in(first_line(last + "shared_cpu_list"));
        CPU_OR(&counted, &counted, &sharing);
        CPU_SET(cpu, &counted);
    }
    return all;
}

}  // namespace poe
