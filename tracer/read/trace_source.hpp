// TraceSource: one trace, wherever its parts are: the streams, their writers, and their times on a
// common clock. Other formats are converted to streams (import_otf2.hpp), so that all views use one
// reader.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tracer/read/call_parts.hpp"
#include "tracer/read/clock_fit.hpp"
#include "tracer/read/cursor.hpp"
#include "tracer/read/findings.hpp"
#include "tracer/read/mapped_file.hpp"
#include "tracer/read/stream.hpp"
#include "tracer/read/trace_time.hpp"

namespace poe::trace {

struct TraceFacts {
    std::string program;
    std::string job;
    std::vector<std::string> nodes;  // names, by NodeIndex
    std::int32_t tasks = 0;
    int level = 0;
    std::vector<NodeIndex> node_of;  // by task
    // By task: the name that another tool has given it; empty if it has only a number.
    std::vector<std::string> names;
    // By task: true for the stream of a device, which does not compute.
    std::vector<bool> devices;

    bool is_device(TaskId task) const {
        const auto place = static_cast<std::size_t>(task);
        return place < devices.size() && devices[place];
    }
    // Returns "task 3", or the name that another tool has given the task.
    std::string task_name(TaskId task) const {
        const auto place = static_cast<std::size_t>(task);
        return place < names.size() && !names[place].empty() ? names[place]
                                                             : "task " + std::to_string(task);
    }
    std::size_t computing_tasks() const {
        return static_cast<std::size_t>(tasks) -
               static_cast<std::size_t>(std::count(devices.begin(), devices.end(), true));
    }
};

// An event: a record on the trace's time line.
struct Event {
    Time time{0};
    std::uint32_t stream = 0;
    std::uint64_t number = 0;  // of the record in its stream
    Record record;
    // Of a part of a kCall (TraceSource::parts_of): what would follow its record.
    struct Behind {
        Bytes bytes = 0;
        About about;
    };
    std::optional<Behind> behind{};
};

// Not thread-safe.
class TraceSource {
  public:
    // When to compare the blocks of a gathered trace with their checksums, which reads the whole
    // trace.
    enum class Checks { kNow, kLater };

    // Opens a gathered file, or the folder of the parts. Throws Error if nothing can be shown.
    // `before`: the same trace, opened earlier; data that it has read from streams that have only
    // grown are not read again. With kLater, call check() or take() before anything else.
    static TraceSource open(const std::string& path, const TraceSource* before = nullptr,
                            Checks checks = Checks::kNow);
    // The same from bytes in memory, which are copied.
    static TraceSource from_bytes(std::string_view bytes, const std::string& name);

    const TraceFacts& facts() const { return facts_; }
    // Returns the name in the trace, or "node 3".
    std::string node_name(NodeIndex node) const;
    const std::vector<Stream>& streams() const { return streams_; }
    // Sentences about what is missing or damaged.
    const std::vector<std::string>& problems() const { return problems_; }
    // Compares all blocks with their checksums. Reads the whole trace.
    void check();
    // findings() returns the results of reading the whole trace; take() restores those of the same
    // trace. take() returns false, and changes nothing, if they are of another trace.
    Findings findings() const;
    bool take(const Findings& findings);
    void add_problem(std::string sentence) { problems_.push_back(std::move(sentence)); }
    // The times of the first and the last record.
    Time begin() const { return begin_; }
    Time end() const { return end_; }
    // True while a stream is not closed, so that opening the trace again may find more records.
    bool open_ended() const { return open_ended_; }
    // The number of all records that exist, including holes.
    std::uint64_t records() const;
    Bytes size() const;
    // A value that is equal for equal contents of the trace's files and otherwise different, as far
    // as that can be determined without reading them.
    std::uint64_t identity() const { return identity_; }

    // Converts a stream's own time to the trace's clock.
    Time time_of(std::uint32_t stream, std::uint64_t time) const noexcept;
    // If this trace is `before`, grown: the last moment up to which both assign the same times to
    // records; kFarthest if they do so everywhere. Empty: it is a different trace, or no time is
    // the same.
    std::optional<Time> same_until(const TraceSource& before) const;
    // The home node, whose clock is the trace's clock.
    NodeIndex home() const { return home_; }
    // The fit of a node's clock; the identity for the home node.
    ClockFit clock(NodeIndex node) const;
    // Converts a moment of the trace to the clock of that node, before any repair of its streams.
    std::uint64_t node_time(NodeIndex node, Time moment) const;
    // True if the clock of that node was measured.
    bool is_measured(NodeIndex node) const { return measured_.contains(node); }
    // For each node except the home node, by node.
    const std::vector<ClockDoubt>& clock_doubts() const { return clock_doubts_; }
    // Sets better fits, derived from messages (repair.hpp). Changes all times of the trace.
    void set_clocks(const std::map<NodeIndex, ClockFit>& clocks, std::vector<ClockDoubt> doubts);

    // Repair (repair.hpp): moves a stream forward by `by`, from the moment `from` on. Moments are
    // those before any repair.
    void move_forward(std::uint32_t stream, Time from, Time by);
    Time before_repair(std::uint32_t stream, Time moment) const noexcept;
    Time farthest_move() const noexcept;
    // The result of the repair.
    void set_repaired(const Repaired& repaired);
    const std::optional<Repaired>& repaired() const { return repaired_; }

    // The text and bytes that follow an event in its stream.
    std::string text_of(const Event& event, std::size_t bytes) const {
        return text_behind(streams_[event.stream], event.number, bytes);
    }
    Bytes bytes_of(const Event& event) const {
        if (event.behind) return event.behind->bytes;
        return trace::bytes_of(streams_[event.stream], event.number, event.record);
    }
    // Message::line of the end of a message.
    std::uint32_t line_of(const Event& event) const {
        return event.record.detail == kNumberedByTag ? about_of(event).context : 0;
    }
    About about_of(const Event& event) const {
        if (event.behind) return event.behind->about;
        return trace::about_of(streams_[event.stream], event.number);
    }
    // Calls take(event) for what the event stands for: a kCall stands for the beginning or the end
    // of a call and for a message or collective operation, every other event for itself. A kCall
    // whose line is not defined stands for nothing.
    template <typename Take>
    void parts_of(const Event& event, Take&& take) const {
        if (event.record.kind != Kind::kCall) return take(event);
        const auto line = call_lines_.find(streams_[event.stream], event.stream, event.record.a);
        if (!line) return;
        CallParts parts(event.record, *line);
        while (const auto record = parts.next())
            take(Event{event.time, event.stream, event.number, *record,
                       Event::Behind{parts.bytes(), parts.about()}});
    }
    // The number of records that were read to determine the clocks.
    std::uint64_t clock_records_read() const { return clock_records_read_; }
    // The row of a task's stream; -1 for a node's stream.
    TaskId task_of(std::uint32_t stream) const { return streams_[stream].task; }
    // Releases the memory of what has been read.
    void forget() const noexcept;

  private:
    // The measurements of a node's stream up to a position before which nothing can change.
    struct ClockWalk {
        Cursor::Position at;
        std::vector<ClockFit::Sample> samples;
    };

    TraceSource() = default;
    void begin_with(FoundStreams found, const TraceSource* before, Checks checks);
    void tell_damage();
    void learn_facts(const std::string& json);
    void fit_clocks(const TraceSource* before);
    std::vector<ClockFit::Sample> measurements(std::uint32_t stream, const TraceSource* before);
    void find_ends();

    std::vector<MappedFile> files_;
    std::shared_ptr<void> memory_;
    std::vector<Stream> streams_;
    std::vector<ClockFit> fits_;     // by stream
    std::vector<ClockWalk> clocks_;  // by stream
    std::set<NodeIndex> measured_;
    std::vector<ClockDoubt> clock_doubts_;
    NodeIndex home_ = 0;
    std::map<NodeIndex, ClockFit> better_clocks_;
    std::optional<Repaired> repaired_;
    std::uint64_t clock_records_read_ = 0;
    mutable CallLinesOfTrace call_lines_;
    // By stream: the moment from which it is moved, and how far; both ascending.
    std::vector<std::map<Time, Time>> moves_;
    TraceFacts facts_;
    std::vector<std::string> problems_;
    Bytes size_ = 0;
    std::uint64_t base_ = 0;  // time 0, on the home node's clock
    Time begin_{0};
    Time end_{0};
    std::uint64_t identity_ = 0;
    bool open_ended_ = false;
};

}  // namespace poe::trace
