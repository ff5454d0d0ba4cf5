// The end of a job in words and as JSON. Pure: an Outcome in, text out.
#pragma once

#include <string>
#include <vector>

#include "partition_manager/home/outcome.hpp"
#include "partition_manager/home/partition.hpp"
#include "partition_manager/job/task_map.hpp"

namespace poe::cli {

// One message of the final report; what the person reads last.
struct ReportLine {
    bool is_error = false;  // otherwise a detail of the line before
    int number = 0;
    std::string text;
};

// What there is to say about `outcome`: nothing when all went well. `tails` gives the last words of
// the task that failed first.
std::vector<ReportLine> report_lines(const pm::JobSpec& job, const pm::Outcome& outcome,
                                     const pm::OutputTails& tails);

// The same for -report FILE: one JSON object, see poe(1).
// `binding`: the processors of each task, as far as they are known.
std::string report_json(const pm::JobSpec& job, const pm::Outcome& outcome,
                        const pm::OutputTails& tails, const std::vector<std::string>& binding = {});

// "task 0 (node n1) may use processors 0-3", for -report_binding. Tasks of a node that may use the
// same ones are on one line.
std::vector<std::string> binding_lines(const pm::TaskMap& map,
                                       const std::vector<std::string>& binding);

}  // namespace poe::cli
