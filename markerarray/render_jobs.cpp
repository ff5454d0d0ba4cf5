// The list of jobs: one line per job, to switch to another job or to see what runs where.
#include <algorithm>

#include <fmt/format.h>

#include "markerarray/render_parts.hpp"
#include "terminal/words.hpp"

namespace poe::markers {
namespace {

constexpr int kGap = 2;

// Returns the width of the widest cell, so that only the directory is ever truncated.
int width_of(const std::vector<JobLine>& jobs, const std::string& head,
             std::string (*cell)(const JobLine&)) {
    int width = columns_of(head);
    for (const JobLine& job : jobs) width = std::max(width, columns_of(cell(job)));
    return width;
}

struct Column {
    const char* head;
    std::string (*cell)(const JobLine&);
};
constexpr Column kColumns[] = {
    {"JOB", [](const JobLine& job) { return job.id; }},
    {"TASKS", [](const JobLine& job) { return std::to_string(job.tasks); }},
    {"ELAPSED", [](const JobLine& job) { return time_words(job.elapsed); }},
    {"PROGRAM", [](const JobLine& job) { return job.program.empty() ? "-" : job.program; }},
    {"DIRECTORY", [](const JobLine& job) { return job.directory; }}};

}  // namespace

void draw_jobs(Grid& grid, const Scene& scene, int from, int to) {
    if (scene.jobs == nullptr || from >= to) return;
    const std::vector<JobLine>& jobs = *scene.jobs;
    if (jobs.empty()) {
        grid.put(from, 1, "no jobs are running");
        return;
    }
    const auto lines = static_cast<std::size_t>(std::max(1, to - from - 1));
    const std::size_t top = scene.view.job_at >= lines ? scene.view.job_at - lines + 1 : 0;
    int at = 1;
    for (const Column& column : kColumns) {
        grid.put(from, at, column.head, {Ink::kDim, 0, false});
        for (std::size_t i = top; i < jobs.size() && i - top < lines; ++i)
            grid.put(from + 1 + static_cast<int>(i - top), at, column.cell(jobs[i]));
        at += width_of(jobs, column.head, column.cell) + kGap;
    }
    if (scene.view.job_at < jobs.size())
        grid.select(from + 1 + static_cast<int>(scene.view.job_at - top));
}

}  // namespace poe::markers
