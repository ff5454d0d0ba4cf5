// The home side of a job; see partition.hpp.
#include "partition_manager/home/partition.hpp"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <asio/post.hpp>

#include "base/error.hpp"
#include "partition_manager/job/name_pattern.hpp"
#include "partition_manager/job/task_ranges.hpp"
#include "partition_manager/launch/process_tree.hpp"
#include "partition_manager/status/job_directory.hpp"

namespace poe::pm {

namespace {

// How long lines are kept to be folded, and how many bytes of them.
constexpr std::chrono::milliseconds kFoldFor{100};
constexpr std::size_t kMostFolded = 2 << 20;

// What may wait for poe's own output before the daemons' windows are left closed.
constexpr std::size_t kWriterBacklog = 4 << 20;

constexpr std::chrono::milliseconds kReapAgain{10};

// For how long a reader may take nothing of what is left, when the user is in a hurry.
constexpr std::chrono::milliseconds kReaderPatience{500};

// For what tasks have written last, about.
constexpr std::size_t kTailMemory = 16 << 20;

std::vector<NodeIndex> places_of(const JobSpec& job) {
    std::vector<NodeIndex> places;
    for (const TaskSpec& task : job.tasks) places.push_back(task.node);
    return places;
}

bool same_file(int a, int b) {
    struct stat first = {};
    struct stat second = {};
    return ::fstat(a, &first) == 0 && ::fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

}  // namespace

Partition::Partition(JobSpec job, PartitionOptions options, SignalHeritage heritage,
                     char* const* environment)
    : job_(std::move(job)),
      options_(std::move(options)),
      heritage_(heritage),
      environment_(environment),
      signals_(loop_),
      deadline_(loop_),
      launch_timer_(loop_),
      interrupt_timer_(loop_),
      reap_timer_(loop_),
      judge_(static_cast<TaskId>(job_.tasks.size())),
      deadlock_watch_(places_of(job_), static_cast<NodeIndex>(job_.nodes.size()),
                      job_.deadlock_timeout,
                      {[this](NodeIndex node, AskTaskStates ask) { branches_->send(ask, node); },
                       [this](const WaitFindings& findings) { options_.on_deadlock(findings); }}),
      up_(job_.nodes.size(), false),
      tried_(job_.nodes.size(), false),
      folded_timer_(loop_),
      flush_round_(static_cast<TaskId>(job_.tasks.size())),
      spawn_timer_(loop_),
      all_tails_(std::clamp(kTailMemory / std::max<std::size_t>(1, job_.tasks.size()),
                            std::size_t{256}, std::size_t{4096})) {
    make_outputs();
}

Partition::~Partition() = default;

void Partition::make_outputs() {
    const auto tasks = static_cast<TaskId>(job_.tasks.size());
    const auto progress = [this] { asio::post(loop_, [this] { on_writer_progress(); }); };
    const LineFormatter formatter =
        options_.labels && !options_.label_format.empty() ? LineFormatter([this](TaskId task) {
            return expand_pattern(options_.label_format, job_, task, line_time_);
        })
                                                          : LineFormatter(options_.labels, tasks);
    const auto make = [&](Output& output, int fd) {
        output.own_writer = std::make_unique<OutputWriter>(fd, progress);
        output.own_formatter = std::make_unique<LineFormatter>(formatter);
        output.writer = output.own_writer.get();
        output.formatter = output.own_formatter.get();
    };
    make(stdout_, STDOUT_FILENO);
    if (same_file(STDOUT_FILENO, STDERR_FILENO)) {
        // One terminal or file: one writer and one line at a time, in the order of arrival.
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

std::unique_ptr<OrderedOutput> Partition::make_ordered() const {
    if (job_.stdout_mode.kind != StdoutMode::Kind::kOrdered || stdout_.files) return nullptr;
    return std::make_unique<OrderedOutput>(static_cast<TaskId>(job_.tasks.size()),
                                           options_.temporary_directory);
}

Outcome Partition::run() {
    become_subreaper();
    not_ours_ = descendants();
    start_time_ = std::chrono::steady_clock::now();
    listen_to_signals();

    begin_trace();
    launch();
    while (!finished_) loop_.run_one();
    finish_merging();
    facts_.reset();                                 // nothing runs any more
    if (trace_ && !trace_->kept()) trace_.reset();  // there is nothing in it
    finish_output();
    Outcome outcome = judge_.outcome();
    outcome.elapsed = std::chrono::steady_clock::now() - start_time_;
    outcome.never_ran = job_.nodes.size() > 1 && !told_to_run_;
    return outcome;
}

void Partition::on_message(NodeIndex from, Message message) {
    if (on_trace_message(from, message)) return;
    if (auto* failed = std::get_if<StartFailed>(&message)) {
        end_job(judge_.on_start_failed(std::move(failed->failures), failed->text), true);
    } else if (const auto* exit = std::get_if<TaskExit>(&message)) {
        ++exits_;
        end_job(judge_.on_exit(*exit));
        if (is_first_task(exit->task) && flush_round_.on_exit(exit->task)) on_flush_complete();
        if (options_.on_deadlock && !judge_.ending()) deadlock_watch_.on_exit(exit->task);
    } else if (const auto* mark = std::get_if<StdoutMark>(&message)) {
        if (is_first_task(mark->task) && flush_round_.on_mark(mark->task, mark->mode))
            on_flush_complete();
    } else if (const auto* abort = std::get_if<TaskAbort>(&message)) {
        end_job(judge_.on_abort(abort->task, abort->code, abort->text));
    } else if (const auto* left = std::get_if<TaskLeft>(&message)) {
        branches_->send(*left);  // for those that want to hear of it while they can
        end_job(judge_.on_left(left->task));
    } else if (const auto* node = std::get_if<NodeFailed>(&message)) {
        end_job(judge_.on_node_failed(node->text));
    } else if (const auto* unreached = std::get_if<NodeUnreached>(&message)) {
        on_unreached(unreached->node, unreached->text);
    } else if (const auto* lost = std::get_if<NodeLost>(&message)) {
        on_lost(lost->node, lost->text);
    } else if (const auto* part = std::get_if<Exchange>(&message); part && part->jobs.empty()) {
        if (auto all = exchanges_.add(*part))
            branches_->send(Exchanged{std::move(all->key), std::move(all->data)});
    } else if (const auto* bound = std::get_if<TasksBound>(&message)) {
        on_bound(*bound);
    } else if (const auto* attention = std::get_if<Attention>(&message)) {
        if (options_.on_attention) options_.on_attention(attention->text);
    } else if (auto* watched = std::get_if<WatchedTasks>(&message)) {
        std::erase_if(watched->tasks,
                      [this](const auto& w) { return !is_first_task(w.state.task); });
        watchers_->on_tasks(std::move(watched->tasks));
    } else if (auto* states = std::get_if<TaskStates>(&message)) {
        if (states->round >= kStatusRounds) {
            if (status_) status_->on_states(from, std::move(*states));
        } else if (options_.on_deadlock && !judge_.ending())
            deadlock_watch_.on_states(from, std::move(*states));
    } else {
        on_question(first_job(), from, std::move(message));
    }
}

void Partition::on_stdin_progress(NodeIndex branch, const StdinProgress& progress) {
    if (!input_) return;
    if (job_.stdin_mode.kind == StdinMode::Kind::kOne) {
        // Only one node reads; the others say, truly, that they do not want any.
        if (progress.delivered > 0 || progress.wanted || job_.nodes.size() == 1)
            input_->on_progress(progress);
        return;
    }
    stdin_progress_.set(branch, progress);
    input_->on_progress(stdin_progress_.all());
}

void Partition::on_data(Branches& from, NodeIndex branch, const Frame& frame) {
    if (frame.kind == FrameKind::kTrace) {
        if (trace_) trace_->on_frame(frame);
        from.owe(branch, frame.kind, frame.payload.size());
        from.settle(frame.kind);
        return;
    }
    if (!is_task(frame.task)) return;
    if ((frame.flags & kFlagTime) != 0) {
        output(frame.kind).times[frame.task] = unpack_time(frame.payload);
        return owe(from, branch, frame);
    }
    if (frame.kind == FrameKind::kStderr) tails_.append(frame.task, frame.payload);
    all_tails_.append(frame.task, frame.payload);
    const std::string_view shown = shown_part(frame.kind, frame);
    if (frame.kind == FrameKind::kStdout && ordered_) {
        keep_ordered(frame.task, shown);
    } else if (frame.kind == FrameKind::kStdout && !stdout_.files &&
               job_.stdout_mode.kind == StdoutMode::Kind::kFolded) {
        fold(frame.task, shown);
    } else {
        deliver(frame.kind, frame.task, shown, (frame.flags & kFlagOpenLine) != 0);
    }
    owe(from, branch, frame);
}

// What of a frame may be shown. Valid until the next call.
std::string_view Partition::shown_part(FrameKind stream, const Frame& frame) {
    Output& to = output(stream);
    if (!to.filtered) return frame.payload;
    shown_.clear();
    to.filters[frame.task].pass(frame.payload, shown_);
    return shown_;
}

// Where it cannot be kept the job ends, and what still comes of it is not.
void Partition::keep_ordered(TaskId task, std::string_view data) {
    if (ordered_failed_) return;
    try {
        ordered_->append(task, data);
    } catch (const Error& error) {
        ordered_failed_ = true;
        end_job(judge_.on_output_error(error.what()));
    }
}

void Partition::owe(Branches& from, NodeIndex branch, const Frame& frame) {
    from.owe(branch, frame.kind, frame.payload.size());
    settle(frame.kind);
}

Partition::Output& Partition::output(FrameKind stream) {
    return stream == FrameKind::kStdout ? stdout_ : stderr_;
}

void Partition::deliver(FrameKind stream, TaskId task, std::string_view data, bool open) {
    Output& to = output(stream);
    if (to.files) return to.files->append(task, data, open);
    if (job_.stamp_output) {
        line_time_.written = to.times[task];
        to.formatter->relabel();
    }
    to.writer->append(
        [&](std::string& pending) { to.formatter->append(pending, task, data, open); });
}

// Keeps lines for a moment, in which others may say the same.
void Partition::fold(TaskId task, std::string_view data) {
    const bool first = folded_.empty();
    folded_.append(task, data);
    if (folded_.bytes() > kMostFolded) return give_out_folded();
    if (!first) return;
    folded_timer_.expires_after(kFoldFor);
    folded_timer_.async_wait([this](const asio::error_code& error) {
        if (error) return;
        give_out_folded();
        on_writer_progress();
    });
}

void Partition::give_out_folded() {
    if (folded_.empty()) return;
    stdout_.writer->append([&](std::string& pending) { pending += folded_.give_out(); });
}

std::size_t Partition::backlog(FrameKind stream) {
    const Output& from = output(stream);
    return from.files ? from.files->backlog() : from.writer->backlog();
}

// Tells the daemons that more may come, unless our own reader is behind.
void Partition::settle(FrameKind stream) {
    if (backlog(stream) > kWriterBacklog) return;
    branches_->settle(stream);
    for (const auto& spawned : spawned_) spawned->branches().settle(stream);
}

void Partition::on_writer_progress() {
    for (OutputWriter* writer : {stdout_.writer, stderr_.writer}) {
        const int error = writer->error();
        if (error == 0) continue;
        const bool is_stdout = writer == stdout_.writer;
        if (error == EPIPE)
            end_job(is_stdout ? judge_.on_output_closed() : Verdict::kGoOn);
        else
            end_job(judge_.on_output_error(std::string("cannot write standard ") +
                                           (is_stdout ? "output: " : "error: ") +
                                           std::strerror(error)));
    }
    for (const Output* output : {&stdout_, &stderr_})
        if (output->files)
            if (const std::string error = output->files->error(); !error.empty())
                end_job(judge_.on_output_error("cannot write " + error));
    if (finished_) return;
    settle(FrameKind::kStdout);
    settle(FrameKind::kStderr);
    go_on_flushing();
}

// All tasks wait for the flush. What comes meanwhile is of processes that they have left behind.
void Partition::on_flush_complete() {
    FlushRound::Result result = flush_round_.finish();
    if (result.mode && result.mode->kind == StdoutMode::Kind::kOne && !is_task(result.mode->task))
        result = {.agreed = false, .mode = std::nullopt};
    if (result.mode) job_.stdout_mode = *result.mode;
    give_out_folded();
    releasing_ = std::exchange(ordered_, make_ordered());
    flushed_ = StdoutFlushed{result.agreed, job_.stdout_mode};
    go_on_flushing();
}

// As far as our own reader lets us; the rest when it has read more.
void Partition::go_on_flushing() {
    if (!flushed_) return;
    try {
        if (releasing_ && !releasing_->give_out([this](TaskId task, std::string_view data) {
                deliver(FrameKind::kStdout, task, data, data.back() != '\n');
                return stdout_.writer->backlog() <= kWriterBacklog && stdout_.writer->error() == 0;
            }))
            return;
    } catch (const Error& error) {
        end_job(judge_.on_output_error(error.what()));
    }
    releasing_.reset();
    branches_->send(*std::exchange(flushed_, std::nullopt));
}

NodeIndex Partition::stdin_target() const {
    if (job_.stdin_mode.kind != StdinMode::Kind::kOne || !is_task(job_.stdin_mode.task))
        return kAllNodes;
    return job_.tasks[static_cast<std::size_t>(job_.stdin_mode.task)].node;
}

void Partition::begin_stdin() {
    if (job_.stdin_is_empty || job_.stdin_mode.kind == StdinMode::Kind::kNone || input_) return;
    input_ = std::make_unique<InputSource>(
        loop_, STDIN_FILENO,
        InputSource::Handlers{
            [this](std::string_view data) { branches_->send_stdin(data, stdin_target()); },
            [this] { branches_->send(StdinEnd{}); }});
    input_->start();
}

void Partition::on_bound(const TasksBound& bound) {
    binding_.resize(first_job().tasks.size());
    for (const TaskBinding& one : bound.tasks) {
        if (!is_first_task(one.task)) continue;
        std::string& known = binding_[static_cast<std::size_t>(one.task)];
        if (known.empty()) ++bound_;
        known = one.processors;
    }
    if (bound_ == binding_.size() && options_.on_binding) options_.on_binding(binding_);
}

void Partition::end_job(Verdict verdict, bool at_once) {
    if (verdict != Verdict::kEndJob && !(at_once && judge_.ending())) return;
    if (options_.on_progress) options_.on_progress("");
    end_all(at_once);
}

// What a daemon of this node has left behind falls to us: we are the subreaper above it.
void Partition::reap_leftovers() {
    if (finished_) return;
    std::vector<pid_t> left = descendants();
    std::erase_if(left, [this](pid_t pid) {
        return std::find(not_ours_.begin(), not_ours_.end(), pid) != not_ours_.end();
    });
    for (const pid_t pid : left) ::kill(pid, SIGKILL);
    for (const pid_t pid : left) ::waitpid(pid, nullptr, WNOHANG);
    if (left.empty()) {
        for (const std::string& id : lost_own_daemons_)
            remove_tree(job_directory_path(kJobDirectoryParent, ::getuid(), id));
        finished_ = true;
        return;
    }
    reap_timer_.expires_after(kReapAgain);
    reap_timer_.async_wait([this](const asio::error_code& error) {
        if (!error) reap_leftovers();
    });
}

// Lets signals be heard while we wait for a reader; true when the user does not want to wait: has
// interrupted again, or had interrupted twice before and the reader takes nothing.
bool Partition::impatient() {
    if (output_abandoned_) return true;
    const int before = interrupts_;
    loop_.restart();
    loop_.poll();
    const auto now = std::chrono::steady_clock::now();
    const std::size_t unread = backlog(FrameKind::kStdout) + backlog(FrameKind::kStderr);
    if (unread != unread_) {
        unread_ = unread;
        read_last_ = now;
    }
    output_abandoned_ =
        interrupts_ > before || (interrupts_ > 1 && now - read_last_ > kReaderPatience);
    return output_abandoned_;
}

// All processes are gone; what they said last must still get out, at the pace of our readers.
void Partition::finish_output() {
    const auto stop = [this] { return impatient(); };
    give_out_folded();
    for (OrderedOutput* kept : {releasing_.get(), ordered_.get()}) {
        if (kept == nullptr) continue;
        try {
            kept->give_out([&](TaskId task, std::string_view data) {
                deliver(FrameKind::kStdout, task, data, data.back() != '\n');
                return stdout_.writer->wait_until_below(kWriterBacklog, stop) &&
                       stdout_.writer->error() == 0;
            });
        } catch (const Error& error) {
            judge_.on_output_error(error.what());
        }
    }
    for (Output* out : {&stdout_, &stderr_}) {
        out->writer->append([&](std::string& pending) { out->formatter->finish(pending); });
        out->writer->wait_until_below(0, stop);
    }
    for (const Output* out : {&stdout_, &stderr_})
        if (out->files) out->files->finish(stop);
    if (output_abandoned_) {
        for (const Output* out : {&stdout_, &stderr_}) {
            out->writer->abandon();
            if (out->files) out->files->abandon();
        }
        return;
    }
    on_writer_progress();
}

}  // namespace poe::pm
