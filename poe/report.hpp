// The end of a job as text and as JSON. Pure functions of an Outcome.
#pragma once

#include <string>
#include <vector>

#include "partition_manager/home/outcome.hpp"
#include "partition_manager/home/partition.hpp"
#include "partition_manager/job/task_map.hpp"

namespace poe::cli {

// One message of the final report.
struct ReportLine {
    bool is_error = false;  // false: a detail of the previous line
    int number = 0;
    std::string text;
};

// Returns the messages about `outcome`; none if the job succeeded. `tails` provides the last lines
// of the task that failed first.
std::vector<ReportLine> report_lines(const pm::JobSpec& job, const pm::Outcome& outcome,
                                     const pm::OutputTails& tails);

// Likewise for -report FILE: one JSON object, see poe(1). `binding` contains the processors of each
// task, if they are known.
std::string report_json(const pm::JobSpec& job, const pm::Outcome& outcome,
                        const pm::OutputTails& tails, const std::vector<std::string>& binding = {});

// Returns lines such as "task 0 (node n1) may use processors 0-3", for -report_binding. Tasks of a
// node with the same processors share a line.
std::vector<std::string> binding_lines(const pm::TaskMap& map,
                                       const std::vector<std::string>& binding);

}  // namespace poe::cli
