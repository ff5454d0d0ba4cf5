// TraceSource: one trace, wherever its parts are: the streams, who wrote them, their times on one
// clock. Other formats are played by turning them into streams (import_otf2.hpp), so that there is
// one reader behind all views.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

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
    // By task, as another tool has named it; empty where there is nothing but its number.
    std::vector<std::string> names;
    // By task: a stream of a device, which computes nothing itself.
    std::vector<bool> devices;

    bool is_device(TaskId task) const {
        const auto place = static_cast<std::size_t>(task);
        return place < devices.size() && devices[place];
    }
    // "task 3", or what another tool calls it.
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

// What one event is: a record on the trace's time line.
struct Event {
    Time time{0};
    std::uint32_t stream = 0;
    std::uint64_t number = 0;  // of the record in its stream
    Record record;
};

// Not thread-safe.
class TraceSource {
  public:
    // When the blocks of a gathered trace are compared with their checksums, which reads all of it.
    enum class Checks { kNow, kLater };

    // A gathered file, or the folder of the parts. Throws Error when nothing can be played.
    // `before`: the same, opened earlier; of what it has read of streams that have only grown,
    // nothing is read again. With kLater, check() or take() comes before anything else.
    static TraceSource open(const std::string& path, const TraceSource* before = nullptr,
                            Checks checks = Checks::kNow);
    // The same from bytes in memory, which the source takes.
    static TraceSource from_bytes(std::string_view bytes, const std::string& name);

    const TraceFacts& facts() const { return facts_; }
    // As the trace names it, or "node 3".
    std::string node_name(NodeIndex node) const;
    const std::vector<Stream>& streams() const { return streams_; }
    // What is missing or damaged, a sentence each.
    const std::vector<std::string>& problems() const { return problems_; }
    // Compares all blocks with their checksums.
    void check();
    // What has been found out by reading all of it; or takes what was found out about the same
    // trace before. False: the findings are not of this trace, and nothing has changed.
    Findings findings() const;
    bool take(const Findings& findings);
    void add_problem(std::string sentence) { problems_.push_back(std::move(sentence)); }
    // From the first to the last record.
    Time begin() const { return begin_; }
    Time end() const { return end_; }
    // True while some stream has not been closed: more may come for who opens it again.
    bool open_ended() const { return open_ended_; }
    // All records that are there; holes count.
    std::uint64_t records() const;
    Bytes size() const;
    // The same for the same content of a trace's files, another one otherwise, as far as can be
    // told without reading them.
    std::uint64_t identity() const { return identity_; }

    // A stream's own time on the trace's clock.
    Time time_of(std::uint32_t stream, std::uint64_t time) const noexcept;
    // Where this is what `before` was, grown: the last moment up to which both put records at the
    // same times; kFarthest when it is so everywhere. Nothing: it is something else, or no time of
    // it is as before.
    std::optional<Time> same_until(const TraceSource& before) const;
    // The home node, whose clock is the trace's.
    NodeIndex home() const { return home_; }
    // What fits the clock of a node of the trace; of the home node, nothing.
    ClockFit clock(NodeIndex node) const;
    // A moment of the trace on the clock of that node, before any repair of its streams.
    std::uint64_t node_time(NodeIndex node, Time moment) const;
    // True when the clock of that node was measured.
    bool is_measured(NodeIndex node) const { return measured_.contains(node); }
    // Of each node but the home node, by node.
    const std::vector<ClockDoubt>& clock_doubts() const { return clock_doubts_; }
    // Better fits, as messages bear out (repair.hpp). All times of the trace change.
    void set_clocks(const std::map<NodeIndex, ClockFit>& clocks, std::vector<ClockDoubt> doubts);

    // Repair (repair.hpp): from a moment of its own on, a stream is so much later than its clock
    // says. Moments are those before any repair.
    void move_forward(std::uint32_t stream, Time from, Time by);
    Time before_repair(std::uint32_t stream, Time moment) const noexcept;
    Time farthest_move() const noexcept;
    // What the repair has come to.
    void set_repaired(const Repaired& repaired);
    const std::optional<Repaired>& repaired() const { return repaired_; }

    // What stands behind an event in its stream.
    std::string text_of(const Event& event, std::size_t bytes) const {
        return text_behind(streams_[event.stream], event.number, bytes);
    }
    Bytes bytes_of(const Event& event) const {
        return trace::bytes_of(streams_[event.stream], event.number, event.record);
    }
    // Records that were read to open it, to know the clocks.
    std::uint64_t clock_records_read() const { return clock_records_read_; }
    // The row of a task's stream, -1 for a node's.
    TaskId task_of(std::uint32_t stream) const { return streams_[stream].task; }
    // Gives the memory of what has been read back.
    void forget() const noexcept;

  private:
    // The measurements of a node's stream up to a place before which nothing can change.
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
    // From which moment on a stream is how much later, rising; by stream.
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
