// The hardware resources of processors, as the kernel would describe them in a directory.
#include "base/hardware_resources.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

#include <catch2/catch.hpp>

#include "base/cpu_list.hpp"

namespace {

// Two packages of two NUMA nodes each; a node has two cores with a common third-level cache, and a
// core has two processors, whose numbers differ by eight.
struct Computer {
    Computer() {
        char name[] = "/tmp/poe-hardware-XXXXXX";
        path = ::mkdtemp(name);
        write("cpu/online", "0-15");
        write("node/online", "0-3");
        for (int node = 0; node < 4; ++node)
            write("node/node" + std::to_string(node) + "/cpulist", cores(2 * node, 2 * node + 1));
        for (int cpu = 0; cpu < 16; ++cpu) {
            const int core = cpu % 8;
            const std::string own = "cpu/cpu" + std::to_string(cpu);
            const std::string node = cores(core / 2 * 2, core / 2 * 2 + 1);
            write(own + "/topology/package_cpus_list", cores(core / 4 * 4, core / 4 * 4 + 3));
            // An older name.
            write(own + "/topology/thread_siblings_list", cores(core, core));
            const std::pair<const char*, const char*> caches[] = {
                {"1", "Data"}, {"1", "Instruction"}, {"2", "Unified"}, {"3", "Unified"}};
            for (int index = 0; index < 4; ++index) {
                const std::string cache = own + "/cache/index" + std::to_string(index);
                write(cache + "/level", caches[index].first);
                write(cache + "/type", caches[index].second);
                write(cache + "/shared_cpu_list", index == 3 ? node : cores(core, core));
            }
        }
    }
    ~Computer() { std::filesystem::remove_all(path); }

    static std::string cores(int first, int last) {
        const auto range = [&](int from) {
            return std::to_string(from + first) + "-" + std::to_string(from + last);
        };
        return range(0) + "," + range(8);
    }
    void write(const std::string& name, const std::string& text) const {
        const std::filesystem::path file = path + "/" + name;
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file) << text << "\n";
    }
    // Type and instance of each resource; "-" where there is no single instance.
    std::string of(const char* list) const {
        std::string text;
        for (const poe::HardwareResource& each : poe::resources_of(poe::cpus_in(list), path)) {
            if (!each.described) continue;
            const std::string type = each.type;
            text += (text.empty() ? "" : " ") + type.substr(type.rfind('/') + 1) + " " +
                    (each.instance ? std::to_string(*each.instance) : "-");
        }
        return text;
    }
    std::string path;
};

}  // namespace

TEST_CASE("the resources that contain all processors") {
    const Computer computer;
    CHECK(computer.of("13") == "Machine 0 Package 4 NUMANode 4 L3Cache 4 L2Cache 5 Core 5 PU 13");
    CHECK(computer.of("5,13") == "Machine 0 Package 4 NUMANode 4 L3Cache 4 L2Cache 5 Core 5 PU -");
    CHECK(computer.of("6-7") == "Machine 0 Package 4 NUMANode 6 L3Cache 6 L2Cache - Core - PU -");
    CHECK(computer.of("4,7") == "Machine 0 Package 4 NUMANode - L3Cache - L2Cache - Core - PU -");
    CHECK(computer.of("0,15") == "Machine 0 Package - NUMANode - L3Cache - L2Cache - Core - PU -");
    CHECK(computer.of("") == "");
}

TEST_CASE("types that the kernel does not describe are left out") {
    const Computer computer;
    std::filesystem::remove_all(computer.path + "/node");
    std::filesystem::remove_all(computer.path + "/cpu/cpu3/cache");
    CHECK(computer.of("3") == "Machine 0 Package 0 Core 3 PU 3");
}

TEST_CASE("lists of processors") {
    const auto numbers = [](const char* list) {
        const cpu_set_t cpus = poe::cpus_in(list);
        std::string text;
        for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
            if (CPU_ISSET(cpu, &cpus)) text += std::to_string(cpu) + " ";
        return text;
    };
    CHECK(numbers("0-2,7,9-10") == "0 1 2 7 9 10 ");
    CHECK(numbers("") == "");
    CHECK(numbers("5x,6") == "5 ");
    CHECK(numbers("3-") == "");
    CHECK(numbers("1022-2000") == "1022 1023 ");
    CHECK(poe::contains(poe::cpus_in("0-3"), poe::cpus_in("1,3")));
    CHECK(!poe::contains(poe::cpus_in("0-3"), poe::cpus_in("1,4")));
}
