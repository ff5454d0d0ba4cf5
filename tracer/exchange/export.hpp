// Exports traces to other formats. All writers are listeners of one pass over the trace.
#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <set>
#include <string_view>

#include "tracer/analysis/session.hpp"

namespace poe::trace {

enum class ExportFormat : std::uint8_t { kCsv, kChrome, kPerfetto, kOtf2 };

struct ExportRange {
    Stretch stretch;
    std::optional<std::set<TaskId>> tasks;  // empty: all

    bool has(TaskId task) const { return task >= 0 && (!tasks || tasks->contains(task)); }
    bool has(Time moment) const { return moment >= stretch.from && moment <= stretch.to; }
};

// A sample of a thread.
struct ExportedSample {
    std::uint32_t thread = 0;
    std::uint32_t path = 0;   // a number of ExportSink::call_path; 0: the stack is not known
    std::uint16_t count = 1;  // how many periods it stands for
    bool slept = false;       // these are of elapsed time, otherwise of the thread's processor time
};

// Receives the contents of an export in order of time. Calls that began before the range begin with
// it; calls that continue after it end with it.
class ExportSink {
  public:
    virtual ~ExportSink() = default;
    virtual void begin(const TraceSource&, const ExportRange&) {}
    // `site`: the place of the call; without an object if it is unknown.
    virtual void enter(TaskId task, Time at, const Region& region, const Site& site) = 0;
    virtual void leave(const Interval& interval, const Region& region) = 0;
    // Called when the later end of the message is reached; `number` counts messages from 1.
    virtual void message(const Message& message, std::uint64_t number) = 0;
    // One end of a message, when it is reached; for formats in which both ends are events.
    virtual void message_end(TaskId, Time, const Event&, Bytes) {}
    virtual void collective(TaskId, Time, const Event&, Bytes) {}
    virtual void marker(TaskId task, Time at, const std::string& text) = 0;
    virtual void counter(TaskId task, Time at, const std::string& name, double value) = 0;
    // Call stacks: the period that each sample stands for; each call path before it is used, with
    // the path of its caller, 0 if it has none, and the place in the function; the samples
    // themselves.
    virtual void sample_period(Time) {}
    virtual void call_path(std::uint32_t, std::uint32_t, const Site&) {}
    virtual void sample(TaskId, Time, const ExportedSample&) {}
    virtual void end() {}
};

// Makes a pass over the trace. Throws what the sink throws.
void export_trace(const TraceSource& source, const ExportRange& range, ExportSink& sink,
                  const std::function<void(double)>& progress);

// Sinks that write to a stream, which must outlive them. The caller owns the sinks.
std::unique_ptr<ExportSink> csv_sink(std::ostream& out);
std::unique_ptr<ExportSink> chrome_sink(std::ostream& out);
std::unique_ptr<ExportSink> perfetto_sink(std::ostream& out);
// Creates an archive in this folder, which must not exist. Throws Error that names the folder.
std::unique_ptr<ExportSink> otf2_sink(const std::string& folder);

}  // namespace poe::trace
