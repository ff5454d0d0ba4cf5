// See node_look.hpp.
#include "partition_manager/status/node_look.hpp"

#include <algorithm>

namespace poe::pm {
namespace {

constexpr std::chrono::milliseconds kProcessesEvery{1'000};

// If a text cannot be read at this moment, the previous text is kept.
void read_marks(const MarkerRow& marks, WatchedTask& task) {
    for (std::size_t light = 0; light < task.lights.size(); ++light)
        task.lights[light] = std::min<std::uint8_t>(
            marks.lights[light].load(std::memory_order_relaxed), kMarkerColors);
    if (marks.last.load(std::memory_order_relaxed) != task.text.number)
        if (auto text = marks.text(); text && text->number > task.text.number)
            task.text = std::move(*text);
    task.total = marks.total.load(std::memory_order_acquire);
    task.done = std::min(marks.done.load(std::memory_order_acquire), task.total);
}

Bytes per_second(std::uint64_t moved, std::chrono::milliseconds time) {
    return time.count() > 0 ? moved * 1000 / static_cast<std::uint64_t>(time.count()) : 0;
}

// A sum becomes smaller when a process of the task ends.
std::uint64_t grown_per_second(std::uint64_t before, std::uint64_t now,
                               std::chrono::milliseconds time) {
    return per_second(now - std::min(before, now), time);
}

}  // namespace

NodeLook::NodeLook(const NodeSegment& segment, uid_t owner)
    : segment_(segment),
      owner_(owner),
      tasks_(segment.local_tasks()),
      before_(segment.local_tasks()) {}

const std::vector<WatchedTask>& NodeLook::look(Clock::time_point now) {
    for (std::uint32_t index = 0; index < segment_.local_tasks(); ++index) {
        WatchedTask& task = tasks_[index];
        task.state = look_at_task(segment_, index, now);
        task.state.unexpected = {};
        read_marks(segment_.markers(index), task);
    }
    if (now - looked_ >= kProcessesEvery) look_at_processes(now);
    for (WatchedTask& task : tasks_) {
        if (task.state.life != TaskState::Life::kEnded) continue;
        task.processes = {};
        task.sent_per_second = task.received_per_second = 0;
    }
    return tasks_;
}

void NodeLook::look_at_processes(Clock::time_point now) {
    const bool first = looked_ == Clock::time_point{};
    const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(now - looked_);
    looked_ = now;
    sums_.look(owner_);
    for (std::uint32_t index = 0; index < segment_.local_tasks(); ++index) {
        WatchedTask& task = tasks_[index];
        Before& before = before_[index];
        const TrafficWords& traffic = segment_.slot(index).traffic;
        const std::uint64_t sent = traffic.sent.load(std::memory_order_relaxed);
        const std::uint64_t received = traffic.received.load(std::memory_order_relaxed);
        if (!first) {
            task.sent_per_second = per_second(sent - before.sent, since);
            task.received_per_second = per_second(received - before.received, since);
        }
        before.sent = sent;
        before.received = received;
        const bool lives = task.state.life != TaskState::Life::kEnded && task.state.pid > 0;
        const auto sum = lives ? sums_.of(task.state.pid) : std::nullopt;
        task.processes = {};
        if (!sum) continue;
        // A task that sleeps in a call of MPL counts as running, because it may have left the call
        // when this is shown.
        const bool runs = sum->runs || task.state.doing.call != Call::kNone;
        task.processes = {.known = true,
                          .runs = runs,
                          .stopped = sum->stopped,
                          .disk = sum->disk,
                          .memory = sum->memory};
        if (!first) {
            task.processes.cpu_percent = static_cast<std::int32_t>(
                std::max<std::int64_t>(0, (sum->cpu - before.cpu) * 100 / since));
            task.processes.switches_per_second =
                grown_per_second(before.use.switches, sum->use.switches, since);
            task.processes.disk_read_per_second =
                grown_per_second(before.use.disk_read, sum->use.disk_read, since);
            task.processes.disk_written_per_second =
                grown_per_second(before.use.disk_written, sum->use.disk_written, since);
        }
        before.cpu = sum->cpu;
        before.use = sum->use;
    }
}

}  // namespace poe::pm
