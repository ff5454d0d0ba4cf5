// See cpu_list.hpp.
#include "base/cpu_list.hpp"

#include <fstream>

#include "base/parse.hpp"

namespace poe {

cpu_set_t cpus_in(std::string_view list) noexcept {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    while (const auto first = take_number<unsigned long>(list)) {
        auto last = first;
        if (!list.empty() && list.front() == '-') {
            list.remove_prefix(1);
            last = take_number<unsigned long>(list);
        }
        for (auto cpu = *first; last && cpu <= *last && cpu < CPU_SETSIZE; ++cpu)
            CPU_SET(cpu, &cpus);
        if (list.empty() || list.front() != ',') break;
        list.remove_prefix(1);
    }
    return cpus;
}

bool contains(const cpu_set_t& whole, const cpu_set_t& part) noexcept {
    cpu_set_t common;
    CPU_AND(&common, &whole, &part);
    return CPU_EQUAL(&common, &part) != 0;
}

std::string first_line(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

}  // namespace poe
