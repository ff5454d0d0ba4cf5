// JobOutput: the standard output and standard error of all tasks on their way from the daemons to poe's own
// streams, or to files: labels, order, folding, a flush, and what is kept of the last lines.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

#include "partition_manager/channel/frame.hpp"
#include "partition_manager/channel/messages.hpp"
#include "partition_manager/job/job.hpp"
#include "partition_manager/job/name_pattern.hpp"
#include "partition_manager/stdio/escape_filter.hpp"
#include "partition_manager/stdio/folded_output.hpp"
#include "partition_manager/stdio/line_formatter.hpp"
#include "partition_manager/stdio/ordered_output.hpp"
#include "partition_manager/stdio/output_files.hpp"
#include "partition_manager/stdio/output_tails.hpp"
#include "partition_manager/stdio/output_writer.hpp"

namespace poe::pm {

struct OutputOptions {
    bool labels = false;              // -labelio
    std::string label_format;         // MP_LABELFORMAT; empty: the task's number
    std::string outfile;              // -outfile, a pattern; empty: poe's standard output
    std::string errfile;              // -errfile, likewise
    std::string temporary_directory;  // for ordered output that is too large for memory
    bool protect_terminals = false;   // a display uses them: output may not move the cursor
};

// For the thread of the loop. Only finish() blocks.
class JobOutput {
  public:
    struct Handlers {
        std::function<void()> on_closed;                   // the reader of standard output is gone
        std::function<void(const std::string&)> on_error;  // "cannot write standard output: ..."
        std::function<void(FrameKind)> on_room;            // daemons may send more of this stream
        std::function<void(const StdoutFlushed&)> on_flushed;
    };

    // Descriptors 1 and 2 of this process are written. `job` must outlive this; its stdout_mode and
    // its tasks may change.
    JobOutput(asio::io_context& loop, const JobSpec& job, OutputOptions options, Handlers handlers);

    // Output of a task, or the time at which the next output was read (kFlagTime). The task must be one
    // of the job.
    void on_frame(const Frame& frame);
    // Whether so little waits for poe's readers that daemons may send more.
    bool has_room(FrameKind stream) const;
    // Writes what has been kept so far, in the order of the mode before, and then reports on_flushed;
    // `flushed` has the mode from now on, which the job must have already.
    void flush(StdoutFlushed flushed);
    // The job has another number of tasks.
    void set_tasks();
    // The readers have taken something, or a writer has failed.
    void on_progress();
    // All tasks have ended: writes the rest, at the pace of the readers. False: given up because
    // `impatient` returned true; only _exit may follow.
    bool finish(const std::function<bool()>& impatient);

    // Bytes that wait for readers.
    std::size_t backlog() const;
    const OutputTails& stderr_tails() const { return stderr_tails_; }
    // What a task has written last, to either stream.
    std::vector<std::string> last_lines(TaskId task, std::size_t lines) const {
        return all_tails_.last_lines(task, lines);
    }

  private:
    // One of poe's outputs, with what leads to it.
    struct Stream {
        std::unique_ptr<OutputWriter> own_writer;
        OutputWriter* writer = nullptr;
        std::unique_ptr<LineFormatter> own_formatter;
        LineFormatter* formatter = nullptr;
        std::unordered_map<TaskId, std::chrono::system_clock::time_point>
            times;                           // of the last read
        std::unique_ptr<OutputFiles> files;  // instead
        bool filtered = false;               // it is a terminal with a display
        std::unordered_map<TaskId, EscapeFilter> filters;

        std::size_t backlog() const { return files ? files->backlog() : writer->backlog(); }
    };

    Stream& stream(FrameKind kind) { return kind == FrameKind::kStdout ? stdout_ : stderr_; }
    const Stream& stream(FrameKind kind) const {
        return kind == FrameKind::kStdout ? stdout_ : stderr_;
    }
    std::unique_ptr<OrderedOutput> make_ordered() const;
    std::string_view shown_part(const Frame& frame);
    void deliver(FrameKind kind, TaskId task, std::string_view data, bool open);
    void keep_ordered(TaskId task, std::string_view data);
    void fold(TaskId task, std::string_view data);
    void write_folded();
    void write_released();

    asio::io_context& loop_;
    const JobSpec& job_;
    OutputOptions options_;
    Handlers handlers_;
    Stream stdout_;
    Stream stderr_;
    std::string shown_;                                         // storage of shown_part()
    LineTime line_time_{{}, std::chrono::system_clock::now()};  // of what is being written
    std::unique_ptr<OrderedOutput> ordered_;
    bool ordered_failed_ = false;
    FoldedOutput folded_;
    asio::steady_timer folded_timer_;
    std::unique_ptr<OrderedOutput> releasing_;  // what a flush writes
    std::optional<StdoutFlushed> flushed_;      // reported when it has been written
    OutputTails stderr_tails_;                  // for the report
    OutputTails all_tails_;                     // for displays
};

}  // namespace poe::pm
