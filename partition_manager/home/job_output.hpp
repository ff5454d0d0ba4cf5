// JobOutput: takes the standard output and standard error of all tasks from the daemons to poe's
// own streams, or to files. It applies labels, ordering, folding and flushes, and keeps the last
// lines of each task.
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
    // A display uses the terminals, so output must not move the cursor.
    bool protect_terminals = false;
};

// Call only from the event loop's thread. Only finish() blocks.
class JobOutput {
  public:
    struct Handlers {
        // The reader of standard output has closed it.
        std::function<void()> on_closed;
        std::function<void(const std::string&)> on_error;  // "cannot write standard output: ..."
        std::function<void(FrameKind)> on_room;            // daemons may send more of this stream
        std::function<void(const StdoutFlushed&)> on_flushed;
    };

    // Writes to descriptors 1 and 2 of this process. `job` must outlive this object; its
    // stdout_mode and its tasks may change.
    JobOutput(asio::io_context& loop, const JobSpec& job, OutputOptions options, Handlers handlers);

    // Takes output of a task, or the time at which the following output was read (kFlagTime).
    // Precondition: the task belongs to the job.
    void on_frame(const Frame& frame);
    // True if the data waiting for poe's readers is small enough for daemons to send more.
    bool has_room(FrameKind stream) const;
    // Writes what has been kept so far, ordered according to the previous mode, and then calls
    // on_flushed. `flushed` contains the new mode; the job must already have this mode.
    void flush(StdoutFlushed flushed);
    // To be called when the number of tasks of the job has changed.
    void set_tasks();
    // To be called when the readers have taken data, or when a writer has failed.
    void on_progress();
    // To be called when all tasks have ended. Blocks until the rest is written, at the pace of the
    // readers. Returns false if it gave up because `impatient` returned true; only _exit may follow
    // then.
    bool finish(const std::function<bool()>& impatient);

    // From now on drops what the daemons send, because the readers take nothing and the job must
    // end: a daemon ends only when all of its output has been taken.
    void drop();

    // Number of bytes that wait for readers.
    std::size_t backlog() const;
    const OutputTails& stderr_tails() const { return stderr_tails_; }
    // The last lines that a task has written to either stream.
    std::vector<std::string> last_lines(TaskId task, std::size_t lines) const {
        return all_tails_.last_lines(task, lines);
    }

  private:
    // One of poe's outputs, with the stages before it.
    struct Stream {
        std::unique_ptr<OutputWriter> own_writer;
        OutputWriter* writer = nullptr;
        std::unique_ptr<LineFormatter> own_formatter;
        LineFormatter* formatter = nullptr;
        std::unordered_map<TaskId, std::chrono::system_clock::time_point>
            times;                           // when each task's next output was read
        std::unique_ptr<OutputFiles> files;  // if set: used instead of the writer
        bool filtered = false;               // this output is a terminal with a display
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
    LineTime line_time_{{}, std::chrono::system_clock::now()};  // of the output being written
    std::unique_ptr<OrderedOutput> ordered_;
    bool ordered_failed_ = false;
    bool dropping_ = false;
    FoldedOutput folded_;
    asio::steady_timer folded_timer_;
    std::unique_ptr<OrderedOutput> releasing_;  // what the current flush writes
    std::optional<StdoutFlushed> flushed_;      // reported when it has been written
    OutputTails stderr_tails_;                  // for the report
    OutputTails all_tails_;                     // for displays
};

}  // namespace poe::pm
