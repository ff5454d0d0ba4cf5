// Implementation of keyframe.hpp.
#include "tracer/analysis/keyframe.hpp"

#include <algorithm>
#include <bit>

namespace poe::trace {
namespace {

void pack(Packer& out, const CallFrame& frame) {
    out.number(frame.region);
    out.number(frame.site);
    out.number(frame.peer + 1);  // gives kNobody a short encoding
    out.number(frame.type);
    out.time(frame.since);
    out.time(frame.inner);
    out.number(frame.bytes);
    out.time(frame.waited_until);
    out.time(frame.received);
    out.number(frame.collective);
    out.number(frame.path);
    out.number(frame.round);
    out.number(frame.rounds);
    out.time(frame.round_since);
}

CallFrame frame_of(Unpacker& in) {
    CallFrame frame;
    frame.region = static_cast<std::uint32_t>(in.number());
    frame.site = static_cast<std::uint32_t>(in.number());
    frame.peer = static_cast<std::uint32_t>(in.number()) - 1;
    frame.type = static_cast<std::uint32_t>(in.number());
    frame.since = in.bounded_time();
    frame.inner = in.bounded_time();
    frame.bytes = in.number();
    frame.waited_until = in.bounded_time();
    frame.received = in.bounded_time();
    frame.collective = in.number();
    frame.path = static_cast<std::uint32_t>(in.number());
    frame.round = static_cast<std::uint32_t>(in.number());
    frame.rounds = static_cast<std::uint32_t>(in.number());
    frame.round_since = in.bounded_time();
    return frame;
}

void pack(Packer& out, const OpenSend& send) {
    out.number(static_cast<std::uint64_t>(send.to));
    out.number(send.type);
    out.number(send.number);
    out.number(send.line);
    out.number((send.received ? 1u : 0u) | (send.ends_later ? 2u : 0u));
    out.time(send.sent);
    out.time(send.call_since);
    out.time(send.came);
}

OpenSend open_send_of(Unpacker& in, std::size_t tasks) {
    OpenSend send;
    send.to = static_cast<TaskId>(std::min<std::uint64_t>(in.number(), tasks - 1));
    send.type = static_cast<std::uint32_t>(in.number());
    send.number = static_cast<std::uint16_t>(in.number());
    send.line = static_cast<std::uint32_t>(in.number());
    const std::uint64_t flags = in.number();
    send.received = (flags & 1) != 0;
    send.ends_later = (flags & 2) != 0;
    send.sent = in.bounded_time();
    send.call_since = in.bounded_time();
    send.came = in.bounded_time();
    return send;
}

void pack(Packer& out, const TaskTimeline& task) {
    out.number(task.seen ? static_cast<std::uint64_t>(task.state) + 1 : 0);
    if (!task.seen) return;
    out.number(task.ended ? 1 : 0);
    out.time(task.since);
    out.number(task.region);
    out.time(task.region_since);
    for (const Time time : task.spent) out.time(time);
    out.number(task.sends);
    out.number(task.receives);
    out.number(task.collectives);
    out.number(task.bytes_sent);
    out.number(task.bytes_received);
    out.number(task.inner_sends);
    out.number(task.inner_bytes);
    pack(out, task.last_call);
    out.time(task.last_left);
    out.number((task.notes_ends ? 1u : 0u) | (task.polled ? 2u : 0u) | (task.probe ? 4u : 0u));
    if (task.polled) out.time(*task.polled);
    if (task.probe) {
        pack(out, *task.probe);
        out.time(task.probe_left);
    }
    out.number(task.open_sends.size());
    for (const OpenSend& send : task.open_sends) pack(out, send);
    out.number(task.frames.size());
    for (const CallFrame& frame : task.frames) pack(out, frame);
}

TaskTimeline task_of(Unpacker& in, std::size_t tasks) {
    TaskTimeline task;
    const std::uint64_t state = in.number();
    if (state == 0) return task;
    task.seen = true;
    task.state = static_cast<State>(std::min<std::uint64_t>(state - 1, kStates - 1));
    task.ended = in.number() != 0;
    task.since = in.bounded_time();
    task.region = static_cast<std::uint32_t>(in.number());
    task.region_since = in.bounded_time();
    for (Time& time : task.spent) time = in.bounded_time();
    task.sends = in.number();
    task.receives = in.number();
    task.collectives = in.number();
    task.bytes_sent = in.number();
    task.bytes_received = in.number();
    task.inner_sends = in.number();
    task.inner_bytes = in.number();
    task.last_call = frame_of(in);
    task.last_left = in.bounded_time();
    const std::uint64_t flags = in.number();
    task.notes_ends = (flags & 1) != 0;
    if ((flags & 2) != 0) task.polled = in.bounded_time();
    if ((flags & 4) != 0) {
        task.probe = frame_of(in);
        task.probe_left = in.bounded_time();
    }
    for (std::size_t left = in.count(); left > 0 && in.fine(); --left)
        task.open_sends.push_back(open_send_of(in, tasks));
    const std::size_t frames = in.count();
    for (std::size_t i = 0; i < frames && in.fine(); ++i) task.frames.push_back(frame_of(in));
    return task;
}

void pack(Packer& out, const InCall& in) {
    out.time(in.since);
    out.number(in.region);
    out.number(in.site);
}

InCall in_call_of(Unpacker& in) {
    InCall call;
    call.since = in.bounded_time();
    call.region = static_cast<std::uint32_t>(in.number());
    call.site = static_cast<std::uint32_t>(in.number());
    return call;
}

// The properties of a region other than its name: the state, the data flow, and flags.
constexpr unsigned kFlags = 6;

std::uint64_t bits_of(const Region& region) {
    std::uint64_t bits = static_cast<std::uint64_t>(region.state) * kDataFlows +
                         static_cast<std::uint64_t>(region.flow);
    for (const bool flag : {region.of_user, region.awaits_sender, region.awaits_receiver,
                            region.starts_only, region.synchronises_window, region.locks_window})
        bits = bits << 1 | (flag ? 1 : 0);
    return bits;
}

void take_bits(Region& region, std::uint64_t bits) {
    const std::uint64_t state = (bits >> kFlags) / kDataFlows;
    region.state = static_cast<State>(std::min<std::uint64_t>(state, kStates - 1));
    region.flow = static_cast<DataFlow>((bits >> kFlags) % kDataFlows);
    unsigned at = kFlags;
    for (bool* flag : {&region.of_user, &region.awaits_sender, &region.awaits_receiver,
                       &region.starts_only, &region.synchronises_window, &region.locks_window})
        *flag = (bits >> --at & 1) != 0;
}

void pack(Packer& out, const std::vector<Message>& messages) {
    out.number(messages.size());
    for (const Message& message : messages) {
        out.number(static_cast<std::uint64_t>(message.from));
        out.number(static_cast<std::uint64_t>(message.to));
        out.number(message.type);
        out.number(message.context);
        out.number(message.number);
        out.number(message.line);
        out.number(message.bytes);
        out.time(message.sent);
        out.time(message.received);
        pack(out, message.send_in);
        pack(out, message.receive_in);
        out.time(message.hold.from);
        out.time(message.hold.to);
        out.number(message.hold.region);
        out.number(message.hold.site);
    }
}

std::vector<Message> messages_of(Unpacker& in, std::size_t tasks) {
    std::vector<Message> messages;
    const std::size_t count = in.count();
    for (std::size_t i = 0; i < count && in.fine(); ++i) {
        Message message;
        const std::uint64_t from = in.number();
        const std::uint64_t to = in.number();
        message.from = static_cast<TaskId>(from);
        message.to = static_cast<TaskId>(to);
        message.type = static_cast<std::uint32_t>(in.number());
        message.context = static_cast<std::uint8_t>(in.number());
        message.number = static_cast<std::uint16_t>(in.number());
        message.line = static_cast<std::uint32_t>(in.number());
        message.bytes = in.number();
        message.sent = in.bounded_time();
        message.received = in.bounded_time();
        message.send_in = in_call_of(in);
        message.receive_in = in_call_of(in);
        message.hold.from = in.bounded_time();
        message.hold.to = in.bounded_time();
        message.hold.region = static_cast<std::uint32_t>(in.number());
        message.hold.site = static_cast<std::uint32_t>(in.number());
        if (from < tasks && to < tasks) messages.push_back(message);
    }
    return messages;
}

void pack_marks(Packer& out, const std::map<TaskId, Marks>& all) {
    out.number(all.size());
    for (const auto& [task, marks] : all) {
        out.number(static_cast<std::uint64_t>(task));
        std::size_t used = marks.lights.size();
        while (used > 0 && marks.lights[used - 1] == 0) --used;
        out.number(used);
        for (std::size_t i = 0; i < used; ++i) out.number(marks.lights[i]);
        out.number(marks.texts);
        out.text(marks.text);
        out.number(marks.done);
        out.number(marks.total);
    }
}

std::map<TaskId, Marks> marks_of(Unpacker& in, std::size_t tasks) {
    std::map<TaskId, Marks> all;
    const std::size_t count = in.count();
    for (std::size_t i = 0; i < count && in.fine(); ++i) {
        const std::uint64_t task = in.number();
        Marks marks;
        const std::size_t used = in.count();
        for (std::size_t light = 0; light < used && in.fine(); ++light) {
            const auto color = static_cast<std::uint8_t>(in.number());
            if (light < marks.lights.size() && color <= kMarkerColors) marks.lights[light] = color;
        }
        marks.texts = in.number();
        marks.text = in.text();
        marks.done = in.number();
        marks.total = in.number();
        if (task < tasks) all[static_cast<TaskId>(task)] = std::move(marks);
    }
    return all;
}

}  // namespace

void pack(Packer& out, const EventMerge& merge, const Replay& replay) {
    const EventMerge::Positions positions = merge.positions();
    out.number(positions.size());
    for (const Cursor::Position& at : positions) {
        out.number(at.number);
        out.number(at.time);
        out.number(at.ending ? 1 : 0);
    }
    const JobState& state = replay.state();
    out.time(state.now);
    out.number(state.tasks.size());
    for (const TaskTimeline& task : state.tasks) pack(out, task);
    pack_marks(out, state.marks);
    out.number(state.counters.size());
    for (const auto& [key, value] : state.counters) {
        out.number(key.first);
        out.number(key.second);
        out.number(std::bit_cast<std::uint64_t>(value));
    }
    out.number(state.system.size());
    for (const auto& [key, value] : state.system) {
        out.time(Time(key.first));
        out.number(key.second);
        out.number(value);
    }
    for (const std::uint64_t sum :
         {state.events, state.messages, state.inner_messages, state.backwards, state.lost})
        out.number(sum);
    pack(out, replay.messages().waiting(true));
    pack(out, replay.messages().waiting(false));
    out.number(replay.meetings().size());
    for (const auto& [call, meeting] : replay.meetings()) {
        out.number(call);
        out.number(meeting.inside);
        out.number(static_cast<std::uint64_t>(meeting.last));
        out.time(meeting.last_entered);
        out.number(static_cast<std::uint64_t>(meeting.root + 1));
        out.time(meeting.root_entered);
        out.number(static_cast<std::uint64_t>(meeting.flow));
    }
}

std::optional<Keyframe> unpack_keyframe(std::span<const std::byte> bytes, std::size_t tasks,
                                        std::size_t streams) {
    Unpacker in(bytes);
    Keyframe frame;
    if (in.count() != streams) return std::nullopt;
    for (std::size_t i = 0; i < streams; ++i) {
        const std::uint64_t number = in.number();
        const std::uint64_t time = in.number();
        frame.positions.push_back({number, time, in.number() != 0});
    }
    JobState& state = frame.state;
    state.now = in.bounded_time();
    if (in.count() != tasks) return std::nullopt;
    for (std::size_t i = 0; i < tasks; ++i) state.tasks.push_back(task_of(in, tasks));
    state.marks = marks_of(in, tasks);
    for (std::size_t left = in.count(); left > 0 && in.fine(); --left) {
        const auto stream = static_cast<std::uint32_t>(in.number());
        const auto counter = static_cast<std::uint32_t>(in.number());
        state.counters[{stream, counter}] = std::bit_cast<double>(in.number());
    }
    for (std::size_t left = in.count(); left > 0 && in.fine(); --left) {
        const auto subject = static_cast<Subject>(in.time().count());
        const auto metric = static_cast<std::uint8_t>(in.number());
        state.system[{subject, metric}] = in.number();
    }
    for (std::uint64_t* sum :
         {&state.events, &state.messages, &state.inner_messages, &state.backwards, &state.lost})
        *sum = in.number();
    frame.sends = messages_of(in, tasks);
    frame.receives = messages_of(in, tasks);
    for (std::size_t left = in.count(); left > 0 && in.fine(); --left) {
        const std::uint64_t call = in.number();
        const auto inside = static_cast<std::uint32_t>(in.number());
        const std::uint64_t last = in.number();
        const Time entered = in.bounded_time();
        const std::uint64_t root = in.number();
        const Time root_entered = in.bounded_time();
        const auto flow = static_cast<DataFlow>(in.number() % kDataFlows);
        if (inside > 0 && last < tasks && root <= tasks)
            frame.meetings[call] = {inside,       static_cast<TaskId>(last),
                                    entered,      static_cast<TaskId>(root) - 1,
                                    root_entered, flow};
    }
    return in.fine() ? std::optional(std::move(frame)) : std::nullopt;
}

void pack(Packer& out, const Definitions& definitions) {
    const Definitions::Tables tables = definitions.tables();
    out.number(tables.regions.size());
    for (const Region& region : tables.regions) {
        out.text(region.name);
        out.number(bits_of(region));
    }
    out.number(tables.counters.size());
    for (const std::string& name : tables.counters) out.text(name);
    out.number(tables.sites.size());
    for (const Site& site : tables.sites) {
        out.text(site.object);
        out.number(site.address << 1 | (site.is_line ? 1 : 0));
    }
    for (const auto* names : {&tables.region_ids, &tables.counter_ids, &tables.site_ids}) {
        out.number(names->size());
        for (const auto& [key, number] : *names) {
            out.number(key);
            out.number(number);
        }
    }
}

std::optional<Definitions::Tables> unpack_definitions(std::span<const std::byte> bytes) {
    Unpacker in(bytes);
    Definitions::Tables tables;
    for (std::size_t left = in.count(); left > 0 && in.fine(); --left) {
        Region region;
        region.name = in.text();
        take_bits(region, in.number());
        tables.regions.push_back(std::move(region));
    }
    for (std::size_t left = in.count(); left > 0 && in.fine(); --left)
        tables.counters.push_back(in.text());
    for (std::size_t left = in.count(); left > 0 && in.fine(); --left) {
        std::string object = in.text();
        const std::uint64_t place = in.number();
        tables.sites.push_back({std::move(object), place >> 1, (place & 1) != 0});
    }
    for (auto* names : {&tables.region_ids, &tables.counter_ids, &tables.site_ids})
        for (std::size_t left = in.count(); left > 0 && in.fine(); --left) {
            const std::uint64_t key = in.number();
            (*names)[key] = static_cast<std::uint32_t>(in.number());
        }
    return in.fine() ? std::optional(std::move(tables)) : std::nullopt;
}

}  // namespace poe::trace
