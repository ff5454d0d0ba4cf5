// See job_output.hpp.
#include "partition_manager/home/job_output.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <asio/post.hpp>

#include "base/error.hpp"

namespace poe::pm {
namespace {

// Limits for folding: how long lines are kept, and how many bytes of them.
constexpr std::chrono::milliseconds kFoldFor{100};
constexpr std::size_t kMostFolded = 2 << 20;

// If more than this waits for poe's own output, the daemons get no credit.
constexpr std::size_t kWriterBacklog = 4 << 20;

// Approximate memory for the last lines of all tasks.
constexpr std::size_t kTailMemory = 16 << 20;

bool same_file(int a, int b) {
    struct stat first = {};
    struct stat second = {};
    return ::fstat(a, &first) == 0 && ::fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

}  // namespace

JobOutput::JobOutput(asio::io_context& loop, const JobSpec& job, OutputOptions options,
                     Handlers handlers)
    : loop_(loop),
      job_(job),
      options_(std::move(options)),
      handlers_(std::move(handlers)),
      folded_timer_(loop),
      all_tails_(std::clamp(kTailMemory / std::max<std::size_t>(1, job.tasks.size()),
                            std::size_t{256}, std::size_t{4096})) {
    const auto progress = [this] { asio::post(loop_, [this] { on_progress(); }); };
    const LineFormatter formatter =
        options_.labels && !options_.label_format.empty()
            ? LineFormatter([this](TaskId task) {
                  return expand_pattern(options_.label_format, job_, task, line_time_);
              })
            : LineFormatter(options_.labels, static_cast<TaskId>(job_.tasks.size()));
    const auto make = [&](Stream& stream, int fd) {
        stream.own_writer = std::make_unique<OutputWriter>(fd, progress);
        stream.own_formatter = std::make_unique<LineFormatter>(formatter);
        stream.writer = stream.own_writer.get();
        stream.formatter = stream.own_formatter.get();
    };
    make(stdout_, STDOUT_FILENO);
    if (same_file(STDOUT_FILENO, STDERR_FILENO)) {
        // Both streams are one terminal or file, so they share a writer and a formatter, and lines
        // appear in the order of arrival.
        stderr_.writer = stdout_.writer;
        stderr_.formatter = stdout_.formatter;
    } else {
        make(stderr_, STDERR_FILENO);
    }
    if (!options_.outfile.empty())
        stdout_.files = std::make_unique<OutputFiles>(job_, options_.outfile, formatter, progress);
    if (!options_.errfile.empty())
        stderr_.files = std::make_unique<OutputFiles>(job_, options_.errfile, formatter, progress);
    for (const auto& [to, fd] : {std::pair(&stdout_, STDOUT_FILENO), {&stderr_, STDERR_FILENO}})
        to->filtered = options_.protect_terminals && !to->files && ::isatty(fd) == 1;
    ordered_ = make_ordered();
}

std::unique_ptr<OrderedOutput> JobOutput::make_ordered() const {
    if (job_.stdout_mode.kind != StdoutMode::Kind::kOrdered || stdout_.files) return nullptr;
    return std::make_unique<OrderedOutput>(static_cast<TaskId>(job_.tasks.size()),
                                           options_.temporary_directory);
}

void JobOutput::set_tasks() {
    if (ordered_) ordered_->set_tasks(static_cast<TaskId>(job_.tasks.size()));
    for (const Stream* stream : {&stdout_, &stderr_})
        if (stream->files) stream->files->set_tasks(job_);
}

void JobOutput::on_frame(const Frame& frame) {
    if ((frame.flags & kFlagTime) != 0) {
        stream(frame.kind).times[frame.task] = unpack_time(frame.payload);
        return;
    }
    if (frame.kind == FrameKind::kStderr) stderr_tails_.append(frame.task, frame.payload);
    all_tails_.append(frame.task, frame.payload);
    const std::string_view shown = shown_part(frame);
    if (frame.kind == FrameKind::kStdout && ordered_) {
        keep_ordered(frame.task, shown);
    } else if (frame.kind == FrameKind::kStdout && !stdout_.files &&
               job_.stdout_mode.kind == StdoutMode::Kind::kFolded) {
        fold(frame.task, shown);
    } else {
        deliver(frame.kind, frame.task, shown, (frame.flags & kFlagOpenLine) != 0);
    }
}

// Returns the part of a frame that may be shown. It is valid until the next call.
std::string_view JobOutput::shown_part(const Frame& frame) {
    Stream& to = stream(frame.kind);
    if (!to.filtered) return frame.payload;
    shown_.clear();
    to.filters[frame.task].pass(frame.payload, shown_);
    return shown_;
}

// If the data cannot be kept, the job ends and all later data is dropped.
void JobOutput::keep_ordered(TaskId task, std::string_view data) {
    if (ordered_failed_) return;
    try {
        ordered_->append(task, data);
    } catch (const Error& error) {
        ordered_failed_ = true;
        handlers_.on_error(error.what());
    }
}

void JobOutput::deliver(FrameKind kind, TaskId task, std::string_view data, bool open) {
    if (dropping_) return;
    Stream& to = stream(kind);
    if (to.files) return to.files->append(task, data, open);
    if (job_.stamp_output) {
        line_time_.written = to.times[task];
        to.formatter->relabel();
    }
    to.writer->append(
        [&](std::string& pending) { to.formatter->append(pending, task, data, open); });
}

// Keeps lines for a moment, because other tasks may write the same lines.
void JobOutput::fold(TaskId task, std::string_view data) {
    const bool first = folded_.empty();
    folded_.append(task, data);
    if (folded_.bytes() > kMostFolded) return write_folded();
    if (!first) return;
    folded_timer_.expires_after(kFoldFor);
    folded_timer_.async_wait([this](const asio::error_code& error) {
        if (error) return;
        write_folded();
        on_progress();
    });
}

void JobOutput::write_folded() {
    if (folded_.empty()) return;
    stdout_.writer->append([&](std::string& pending) { pending += folded_.give_out(); });
}

bool JobOutput::has_room(FrameKind kind) const {
    return dropping_ || stream(kind).backlog() <= kWriterBacklog;
}

void JobOutput::drop() {
    dropping_ = true;
    handlers_.on_room(FrameKind::kStdout);
    handlers_.on_room(FrameKind::kStderr);
}

std::size_t JobOutput::backlog() const {
    return stdout_.backlog() + stderr_.backlog();
}

void JobOutput::on_progress() {
    for (OutputWriter* writer : {stdout_.writer, stderr_.writer}) {
        const int error = writer->error();
        if (error == 0) continue;
        const bool is_stdout = writer == stdout_.writer;
        if (error != EPIPE)
            handlers_.on_error(std::string("cannot write standard ") +
                               (is_stdout ? "output: " : "error: ") + std::strerror(error));
        else if (is_stdout)
            handlers_.on_closed();
    }
    for (const Stream* stream : {&stdout_, &stderr_})
        if (stream->files)
            if (const std::string error = stream->files->error(); !error.empty())
                handlers_.on_error("cannot write " + error);
    handlers_.on_room(FrameKind::kStdout);
    handlers_.on_room(FrameKind::kStderr);
    write_released();
}

// All tasks wait for the flush. Output that arrives meanwhile comes from processes that the tasks
// have left.
void JobOutput::flush(StdoutFlushed flushed) {
    write_folded();
    releasing_ = std::exchange(ordered_, make_ordered());
    flushed_ = std::move(flushed);
    write_released();
}

// Writes as much as the reader accepts, and the rest when the reader has read more.
void JobOutput::write_released() {
    if (!flushed_) return;
    try {
        if (releasing_ && !releasing_->give_out([this](TaskId task, std::string_view data) {
                deliver(FrameKind::kStdout, task, data, data.back() != '\n');
                return has_room(FrameKind::kStdout) && stdout_.writer->error() == 0;
            }))
            return;
    } catch (const Error& error) {
        handlers_.on_error(error.what());
    }
    releasing_.reset();
    handlers_.on_flushed(*std::exchange(flushed_, std::nullopt));
}

bool JobOutput::finish(const std::function<bool()>& impatient) {
    bool given_up = false;
    const auto stop = [&] { return given_up = given_up || impatient(); };
    write_folded();
    for (OrderedOutput* kept : {releasing_.get(), ordered_.get()}) {
        if (kept == nullptr) continue;
        try {
            kept->give_out([&](TaskId task, std::string_view data) {
                deliver(FrameKind::kStdout, task, data, data.back() != '\n');
                return stdout_.writer->wait_until_below(kWriterBacklog, stop) &&
                       stdout_.writer->error() == 0;
            });
        } catch (const Error& error) {
            handlers_.on_error(error.what());
        }
    }
    for (Stream* stream : {&stdout_, &stderr_}) {
        stream->writer->append([&](std::string& pending) { stream->formatter->finish(pending); });
        stream->writer->wait_until_below(0, stop);
    }
    for (const Stream* stream : {&stdout_, &stderr_})
        if (stream->files) stream->files->finish(stop);
    if (given_up) {
        for (const Stream* stream : {&stdout_, &stderr_}) {
            stream->writer->abandon();
            if (stream->files) stream->files->abandon();
        }
        return false;
    }
    on_progress();
    return true;
}

}  // namespace poe::pm
