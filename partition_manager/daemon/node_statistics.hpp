// The load of a node as one line, for the monitoring of nodes (pmd --statistics, poestat -nodes).
#pragma once

#include <string>
#include <vector>

#include "tracer/probe/format.hpp"

namespace poe::pm {

// Returns "user=0.12 system=0.03 memory=..." of two samples of SystemSampler::sample_node, the
// first of which has all values. `user` and `system` are shares of all processors; `memory` is in
// bytes; all others are per second: disk_read, disk_written, net_in and net_out in bytes,
// packets_in, packets_out, switches, faults. A value that the system does not offer is left out.
// Pure.
std::string node_statistics_line(const std::vector<trace::Record>& before,
                                 const std::vector<trace::Record>& after, double seconds);

// Samples this node twice, one second apart, and returns the line. Blocks.
std::string node_statistics_now();

}  // namespace poe::pm
