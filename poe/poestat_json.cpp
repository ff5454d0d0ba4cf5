// The JSON output of poestat; see poestat_text.hpp.
#include <nlohmann/json.hpp>

#include "partition_manager/job/state_words.hpp"
#include "poe/poestat_text.hpp"

namespace poe::cli {
namespace {

using Json = nlohmann::ordered_json;
using pm::TaskState;

// Names may contain any bytes, but the result must be valid JSON.
std::string dump(const Json& json) {
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json job_json(const pm::RunningJob& job) {
    Json json;
    json["job"] = job.id;
    json["poe"] = job.poe == 0 ? Json() : Json(job.poe);
    json["uid"] = job.owner;
    json["tasks"] = job.tasks;
    json["nodes"] = job.nodes;
    json["seconds"] = seconds(job.elapsed);
    json["programs"] = job.programs;
    json["directory"] = job.directory.empty() ? Json() : Json(job.directory);
    json["tasks_elsewhere"] = job.tasks_elsewhere;
    return json;
}

const char* life_name(const pm::TaskView& view) {
    if (view.state.life == TaskState::Life::kEnded) return "ended";
    if (!view.process) return view.state.pid == 0 ? "not started" : "gone";
    if (view.state.life == TaskState::Life::kOutside) return "no message-passing call yet";
    return view.state.doing.call == Call::kNone ? (view.state.idle ? "idle" : "computing")
                                                : "in a call";
}

// Null: any task.
Json task_json(TaskId task) {
    if (task < 0) return {};
    return task == kTaskOfOtherJob ? Json("another job") : Json(task);
}

Json task_json(const pm::TaskView& view, const std::string& node) {
    const TaskState& state = view.state;
    Json json;
    json["task"] = state.task;
    json["node"] = node;
    json["state"] = life_name(view);
    json["text"] = state_in_words(view);
    json["stopped"] = state.stopped;
    if (view.process) {
        json["pid"] = state.pid;
        json["cpu_seconds"] = seconds(view.process->cpu);
        json["memory_bytes"] = view.process->memory;
    }
    if (state.life != TaskState::Life::kInside || state.doing.call == Call::kNone) return json;
    json["call"] = call_name(state.doing.call);
    json["peer"] = task_json(state.doing.peer);
    json["type"] = state.doing.type < 0 ? Json() : Json(state.doing.type);
    if (const std::string name = pm::communicator_in_words(state); !name.empty())
        json["communicator"] = name.substr(std::string_view(" in ").size());
    json["bytes"] = state.doing.bytes;
    json["waits_seconds"] = state.waits_ms / 1000.0;
    if (!state.measured) return json;
    if (state.awaited.kind != Awaited::Kind::kUnknown && state.awaited.peer >= 0)
        json["waits_for"] = task_json(state.awaited.peer);
    if (const CollectiveProgress& progress = state.awaited.progress;
        progress.path != CollectivePath::kUnknown)
        json["carried_out"] = {{"path", collective_path_name(progress.path)},
                               {"round", progress.round},
                               {"rounds", progress.rounds}};
    json["unexpected"] = state.unexpected.count;
    for (const UnexpectedNote& note : state.unexpected.all())
        json["unexpected_oldest"].push_back(
            {{"source", task_json(note.source)}, {"type", note.type}, {"bytes", note.length}});
    return json;
}

}  // namespace

std::string jobs_json(std::span<const pm::RunningJob> jobs) {
    Json json = Json::array();
    for (const pm::RunningJob& job : jobs) json.push_back(job_json(job));
    return dump(json);
}

std::string tasks_json(std::span<const pm::RunningJob> jobs, std::span<const pm::TaskView> tasks,
                       const std::string& node) {
    Json json = job_json(jobs.front());
    for (const pm::RunningJob& spawned : jobs.subspan(1)) json["spawned"].push_back(spawned.id);
    json["task_states"] = Json::array();
    for (const pm::TaskView& view : tasks)
        json["task_states"].push_back(
            task_json(view, view.elsewhere.empty() ? node : view.elsewhere));
    return dump(json);
}

std::string deadlocks_json(std::span<const JobFindings> jobs) {
    Json json = Json::array();
    for (const auto& [job, findings] : jobs) {
        Json one;
        one["job"] = job.id;
        one["poe"] = job.poe == 0 ? Json() : Json(job.poe);
        one["deadlock"] = !findings.stuck.empty();
        one["stuck"] = findings.stuck;
        one["cycles"] = findings.cycles;
        one["lines"] = findings.lines;
        one["tasks_elsewhere"] = job.tasks_elsewhere;
        json.push_back(std::move(one));
    }
    return dump(json);
}

}  // namespace poe::cli
