// launch_model [NODES...]: the table of a modelled launch; see launch_model.hpp.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "tests/bench/launch_model.hpp"

using namespace poe::bench;

int main(int argc, char** argv) {
    std::vector<int> sizes;
    for (int i = 1; i < argc; ++i) sizes.push_back(std::atoi(argv[i]));
    if (sizes.empty()) sizes = {10, 100, 1000, 10000, 100000};
    const NodeDelays delays;
    NodeDelays fast_wire = delays;
    fast_wire.byte_handling = fast_wire.byte_wire = Seconds{0};
    std::printf("\nmodel of a launch, one task a node: a remote shell is up in %.0f ms (median)\n",
                1e3 * delays.login.count());
    std::printf("%9s %8s %6s %10s %10s %12s %10s %10s\n", "nodes", "fan-out", "depth", "launch s",
                "fence s", "root msgs", "root MB", "s, no bytes");
    for (const int nodes : sizes) {
        if (nodes < 1) return std::fprintf(stderr, "usage: launch_model [NODES...]\n"), 2;
        for (const int fanout : {16, nodes}) {  // as by default; and poe starts all others itself
            if (fanout == nodes && (nodes <= 16 || nodes > 10000)) continue;
            const auto width = static_cast<std::uint32_t>(fanout);
            const ModelRun run = model_launch(nodes, width, delays);
            const ModelRun free = model_launch(nodes, width, fast_wire);
            std::printf("%9d %8d %6d %10.3f %10.3f %12llu %10.2f %10.3f\n", nodes, fanout,
                        run.depth, run.launched.count(), run.exchanged.count(),
                        static_cast<unsigned long long>(run.root_messages),
                        static_cast<double>(run.root_bytes) / 1e6, free.launched.count());
            std::fflush(stdout);
        }
    }
    return 0;
}
