// See segment_source.hpp.
#include "markerarray/segment_source.hpp"

#include <algorithm>
#include <csignal>
#include <set>
#include <sys/wait.h>

namespace poe::markers {
namespace {

constexpr std::chrono::milliseconds kLookEvery{1'000};

void describe_end(int status, TaskRow& row) {
    const bool well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    row.activity = well ? Activity::kEnded : Activity::kFailed;
    if (WIFSIGNALED(status)) {
        const char* name = ::sigabbrev_np(WTERMSIG(status));
        row.doing = name != nullptr ? std::string("killed by SIG") + name
                                    : "killed by signal " + std::to_string(WTERMSIG(status));
    } else {
        row.doing = well ? "ended" : "ended with code " + std::to_string(WEXITSTATUS(status));
    }
}

std::string peer_words(const char* way, TaskId peer) {
    return way + (peer < 0 ? std::string("any") : std::to_string(peer));
}

bool sends(Call call) {
    return call == Call::kBsend || call == Call::kBvsend || call == Call::kSend;
}

void describe_call(const pm::TaskState& state, TaskRow& row) {
    const TaskDoing& doing = state.doing;
    const Awaited& awaited = state.awaited;
    row.doing = call_name(doing.call);
    row.waits_ms = state.waits_ms;
    if (is_collective(doing.call) || doing.call == Call::kFlush) {
        row.activity = Activity::kCollective;
        if (state.measured && awaited.kind != Awaited::Kind::kUnknown && awaited.peer >= 0)
            row.doing += ", waits for " + std::to_string(awaited.peer);
        return;
    }
    const bool to_send = state.measured && awaited.kind != Awaited::Kind::kUnknown
                             ? awaited.kind == Awaited::Kind::kRoom
                             : sends(doing.call);
    row.activity = to_send ? Activity::kSending : Activity::kReceiving;
    if (doing.call == Call::kWait) {
        if (state.measured && awaited.kind != Awaited::Kind::kUnknown)
            row.doing += peer_words(to_send ? " to " : " from ", awaited.peer);
        return;
    }
    const bool outward = sends(doing.call) || doing.call == Call::kBsendrecv;
    row.doing += peer_words(outward ? " to " : " from ", doing.peer);
    if (doing.type >= 0) row.doing += " type " + std::to_string(doing.type);
}

// Between two calls, or a program that knows no MPL.
void describe_process(const ProcessSum* processes, TaskRow& row) {
    const bool runs = processes == nullptr || processes->runs;
    row.activity = runs ? Activity::kComputing : Activity::kIdle;
    row.doing = runs ? "computes" : processes->disk ? "waits for a disk" : "sleeps";
}

}  // namespace

void describe(const pm::TaskState& state, const ProcessSum* processes, TaskRow& row) {
    using Life = pm::TaskState::Life;
    row.waits_ms = 0;
    if (state.life == Life::kEnded) return describe_end(state.wait_status, row);
    if (state.pid == 0) {
        row.activity = Activity::kNotStarted;
        row.doing = "not started";
        return;
    }
    if (state.life == Life::kInside && state.doing.call != Call::kNone)
        describe_call(state, row);
    else
        describe_process(processes, row);
    if (processes == nullptr || !processes->stopped) return;
    row.doing = "stopped, " + row.doing;
    row.activity = Activity::kStopped;
}

SegmentSource::SegmentSource(const pm::RunningJob& job, const std::string& node_name)
    : segment_(NodeSegment::watch(job.segment)), owner_(job.owner) {
    facts_.id = job.id;
    facts_.tasks = segment_.tasks();
    for (std::uint32_t node = 0; node < segment_.facts().nodes; ++node) {
        const bool here = static_cast<NodeIndex>(node) == segment_.facts().node;
        const std::string name = segment_.node_record(static_cast<NodeIndex>(node)).name;
        facts_.nodes.push_back(!name.empty() ? name : here ? node_name : std::to_string(node));
    }
    known_.resize(segment_.local_tasks());
}

Moment SegmentSource::elapsed(Clock::time_point now) const {
    return std::chrono::duration_cast<Moment>(
        now.time_since_epoch() - std::chrono::nanoseconds(segment_.facts().created_ns));
}

void SegmentSource::look_at_processes(Clock::time_point now) {
    const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(now - looked_);
    if (since < kLookEvery) return;
    const bool first = looked_ == Clock::time_point{};
    looked_ = now;
    sums_.look(owner_);
    std::set<std::string> programs;
    for (std::uint32_t index = 0; index < segment_.local_tasks(); ++index) {
        const pm::TaskState state = pm::look_at_task(segment_, index, now);
        Known& known = known_[index];
        known.processes.reset();
        if (state.life != pm::TaskState::Life::kEnded && state.pid > 0 && programs.size() < 4)
            programs.insert(pm::program_of_process(state.pid));
        if (state.life != pm::TaskState::Life::kEnded && state.pid > 0)
            known.processes = sums_.of(state.pid);
        if (!known.processes) {
            known.cpu_percent = -1;
            continue;
        }
        // It sleeps in that call, which may be over when the row is shown.
        if (state.doing.call != Call::kNone) known.processes->runs = true;
        const auto used = known.processes->cpu - known.cpu_before;
        if (!first) known.cpu_percent = static_cast<int>(std::max<long>(0, used * 100 / since));
        known.cpu_before = known.processes->cpu;
    }
    programs.erase("");
    if (programs.empty()) return;  // all have ended: it stays
    facts_.program.clear();
    for (const std::string& program : programs)
        facts_.program +=
            (facts_.program.empty() ? "" : ", ") + program.substr(program.rfind('/') + 1);
}

// A text that cannot be read just now stays as it was.
void SegmentSource::read_marks(const MarkerRow& marks, Known& known, TaskRow& row) const {
    for (std::size_t light = 0; light < row.lights.size(); ++light)
        row.lights[light] = std::min<std::uint8_t>(
            marks.lights[light].load(std::memory_order_relaxed), kMarkerColors);
    if (marks.last.load(std::memory_order_relaxed) != known.text.number)
        if (auto text = marks.text(); text && text->number > known.text.number)
            known.text = std::move(*text);
    row.text = known.text.text;
    row.text_count = known.text.number;
    row.progress.total = marks.total.load(std::memory_order_acquire);
    row.progress.done = std::min(marks.done.load(std::memory_order_acquire), row.progress.total);
}

void SegmentSource::put_rows(Model& model, Clock::time_point now, Moment moment, bool over) {
    look_at_processes(now);
    for (std::uint32_t index = 0; index < segment_.local_tasks(); ++index) {
        const pm::TaskState state = pm::look_at_task(segment_, index, now);
        Known& known = known_[index];
        TaskRow row;
        row.task = state.task;
        row.node = state.node;
        const bool alive = state.life != pm::TaskState::Life::kEnded && !over;
        describe(state, known.processes ? &*known.processes : nullptr, row);
        if (over && state.life != pm::TaskState::Life::kEnded) {
            row.activity = Activity::kUnknown;
            row.doing = "gone";
            row.waits_ms = 0;
        } else if (alive) {
            row.pid = state.pid;
            row.cpu_percent = known.cpu_percent;
            if (known.processes) row.memory = known.processes->memory;
        }
        read_marks(segment_.markers(index), known, row);
        model.put(std::move(row), moment);
    }
}

}  // namespace poe::markers
