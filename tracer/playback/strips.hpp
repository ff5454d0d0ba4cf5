// Strips: counters and statistics of the system over a window, by columns of equal length. Sums of
// the system (CPU time, faults, bytes) become rates.
#pragma once

#include <string>
#include <vector>

#include "tracer/playback/look.hpp"

namespace poe::trace {

struct StripRow {
    std::string name;
    std::vector<double> values;  // by columns; NaN where nothing is known
    std::string most;            // the highest, in words: "98.5%", "12M/s"
    double highest() const;
};

// All tasks together, then the nodes, then the selected task; then counters of the program, those
// of the selected task first. A long stretch is answered from as many moments as there are columns.
//
// A rate is the mean over at least a tenth of a second where there are statistics of so long a
// time: the kernel counts CPU time in ticks of a hundredth, and a tick too many in a short time
// would look like a processor that does not exist. The CPU time of a node is never shown as more
// than its processors have, if the trace tells their number.
std::vector<StripRow> strips_of(const Look& look, Session& session, int columns);

}  // namespace poe::trace
