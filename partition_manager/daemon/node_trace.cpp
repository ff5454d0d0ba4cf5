// See node_trace.hpp.
#include "partition_manager/daemon/node_trace.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.hpp"
#include "partition_manager/status/job_directory.hpp"
#include "tracer/probe/tracer.hpp"

namespace poe::pm {

namespace {

using trace::StreamHeader;
using trace::StreamKind;

// Clocks are compared at the beginning, periodically, and at the end, with this many questions each
// time.
constexpr int kClockQuestions = 8;
constexpr std::chrono::seconds kClockPeriod{10};
// If an answer takes longer, the round of questions ends.
constexpr std::chrono::seconds kClockPatience{2};

// Sampling may take 1 / kSampleShare of the time.
constexpr int kSampleShare = 50;

constexpr std::size_t kSendPortion = std::size_t{256} << 10;
constexpr Bytes kNodeMost = Bytes{64} << 20;

// True if poe's directory of this trace is visible on this node: it then contains the job's stream.
bool is_trace_of(const std::string& directory, const std::string& job) {
    const UniqueFd file(::open((directory + "/" + trace::stream_name(StreamKind::kJob, 0)).c_str(),
                               O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    struct stat status = {};
    StreamHeader header;
    StreamHeader wanted;
    trace::set_text(wanted.job, job);
    return file && ::fstat(file.get(), &status) == 0 && status.st_uid == ::geteuid() &&
           ::pread(file.get(), static_cast<void*>(&header), sizeof header, 0) == sizeof header &&
           header.magic == trace::kMagic && header.job == wanted.job;
}

}  // namespace

NodeTrace::NodeTrace(asio::io_context& loop, const JobSpec& job, NodeIndex node, Channel& up,
                     StreamWindow& window, std::function<void(const Message&)> send,
                     std::function<void()> on_over)
    : loop_(loop),
      job_(job),
      node_(node),
      up_(up),
      window_(window),
      send_(std::move(send)),
      on_over_(std::move(on_over)),
      sample_timer_(loop),
      clock_timer_(loop) {}

NodeTrace::~NodeTrace() = default;

void NodeTrace::begin(const TraceSpec& spec, NodeSegment& segment,
                      const std::string& job_directory) {
    if (phase_ != Phase::kIdle) return;
    spec_ = spec;
    segment_ = &segment;
    job_directory_ = job_directory;
    streams_.clear();
    phase_ = Phase::kRecording;
    try {
        choose_directory();
        make_streams();
        const std::string link = job_directory_ + "/" + trace::generation_name(spec_.generation);
        if (::symlink(directory_.c_str(), link.c_str()) != 0) throw_errno("cannot make " + link);
    } catch (const Error& error) {
        send_(Attention{"there will be no trace of node " +
                        job_.nodes[static_cast<std::size_t>(node_)] + ": " + error.what()});
        return finish("");
    }
    store_words(static_cast<std::uint32_t>(spec_.level));
    if (spec_.stacks > 0) start_sampler(streams_.back().path);
    sample();
    ask_clocks();
}

void NodeTrace::choose_directory() {
    in_place_ = is_trace_of(spec_.directory, job_.id);
    if (in_place_) {
        directory_ = spec_.directory;
        return;
    }
    directory_ = spec_.temporary + "/poe-trace-" + std::to_string(::geteuid()) + "-" + job_.id +
                 "-" + std::to_string(spec_.generation);
    if (::mkdir(directory_.c_str(), 0700) != 0)
        throw_errno("cannot make the directory " + directory_ +
                    " (choose another place with "
                    "-tmpdir)");
}

void NodeTrace::make_streams() {
    const auto here = std::count_if(job_.tasks.begin(), job_.tasks.end(),
                                    [this](const TaskSpec& task) { return task.node == node_; });
    // One sharer for each task, each daemon and each sampler that writes to the same directory.
    const std::size_t per_node = spec_.stacks > 0 ? 2 : 1;
    const std::size_t sharers = in_place_ ? job_.tasks.size() + per_node * job_.nodes.size()
                                          : static_cast<std::size_t>(here) + per_node;
    const auto make = [&](StreamKind kind, std::int32_t number, const std::string& program,
                          bool wraps, std::uint64_t capacity, std::uint64_t origin,
                          std::uint64_t wall) {
        StreamHeader header;
        header.kind = kind;
        header.task = kind == StreamKind::kTask ? number : -1;
        header.node = node_;
        header.tasks = static_cast<std::int32_t>(job_.tasks.size());
        header.level = spec_.level;
        header.wraps = wraps ? 1 : 0;
        header.capacity = capacity;
        header.sharers = static_cast<std::uint32_t>(sharers);
        header.origin = origin;
        header.wall = wall;
        trace::set_text(header.job, job_.id);
        trace::set_text(header.node_name, job_.nodes[static_cast<std::size_t>(node_)]);
        trace::set_text(header.program, program);
        const std::string path = directory_ + "/" + trace::stream_name(kind, number);
        trace::create_stream(path, header);
        streams_.push_back({kind, number, path});
    };
    const std::uint64_t origin = trace::monotonic_ns();
    const std::uint64_t wall = trace::wall_ns();
    make(StreamKind::kNode, node_, "pmd", false, trace::records_in(std::max(spec_.most, kNodeMost)),
         origin, wall);
    const std::uint64_t capacity = trace::records_in(spec_.wraps ? spec_.buffer : spec_.most);
    for (std::size_t task = 0; task < job_.tasks.size(); ++task)
        if (job_.tasks[task].node == node_)
            make(StreamKind::kTask, static_cast<std::int32_t>(task),
                 job_.commands[job_.tasks[task].command].front(), spec_.wraps, capacity, origin,
                 wall);
    if (spec_.stacks > 0)
        make(StreamKind::kSamples, node_, "pmd-sample", false,
             trace::records_in(std::max(spec_.most, kNodeMost)), origin, wall);
    records_itself_.assign(streams_.size(), false);
    recorder_ = trace::Recorder::open(streams_.front().path);
    sampler_ = std::make_unique<SystemSampler>();
}

// A failure is reported, and the rest of the trace is recorded without stacks.
void NodeTrace::start_sampler(const std::string& stream) {
    const std::string node = job_.nodes[static_cast<std::size_t>(node_)];
    const auto report = [this, node](const std::string& what) {
        send_(Attention{"node " + node + ": " + what});
    };
    // If tracing was started after the job, its tasks run already.
    std::vector<std::pair<TaskId, pid_t>> running;
    for (std::size_t task = 0; task < job_.tasks.size(); ++task) {
        const auto index = segment_->local_index(static_cast<TaskId>(task));
        if (!index) continue;
        const TaskSlot& slot = segment_->slot(*index);
        const pid_t process = slot.started_pid.load(std::memory_order_relaxed);
        if (process > 0 && slot.ended.load(std::memory_order_relaxed) == 0)
            running.emplace_back(static_cast<TaskId>(task), process);
    }
    try {
        // A task can copy its stacks only if it was started for this. Otherwise pmd-sample reports
        // what is forbidden.
        if (running.empty() && !allows_perf_events() && has_safe_timer_signals()) {
            const std::string slots =
                job_directory_ + "/samples." + std::to_string(spec_.generation);
            make_sample_slots(slots, spec_.stacks);
            sample_slots_ = slots;
        }
        stacks_ =
            std::make_unique<SamplerProcess>(loop_, stream, spec_.stacks, sample_slots_, report);
    } catch (const Error& error) {
        sample_slots_.clear();
        return report(std::string("the tasks are not sampled: ") + error.what());
    }
    for (const auto& [task, process] : running) stacks_->add(task, process);
}

void NodeTrace::on_task_started(TaskId task, pid_t process) {
    if (phase_ == Phase::kRecording && stacks_) stacks_->add(task, process);
}

void NodeTrace::store_words(std::uint32_t level) {
    const std::uint32_t word = level == 0 ? 0 : trace::trace_word(spec_.generation, level);
    for (std::uint32_t index = 0; index < segment_->local_tasks(); ++index)
        segment_->slot(index).tracing.store(word, std::memory_order_release);
}

// True if the stream's task writes the stream itself. Until it does, and it may never do so, the
// daemon records what the task is doing.
bool NodeTrace::records_now(std::size_t place) {
    if (records_itself_[place]) return true;
    const UniqueFd file(::open(streams_[place].path.c_str(), O_RDONLY | O_CLOEXEC));
    std::int64_t process = 0;
    if (file)
        static_cast<void>(::pread(file.get(), &process, sizeof process,
                                  offsetof(StreamHeader, process)) == sizeof process);
    records_itself_[place] = process != 0;
    return process != 0;
}

void NodeTrace::sample() {
    const auto began = std::chrono::steady_clock::now();
    const bool statistics = spec_.level >= trace::kSystemLevel;
    std::vector<trace::Record> records;
    for (std::size_t place = 0; place < streams_.size(); ++place) {
        if (streams_[place].kind != StreamKind::kTask) continue;
        const TaskId task = streams_[place].number;
        const auto index = segment_->local_index(task);
        if (!index) continue;
        const TaskSlot& slot = segment_->slot(*index);
        const pid_t process = slot.started_pid.load(std::memory_order_relaxed);
        const bool doing = !records_now(place);
        if (process <= 0 || slot.ended.load(std::memory_order_relaxed) != 0) continue;
        if (statistics || doing) sampler_->sample_task(task, process, statistics, doing, records);
    }
    if (statistics) sampler_->sample_node(records);
    for (const trace::Record& record : records) recorder_->record(record);
    const auto took = std::chrono::steady_clock::now() - began;
    sample_timer_.expires_after(
        std::max<std::chrono::steady_clock::duration>(spec_.sample, took * kSampleShare));
    sample_timer_.async_wait([this](const asio::error_code& error) {
        if (!error && phase_ == Phase::kRecording) sample();
    });
}

// Records the final totals of a task, because the last sample may be old.
void NodeTrace::record_sums(TaskId task, const rusage& usage) {
    const auto say = [&](trace::Metric metric, std::uint64_t sum) {
        recorder_->record({.kind = trace::Kind::kSystem,
                           .detail = static_cast<std::uint8_t>(metric),
                           .a = static_cast<std::uint32_t>(task),
                           .b = sum});
    };
    const auto ns = [](const timeval& time) {
        return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u +
               static_cast<std::uint64_t>(time.tv_usec) * 1000u;
    };
    say(trace::Metric::kCpuUser, ns(usage.ru_utime));
    say(trace::Metric::kCpuSystem, ns(usage.ru_stime));
    say(trace::Metric::kFaultsMinor, static_cast<std::uint64_t>(usage.ru_minflt));
    say(trace::Metric::kFaultsMajor, static_cast<std::uint64_t>(usage.ru_majflt));
    say(trace::Metric::kSwitchesVoluntary, static_cast<std::uint64_t>(usage.ru_nvcsw));
    say(trace::Metric::kSwitchesForced, static_cast<std::uint64_t>(usage.ru_nivcsw));
}

void NodeTrace::on_task_exit(TaskId task, int wait_status, const rusage& usage) {
    if (phase_ != Phase::kRecording) return;
    if (spec_.level >= trace::kSystemLevel) record_sums(task, usage);
    const bool killed = WIFSIGNALED(wait_status);
    recorder_->record({.kind = trace::Kind::kEnded,
                       .detail = static_cast<std::uint8_t>(killed ? 1 : 0),
                       .extra = static_cast<std::uint16_t>(killed ? WTERMSIG(wait_status)
                                                                  : WEXITSTATUS(wait_status)),
                       .a = static_cast<std::uint32_t>(task)});
}

// Asks one question at a time: the next one follows when the answer has arrived.
void NodeTrace::ask_clocks() {
    if (node_ == job_.launch.home) {
        recorder_->record({.kind = trace::Kind::kClock});
        return on_clocks_asked();
    }
    clocks_wanted_ = kClockQuestions;
    send_(ClockRequest{trace::monotonic_ns()});
    clock_timer_.expires_after(kClockPatience);
    clock_timer_.async_wait([this](const asio::error_code& error) {
        if (!error) on_clocks_asked();
    });
}

// poe's clock was read between the question and the answer. The middle of the two is taken, so the
// error is at most half the round trip.
void NodeTrace::on_clock(const ClockReply& answer) {
    if (clocks_wanted_ == 0 || recorder_ == nullptr) return;
    const std::uint64_t now = trace::monotonic_ns();
    if (answer.asked > now) return;
    const std::uint64_t round_trip = now - answer.asked;
    const std::uint64_t middle = answer.asked + round_trip / 2;
    recorder_->record(
        {.kind = trace::Kind::kClock,
         .a = static_cast<std::uint32_t>(std::min<std::uint64_t>(round_trip, trace::kManyBytes)),
         .b = middle - answer.home});
    if (--clocks_wanted_ > 0)
        send_(ClockRequest{trace::monotonic_ns()});
    else
        on_clocks_asked();
}

void NodeTrace::on_clocks_asked() {
    clocks_wanted_ = 0;
    clock_timer_.cancel();
    if (phase_ == Phase::kLastClocks) return begin_sending();
    if (phase_ == Phase::kFirstClocks) return ask_last_clocks();
    if (node_ == job_.launch.home) return;
    clock_timer_.expires_after(kClockPeriod);
    clock_timer_.async_wait([this](const asio::error_code& error) {
        if (!error && phase_ == Phase::kRecording) ask_clocks();
    });
}

void NodeTrace::end() {
    if (phase_ != Phase::kRecording) return;
    store_words(0);
    sample_timer_.cancel();
    if (up_.closed()) {
        clock_timer_.cancel();
        return abandon();
    }
    if (!stacks_) return end_clocks();
    phase_ = Phase::kLastStacks;
    stacks_->finish([this] { end_clocks(); });
}

void NodeTrace::end_clocks() {
    if (clocks_wanted_ == 0) return ask_last_clocks();
    // A job may be over before its first clock comparison is complete.
    phase_ = Phase::kFirstClocks;
}

void NodeTrace::ask_last_clocks() {
    clock_timer_.cancel();
    phase_ = Phase::kLastClocks;
    ask_clocks();
}

void NodeTrace::begin_sending() {
    stacks_.reset();
    recorder_.reset();
    sampler_.reset();
    segment_ = nullptr;
    if (in_place_) {
        // Flushed to disk, because poe reads these files from another node through a file server.
        for (const Stream& stream : streams_) {
            if (node_ == job_.launch.home) break;
            const UniqueFd file(::open(stream.path.c_str(), O_RDONLY | O_CLOEXEC));
            if (file) ::fsync(file.get());
        }
        return finish("");
    }
    phase_ = Phase::kSending;
    sending_.stream = 0;
    send_some();
}

// Opens the next stream to be sent. Returns false if there is none.
bool NodeTrace::next_stream() {
    for (; sending_.stream < streams_.size(); ++sending_.stream) {
        sending_.file.reset(::open(streams_[sending_.stream].path.c_str(), O_RDONLY | O_CLOEXEC));
        StreamHeader header;
        struct stat status = {};
        if (!sending_.file || ::fstat(sending_.file.get(), &status) != 0 ||
            ::pread(sending_.file.get(), static_cast<void*>(&header), sizeof header, 0) !=
                sizeof header)
            continue;
        const std::uint64_t records = std::min<std::uint64_t>(header.reserved, header.capacity);
        sending_.size = std::min<Bytes>(trace::kHeaderBytes + records * sizeof(trace::Record),
                                        static_cast<Bytes>(status.st_size));
        sending_.bytes = 0;
        return true;
    }
    return false;
}

void NodeTrace::send_some() {
    while (phase_ == Phase::kSending && window_.open() && !up_.full()) {
        if (!sending_.file && !next_stream()) {
            phase_ = Phase::kSent;
            send_(TraceDone{spec_.generation, true, ""});
            return;
        }
        const Stream& stream = streams_[sending_.stream];
        const std::size_t want = std::min<Bytes>(sending_.size - sending_.bytes, kSendPortion);
        const std::span<char> space = up_.reserve_data(std::max<std::size_t>(want, 1));
        const ssize_t count =
            ::pread(sending_.file.get(), space.data(), want, static_cast<off_t>(sending_.bytes));
        const std::size_t used = count > 0 ? static_cast<std::size_t>(count) : 0;
        up_.commit_data(FrameKind::kTrace, static_cast<std::uint8_t>(stream.kind), stream.number,
                        used);
        window_.spend(used);
        sending_.bytes += used;
        if (used > 0) continue;
        up_.send_data(FrameKind::kTrace, static_cast<std::uint8_t>(stream.kind), stream.number, {});
        sending_.file.reset();
        ++sending_.stream;
    }
}

void NodeTrace::resume() {
    send_some();
}

void NodeTrace::on_taken(const TraceTaken& taken) {
    if (phase_ != Phase::kSent || taken.generation != spec_.generation) return;
    if (!taken.all) return abandon();
    remove_streams();
    phase_ = Phase::kIdle;
    on_over_();
}

void NodeTrace::remove_streams() noexcept {
    for (const Stream& stream : streams_) ::unlink(stream.path.c_str());
    ::rmdir(directory_.c_str());
}

void NodeTrace::abandon() {
    if (phase_ == Phase::kIdle) return;
    if (segment_ != nullptr) store_words(0);
    finish(in_place_ ? std::string()
                     : job_.nodes[static_cast<std::size_t>(node_)] + ":" + directory_);
}

void NodeTrace::finish(const std::string& left) {
    sample_timer_.cancel();
    clock_timer_.cancel();
    stacks_.reset();
    recorder_.reset();
    sampler_.reset();
    sending_.file.reset();
    segment_ = nullptr;
    phase_ = Phase::kIdle;
    send_(TraceDone{spec_.generation, false, left});
    on_over_();
}

}  // namespace poe::pm
