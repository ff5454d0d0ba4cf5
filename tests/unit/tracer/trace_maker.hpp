// Traces to test with, made of calls as tasks would have written them. Times are in microseconds.
#pragma once

#include <string>
#include <vector>

#include "tracer/probe/library_regions.hpp"
#include "tracer/read/stream_writer.hpp"
#include "tracer/read/trace_source.hpp"

namespace poe::trace::test {

inline constexpr std::uint64_t kOrigin = 5'000'000'000;
inline constexpr std::uint32_t kBsendCall = static_cast<std::uint32_t>(Call::kBsend);
inline constexpr std::uint32_t kBrecvCall = static_cast<std::uint32_t>(Call::kBrecv);
inline constexpr std::uint32_t kSyncCall = static_cast<std::uint32_t>(Call::kSync);
inline constexpr std::uint32_t kSendCall = static_cast<std::uint32_t>(Call::kSend);
inline constexpr std::uint32_t kWaitCall = static_cast<std::uint32_t>(Call::kWait);
inline constexpr std::uint32_t kStatusCall = static_cast<std::uint32_t>(Call::kStatus);
inline constexpr std::uint32_t kProbeCall = static_cast<std::uint32_t>(Call::kProbe);
inline constexpr std::uint32_t kBcastCall = static_cast<std::uint32_t>(Call::kBcast);
inline constexpr std::uint32_t kIbcastCall = kNonBlocking + kBcastCall;
inline constexpr std::uint32_t kCollwaitCall = static_cast<std::uint32_t>(Call::kCollwait);
inline constexpr std::uint32_t kSolve = kFirstUserRegion;
inline constexpr std::uint32_t kResidual = 7;  // a counter

inline constexpr std::uint64_t us(std::uint64_t count) {
    return count * 1000;
}

// What the stream of a node's daemon says of the job.
inline StreamFacts daemon_facts(NodeIndex node, std::int32_t tasks) {
    return {.kind = StreamKind::kNode,
            .task = -1,
            .node = node,
            .tasks = tasks,
            .origin = kOrigin,
            .wall = kOrigin,
            .job = "testjob",
            .node_name = "n" + std::to_string(node),
            .program = "solver"};
}

// A task's stream, with the regions and the site 1 defined.
inline StreamWriter task_stream(TaskId task, std::int32_t tasks, std::uint64_t capacity = 0,
                                NodeIndex node = 0, std::uint32_t version = kVersion) {
    StreamWriter out({.task = task,
                      .node = node,
                      .tasks = tasks,
                      .origin = kOrigin,
                      .wall = kOrigin,
                      .version = version,
                      .capacity = capacity,
                      .job = "testjob",
                      .node_name = "n" + std::to_string(node),
                      .program = "solver"});
    out.define(0, Defined::kRegion, kBsendCall, "mpc_bsend");
    out.define(0, Defined::kRegion, kBrecvCall, "mpc_brecv");
    out.define(0, Defined::kRegion, kSyncCall, "mpc_sync", 1);
    out.define(0, Defined::kRegion, kSolve, "solve", 2);
    out.define(0, Defined::kCounter, kResidual, "residual");
    out.define(0, Defined::kSite, 1, "/nowhere/solver", 0x1234);
    return out;
}

inline void send_call(StreamWriter& out, std::uint64_t from, std::uint64_t to, TaskId peer,
                      Bytes bytes = 1000, std::uint16_t number = 0) {
    const auto whom = static_cast<std::uint32_t>(peer);
    out.enter(us(from), kBsendCall, whom, 5, 1);
    out.send(us(from), whom, 5, bytes, number);
    out.leave(us(to), kBsendCall);
}

inline void receive_call(StreamWriter& out, std::uint64_t from, std::uint64_t to, TaskId peer,
                         Bytes bytes = 1000, std::uint16_t number = 0) {
    const auto whom = static_cast<std::uint32_t>(peer);
    out.enter(us(from), kBrecvCall, whom, 5, 1);
    out.receive(us(to), whom, 5, bytes, number);
    out.leave(us(to), kBrecvCall);
}

inline void sync_call(StreamWriter& out, std::uint64_t from, std::uint64_t to,
                      std::uint16_t number) {
    out.enter(us(from), kSyncCall, kNobody, 0, 1);
    out.collective(us(from), number, kNobody, 0, 0);
    out.leave(us(to), kSyncCall);
}

// Four tasks. Task 0 sends to 1 late (1 waits 300 us of its 400); 2 sends to 3, which comes late (2
// waits 200 us); all meet, task 3 is the last. Then markers, a counter, and the end.
inline std::vector<StreamWriter> small_streams(std::uint32_t version = kVersion) {
    std::vector<StreamWriter> tasks;
    tasks.reserve(4);
    for (TaskId task = 0; task < 4; ++task) tasks.push_back(task_stream(task, 4, 0, 0, version));
    tasks[0].enter(us(50), kSolve);
    tasks[0].leave(us(350), kSolve);
    send_call(tasks[0], 400, 500, 1, 5000);
    receive_call(tasks[1], 100, 500, 0, 5000);
    send_call(tasks[2], 100, 400, 3, 100'000);
    receive_call(tasks[3], 300, 400, 2, 100'000);
    const std::uint64_t entered[] = {600, 650, 700, 900};
    for (std::size_t task = 0; task < 4; ++task) {
        sync_call(tasks[task], entered[task], 910, 1);
        const Record light{.kind = Kind::kMarker, .detail = 2, .extra = 62, .a = 13};
        tasks[task].put(us(920), light, "after meeting");
        tasks[task].put(us(930), {.kind = Kind::kProgress, .detail = 0, .b = 30});
        tasks[task].put(us(930), {.kind = Kind::kProgress, .detail = 1, .b = 100});
        tasks[task].counter(us(940), kResidual, 0.5 * static_cast<double>(task));
        tasks[task].put(us(1000), {.kind = Kind::kTracing, .detail = 0});
    }
    return tasks;
}

inline std::string job_bytes(int tasks = 4, std::uint32_t version = kVersion) {
    std::string json = R"({"program":"solver","job":"testjob","level":9,"nodes":["n0"],"tasks":[)";
    for (int task = 0; task < tasks; ++task)
        json += std::string(task == 0 ? "" : ",") + R"({"node":0,"program":"solver"})";
    return job_stream(json + "]}", version);
}

inline std::string gathered(const std::vector<StreamWriter>& streams,
                            std::uint32_t version = kVersion) {
    std::string bytes = job_bytes(static_cast<int>(streams.size()), version);
    for (const StreamWriter& stream : streams) bytes += stream.bytes();
    return bytes;
}

inline TraceSource small_trace() {
    return TraceSource::from_bytes(gathered(small_streams()), "small");
}

}  // namespace poe::trace::test
