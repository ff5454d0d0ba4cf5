// Exports to Perfetto's native format: a trace is a sequence of length-prefixed packets in the wire
// format of protocol buffers, of which four kinds of fields are needed. The numbers are those of
// Perfetto's trace_packet.proto, track_descriptor.proto and track_event.proto.
#include <bit>
#include <map>
#include <ostream>

#include <fmt/format.h>

#include "tracer/exchange/export.hpp"
#include "tracer/read/packing.hpp"

namespace poe::trace {
namespace {

// Field numbers.
enum Field : std::uint64_t {
    kTracePacket = 1,
    kPacketTimestamp = 8,
    kPacketSequence = 10,
    kPacketTrackEvent = 11,
    kPacketTrackDescriptor = 60,
    kTrackUuid = 1,
    kTrackName = 2,
    kTrackProcess = 3,
    kTrackThread = 4,
    kTrackParent = 5,
    kTrackCounter = 8,
    kProcessPid = 1,
    kProcessName = 6,
    kThreadPid = 1,
    kThreadTid = 2,
    kThreadName = 5,
    kEventType = 9,
    kEventTrack = 11,
    kEventCategory = 22,
    kEventName = 23,
    kEventDouble = 44,
    kEventFlow = 47,
    kEventFlowEnd = 48,
};
enum EventType : std::uint64_t { kSliceBegin = 1, kSliceEnd = 2, kInstant = 3, kCounterValue = 4 };

// A protocol buffer message.
class Proto {
  public:
    Proto& number(Field field, std::uint64_t value) {
        out_.number(field << 3);
        out_.number(value);
        return *this;
    }
    Proto& fixed(Field field, std::uint64_t value) {
        out_.number(field << 3 | 1);
        out_.raw(value);
        return *this;
    }
    Proto& text(Field field, const std::string& text) {
        out_.number(field << 3 | 2);
        out_.text(text);
        return *this;
    }
    Proto& part(Field field, const Proto& part) { return text(field, part.bytes()); }
    const std::string& bytes() const { return out_.bytes(); }

  private:
    Packer out_;
};

class Perfetto : public ExportSink {
  public:
    explicit Perfetto(std::ostream& out) : out_(out) {}

    void begin(const TraceSource& source, const ExportRange& range) override {
        const TraceFacts& facts = source.facts();
        for (std::size_t node = 0; node < facts.nodes.size(); ++node) {
            Proto process;
            process.number(kProcessPid, node + 1).text(kProcessName, facts.nodes[node]);
            describe(Proto().number(kTrackUuid, kNodes + node).part(kTrackProcess, process));
        }
        for (TaskId task = 0; task < facts.tasks; ++task) {
            if (!range.has(task)) continue;
            const auto node =
                static_cast<std::uint64_t>(facts.node_of[static_cast<std::size_t>(task)]);
            Proto thread;
            thread.number(kThreadPid, node + 1)
                .number(kThreadTid, static_cast<std::uint64_t>(task) + 1)
                .text(kThreadName, facts.task_name(task));
            describe(Proto()
                         .number(kTrackUuid, track(task))
                         .number(kTrackParent, kNodes + node)
                         .part(kTrackThread, thread));
        }
    }
    void enter(TaskId task, Time at, const Region& region, const Site&) override {
        event(at, of(kSliceBegin, track(task))
                      .text(kEventCategory, region.of_user ? "user" : "call")
                      .text(kEventName, region.name));
    }
    void leave(const Interval& interval, const Region&) override {
        event(interval.to, of(kSliceEnd, track(interval.task)));
    }
    void message(const Message& message, std::uint64_t number) override {
        event(message.sent,
              of(kInstant, track(message.from))
                  .text(kEventCategory, category(message))
                  .text(kEventName, fmt::format("send {} bytes to {}", message.bytes, message.to))
                  .fixed(kEventFlow, number));
        event(message.received, of(kInstant, track(message.to))
                                    .text(kEventCategory, category(message))
                                    .text(kEventName, fmt::format("receive {} bytes from {}",
                                                                  message.bytes, message.from))
                                    .fixed(kEventFlowEnd, number));
    }
    void marker(TaskId task, Time at, const std::string& text) override {
        event(at, of(kInstant, track(task)).text(kEventCategory, "marker").text(kEventName, text));
    }
    void counter(TaskId task, Time at, const std::string& name, double value) override {
        const auto [known, is_new] =
            counters_.try_emplace({task, name}, kCounters + counters_.size());
        if (is_new)
            describe(Proto()
                         .number(kTrackUuid, known->second)
                         .text(kTrackName, name)
                         .number(kTrackParent, track(task))
                         .part(kTrackCounter, Proto()));
        event(at, of(kCounterValue, known->second)
                      .fixed(kEventDouble, std::bit_cast<std::uint64_t>(value)));
    }

  private:
    // Track numbers; the ranges of different kinds do not overlap.
    static constexpr std::uint64_t kNodes = 1;
    static constexpr std::uint64_t kTasks = std::uint64_t{1} << 32;
    static constexpr std::uint64_t kCounters = std::uint64_t{1} << 33;

    static const char* category(const Message& message) {
        return message.context == kUserMessages ? "message" : "collective message";
    }
    static std::uint64_t track(TaskId task) { return kTasks + static_cast<std::uint64_t>(task); }
    static Proto of(EventType type, std::uint64_t on_track) {
        return Proto().number(kEventType, type).number(kEventTrack, on_track);
    }
    void describe(const Proto& track) {
        packet(Proto().number(kPacketSequence, 1).part(kPacketTrackDescriptor, track));
    }
    void event(Time at, const Proto& event) {
        packet(
            Proto()
                .number(kPacketTimestamp, static_cast<std::uint64_t>(std::max(at, Time{0}).count()))
                .number(kPacketSequence, 1)
                .part(kPacketTrackEvent, event));
    }
    void packet(const Proto& packet) { out_ << Proto().part(kTracePacket, packet).bytes(); }

    std::ostream& out_;
    std::map<std::pair<TaskId, std::string>, std::uint64_t> counters_;
};

}  // namespace

std::unique_ptr<ExportSink> perfetto_sink(std::ostream& out) {
    return std::make_unique<Perfetto>(out);
}

}  // namespace poe::trace
