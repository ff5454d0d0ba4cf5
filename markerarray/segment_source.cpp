// Implementation of segment_source.hpp.
#include "markerarray/segment_source.hpp"

#include <set>

#include "markerarray/task_rows.hpp"

namespace poe::markers {
namespace {

constexpr std::chrono::milliseconds kProgramsEvery{1'000};

}  // namespace

SegmentSource::SegmentSource(const pm::RunningJob& job, const std::string& node_name)
    : segment_(NodeSegment::watch(job.segment)), look_(segment_, job.owner) {
    facts_.id = job.id;
    facts_.tasks = segment_.tasks();
    for (std::uint32_t node = 0; node < segment_.facts().nodes; ++node) {
        const bool here = static_cast<NodeIndex>(node) == segment_.facts().node;
        const std::string name = segment_.node_record(static_cast<NodeIndex>(node)).name;
        facts_.nodes.push_back(!name.empty() ? name : here ? node_name : std::to_string(node));
    }
}

Moment SegmentSource::elapsed(Clock::time_point now) const {
    return std::chrono::duration_cast<Moment>(
        now.time_since_epoch() - std::chrono::nanoseconds(segment_.facts().created_ns));
}

void SegmentSource::name_programs(const std::vector<pm::WatchedTask>& tasks,
                                  Clock::time_point now) {
    constexpr std::size_t kMostNames = 4;
    if (now - named_ < kProgramsEvery) return;
    named_ = now;
    std::set<std::string> programs;
    for (const pm::WatchedTask& task : tasks) {
        if (programs.size() >= kMostNames) break;
        if (task.state.life != pm::TaskState::Life::kEnded && task.state.pid > 0)
            programs.insert(pm::program_of_process(task.state.pid));
    }
    programs.erase("");
    if (programs.empty()) return;  // all processes have ended: keep the name
    facts_.program.clear();
    for (const std::string& program : programs)
        facts_.program +=
            (facts_.program.empty() ? "" : ", ") + program.substr(program.rfind('/') + 1);
}

void SegmentSource::put_rows(Model& model, Clock::time_point now, Moment moment, bool over) {
    const std::vector<pm::WatchedTask>& tasks = look_.look(now);
    name_programs(tasks, now);
    for (const pm::WatchedTask& task : tasks) {
        TaskRow row = row_of(task);
        if (over && task.state.life != pm::TaskState::Life::kEnded) lose(row);
        model.put(std::move(row), moment);
    }
}

}  // namespace poe::markers
