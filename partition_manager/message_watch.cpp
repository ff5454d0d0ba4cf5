// What displays watch, as CBOR; see message_values.hpp. Apart since it is the largest part of the
// channel that is not about running the job.
#include <algorithm>
#include <stdexcept>

#include "partition_manager/message_values.hpp"

namespace poe::pm::wire {

Json pack(const TaskState& s) {
    Json notes = Json::array();
    for (const UnexpectedNote& note : s.unexpected.all())
        notes.push_back(Json::array({note.source, note.type, note.length}));
    return Json::array({s.task, s.node, static_cast<int>(s.life), s.pid, s.wait_status, s.measured,
                        static_cast<int>(s.awaited.kind), s.awaited.peer, s.awaited.type,
                        static_cast<int>(s.doing.call), s.doing.peer, s.doing.type, s.doing.bytes,
                        s.waits_ms, s.unmoved_ms, s.unlooked_ms, s.unexpected.count,
                        std::move(notes)});
}

TaskState unpack_state(const Json& json) {
    TaskState s;
    s.task = number<TaskId>(json.at(0));
    s.node = number<NodeIndex>(json.at(1));
    s.life = checked_enum(json.at(2), TaskState::Life::kEnded);
    s.pid = number<std::int32_t>(json.at(3));
    s.wait_status = number<int>(json.at(4));
    s.measured = json.at(5).get<bool>();
    s.awaited.kind = checked_enum(json.at(6), Awaited::Kind::kAll);
    s.awaited.peer = number<TaskId>(json.at(7));
    s.awaited.type = number<std::int32_t>(json.at(8));
    s.doing.call = static_cast<Call>(number<std::uint8_t>(json.at(9)));
    s.doing.peer = number<TaskId>(json.at(10));
    s.doing.type = number<std::int32_t>(json.at(11));
    s.doing.bytes = number<Bytes>(json.at(12));
    s.waits_ms = number<std::uint32_t>(json.at(13));
    s.unmoved_ms = number<std::uint32_t>(json.at(14));
    s.unlooked_ms = number<std::uint32_t>(json.at(15));
    s.unexpected.count = number<std::uint32_t>(json.at(16));
    for (const Json& note : items(json.at(17))) {
        if (s.unexpected.noted == UnexpectedView::kMost) throw std::out_of_range("notes");
        s.unexpected.notes[s.unexpected.noted++] = {number<TaskId>(note.at(0)),
                                                    number<std::int32_t>(note.at(1)),
                                                    number<Bytes>(note.at(2))};
    }
    return s;
}

Json pack(const WatchedTask& task) {
    const auto& lights = task.lights;
    const auto last = std::find_if(lights.rbegin(), lights.rend(), [](auto l) { return l != 0; });
    const ProcessesView& p = task.processes;
    return Json::array({pack(task.state),
                        Json::array({p.known, p.runs, p.stopped, p.disk, p.cpu_percent, p.memory}),
                        task.sent_per_second, task.received_per_second,
                        Json::binary({lights.begin(), last.base()}), task.text.number,
                        bytes(task.text.text), task.done, task.total});
}

WatchedTask unpack_watched(const Json& json) {
    WatchedTask task;
    task.state = unpack_state(json.at(0));
    const Json& processes = json.at(1);
    task.processes = {processes.at(0).get<bool>(),           processes.at(1).get<bool>(),
                      processes.at(2).get<bool>(),           processes.at(3).get<bool>(),
                      number<std::int32_t>(processes.at(4)), number<Bytes>(processes.at(5))};
    task.sent_per_second = number<Bytes>(json.at(2));
    task.received_per_second = number<Bytes>(json.at(3));
    const Binary& lights = json.at(4).get_binary();
    if (lights.size() > task.lights.size()) throw std::out_of_range("lights");
    std::transform(lights.begin(), lights.end(), task.lights.begin(),
                   [](std::uint8_t light) { return std::min<std::uint8_t>(light, kMarkerColors); });
    task.text.number = number<std::uint64_t>(json.at(5));
    task.text.text = text(json.at(6));
    if (task.text.text.size() > kMarkerBytes) throw std::out_of_range("text");
    task.done = number<std::uint64_t>(json.at(7));
    task.total = number<std::uint64_t>(json.at(8));
    return task;
}

}  // namespace poe::pm::wire
