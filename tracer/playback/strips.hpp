// Strips: counters and system statistics over a window, by columns of equal length. Sums of the
// system (CPU time, faults, bytes) become rates.
#pragma once

#include <string>
#include <vector>

#include "tracer/playback/view_state.hpp"

namespace poe::trace {

struct StripRow {
    std::string name;
    std::vector<double> values;  // by column; NaN if unknown
    std::string most;            // the highest value as text: "98.5%", "12M/s"
    double highest() const;
};

// Returns strips for all tasks together, then the nodes, then the selected task; then for counters
// of the program, those of the selected task first. A long window is sampled at one moment per
// column.
//
// A rate is the mean over at least a tenth of a second if the statistics cover such a time. The
// reason is that the kernel counts CPU time in ticks of a hundredth of a second, and one tick too
// many in a short time would look like an additional processor. The CPU time of a node never
// exceeds that of its processors if the trace contains their number.
std::vector<StripRow> strips_of(const ViewState& look, Session& session, int columns);

}  // namespace poe::trace
