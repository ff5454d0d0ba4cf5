// The last caches of processors, as the kernel would tell them in a directory.
#include "base/cache_size.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>

namespace {

struct Processors {
    Processors() {
        char name[] = "/tmp/poe-caches-XXXXXX";
        path = ::mkdtemp(name);
    }
    ~Processors() { std::filesystem::remove_all(path); }

    void add(int cpu, int index, const std::string& level, const std::string& type,
             const std::string& size, const std::string& shared) const {
        const std::string cache =
            path + "/cpu" + std::to_string(cpu) + "/cache/index" + std::to_string(index);
        std::filesystem::create_directories(cache);
        std::ofstream(cache + "/level") << level << "\n";
        std::ofstream(cache + "/type") << type << "\n";
        std::ofstream(cache + "/size") << size << "\n";
        std::ofstream(cache + "/shared_cpu_list") << shared << "\n";
    }
    poe::Bytes of(std::initializer_list<int> wanted) const {
        cpu_set_t cpus;
        CPU_ZERO(&cpus);
        for (const int cpu : wanted) CPU_SET(cpu, &cpus);
        return poe::last_level_cache(cpus, path);
    }
    std::string path;
};

}  // namespace

TEST_CASE("the last caches of processors, each once") {
    const Processors processors;
    for (int cpu = 0; cpu < 8; ++cpu) {
        const std::string own = std::to_string(cpu);
        processors.add(cpu, 0, "1", "Data", "32K", own);
        processors.add(cpu, 1, "1", "Instruction", "64K", own);
        processors.add(cpu, 2, "2", "Unified", "512K", own);
        processors.add(cpu, 3, "3", "Unified", "32768K", cpu % 4 < 2 ? "0-1,4-5" : "2-3,6-7");
    }
    CHECK(processors.of({0}) == 32u << 20);
    CHECK(processors.of({0, 1, 4, 5}) == 32u << 20);
    CHECK(processors.of({0, 1, 2}) == 64u << 20);
    CHECK(processors.of({0, 1, 2, 3, 4, 5, 6, 7}) == 64u << 20);
    CHECK(processors.of({}) == 0);
    // Of which the kernel says nothing.
    CHECK(processors.of({9}) == 0);
}

TEST_CASE("processors without a common cache, and of odd descriptions") {
    const Processors processors;
    for (int cpu = 0; cpu < 2; ++cpu) {
        processors.add(cpu, 0, "1", "Data", "32K", std::to_string(cpu));
        processors.add(cpu, 1, "2", "Unified", "1M", std::to_string(cpu));
        processors.add(cpu, 2, "2", "Instruction", "4M", std::to_string(cpu));
    }
    processors.add(2, 0, "1", "Unified", "", "");
    processors.add(3, 0, "1", "Unified", "many", "3-");
    processors.add(4, 0, "1", "Unified", "4096", "4-999999999");
    CHECK(processors.of({0, 1}) == 2u << 20);
    CHECK(processors.of({2}) == 0);
    CHECK(processors.of({3}) == 0);
    CHECK(processors.of({4, 5}) == 4096);
}

TEST_CASE("this machine's processors") {
    cpu_set_t cpus;
    REQUIRE(::sched_getaffinity(0, sizeof cpus, &cpus) == 0);
    const poe::Bytes all = poe::last_level_cache(cpus);
    const bool told = std::filesystem::exists("/sys/devices/system/cpu/cpu0/cache/index0/size");
    CHECK((all > 0) == told);
}
