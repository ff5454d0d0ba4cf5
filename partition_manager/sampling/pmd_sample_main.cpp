// pmd-sample: records the call stacks and counters of the tasks of a node.
//
//   pmd-sample STREAM RATE [SLOTS]   reads lines "TASK PROCESS" from standard input until its end. SLOTS: a file into
//                                    which the tasks copy their stacks, because the kernel allows
//                                    no perf events
//   pmd-sample -check                says whether the kernel allows perf events: status 0 or 1
//
// It is a separate program because it loads libdw, and so that a faulty object file of a task
// cannot harm pmd. It ends when standard input ends. It prints messages for the user, one sentence
// per line.
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/parse.hpp"
#include "partition_manager/sampling/perf_rings.hpp"
#include "partition_manager/sampling/signal_samples.hpp"
#include "partition_manager/sampling/stack_recorder.hpp"

namespace {

namespace pm = poe::pm;
namespace trace = poe::trace;

constexpr int kMostRate = 10'000;
constexpr int kShortestRoundMs = 10;
constexpr int kLongestRoundMs = 100;
constexpr std::uint64_t kSleepPeriod = 10'000'000;  // ns
constexpr std::uint64_t kListPeriod = 100'000'000;  // ns; between looks for new threads
constexpr std::uint64_t kCountPeriod = 20'000'000;  // ns; reading a counter interrupts its task

std::uint64_t processor_time_ns() {
    timespec now = {};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
           static_cast<std::uint64_t>(now.tv_nsec);
}

bool wants_software_counters() {
    const char* const wanted = std::getenv("POE_SAMPLE_COUNTERS");
    return wanted != nullptr && std::string_view(wanted) == "all";
}

class Sampler {
  public:
    Sampler(trace::Recorder& recorder, std::unique_ptr<pm::SampleSource> source)
        : recorder_(recorder),
          source_(std::move(source)),
          stacks_(
              recorder,
              by_signals() ? pm::StackRecorder::Maps::kRead : pm::StackRecorder::Maps::kByEvents,
              [this](std::uint64_t event) { return source_->task_of(event); }) {
        stacks_.on_forked = [this](poe::TaskId task, pid_t process) {
            if (task >= 0) asleep_.add(task, process);
        };
        source_->on_added = [this](poe::TaskId task, pid_t process) {
            stacks_.on_added(process);
            asleep_.add(task, process);
        };
        // Samples of a process that has ended may still wait for the next round.
        if (by_signals()) asleep_.on_ended = [this](pid_t process) { ended_.push_back(process); };
        say(trace::SamplingFact::kPeriod, source_->period(),
            static_cast<std::uint16_t>(source_->origin()));
        if (!source_->sees_kernel()) say(trace::SamplingFact::kNoKernel, 0);
        if (!source_->has_hardware_counters()) say(trace::SamplingFact::kNoCounters, 0);
    }

    // Returns false at the end of standard input.
    bool take_orders() {
        char part[4096];
        const ssize_t count = ::read(STDIN_FILENO, part, sizeof part);
        if (count < 0) return errno == EAGAIN || errno == EINTR;
        if (count == 0) return false;
        orders_.append(part, static_cast<std::size_t>(count));
        for (std::size_t end; (end = orders_.find('\n')) != std::string::npos;) {
            add(std::string_view(orders_).substr(0, end));
            orders_.erase(0, end + 1);
        }
        return true;
    }

    void round() {
        // Events from `now` on wait for the next round, because earlier ones may still be written
        // to a ring that was read already.
        const std::uint64_t now = trace::monotonic_ns();
        source_->read(events_);
        std::stable_sort(
            events_.begin(), events_.end(),
            [](const pm::PerfEvent& a, const pm::PerfEvent& b) { return a.time < b.time; });
        std::size_t taken = 0;
        for (; taken < events_.size() && events_[taken].time < now; ++taken)
            stacks_.on_event(events_[taken]);
        events_.erase(events_.begin(), events_.begin() + static_cast<std::ptrdiff_t>(taken));
        for (const pid_t process : std::exchange(ended_, {})) stacks_.forget(process);
        find_sleepers(now);
        count(now);
        if (recorder_.full() && !std::exchange(full_, true))
            std::cout << "sampling has ended: the disk is full, or the stream of samples has its "
                         "largest size"
                      << std::endl;
    }

    void finish() {
        round();
        for (const pm::PerfEvent& event : events_) stacks_.on_event(event);
        count(trace::monotonic_ns());
        if (stacks_.lost() > 0) say(trace::SamplingFact::kLost, stacks_.lost());
        say(trace::SamplingFact::kCost, processor_time_ns() + source_->spent_in_tasks());
        if (stacks_.ended_unseen() > 0)
            std::cout << stacks_.ended_unseen()
                      << (stacks_.ended_unseen() == 1 ? " process" : " processes")
                      << " ended before a sample was taken; a higher rate than -sample "
                      << 1'000'000'000 / source_->period() << " shows more" << std::endl;
    }

    void wait(int milliseconds) { source_->wait(STDIN_FILENO, milliseconds); }

  private:
    void add(std::string_view line) {
        const auto task = poe::take_number<int>(line);
        if (!task || line.empty()) return;
        line.remove_prefix(1);
        const auto process = poe::take_number<int>(line);
        if (!process) return;
        const std::string trouble = source_->add(*task, *process);
        if (!trouble.empty())
            std::cout << "task " << *task << " is not sampled: " << trouble << std::endl;
    }

    // Sleeping threads are looked for at most a hundred times per second; a record then stands for
    // several samples.
    void find_sleepers(std::uint64_t now) {
        const std::uint64_t turn = std::max(source_->period(), kSleepPeriod);
        if (next_sleep_ == 0) next_sleep_ = now + turn;
        if (now < next_sleep_) return;
        const std::uint64_t turns = 1 + (now - next_sleep_) / turn;
        next_sleep_ += turns * turn;
        const auto count = static_cast<std::uint16_t>(
            std::min<std::uint64_t>(turns * (turn / source_->period()), 0xffff));
        const bool list = now >= next_list_;
        if (list) next_list_ = now + kListPeriod;
        for (const pm::Sleeper& sleeper : asleep_.look(list))
            stacks_.on_sleeper(now, sleeper, count);
        if (asleep_.refused() && !std::exchange(refused_, true))
            say(trace::SamplingFact::kNoSleepers, 0);
    }

    // Records the counters that have changed.
    void count(std::uint64_t now) {
        if (now < next_count_) return;
        next_count_ = now + std::max<std::uint64_t>(source_->period(), kCountPeriod);
        values_.clear();
        source_->read_counters(values_);
        for (const pm::CounterValue& value : values_) {
            std::uint64_t& known = told_[{value.task, value.metric}];
            if (known == value.value) continue;
            known = value.value;
            const trace::Record record{.kind = trace::Kind::kSystem,
                                       .detail = static_cast<std::uint8_t>(value.metric),
                                       .a = static_cast<std::uint32_t>(value.task),
                                       .b = value.value};
            record_at(now, record);
        }
    }

    bool by_signals() const { return source_->origin() == trace::SampleOrigin::kTimerSignals; }

    void say(trace::SamplingFact fact, std::uint64_t value, std::uint16_t extra = 0) {
        record_at(trace::monotonic_ns(), {.kind = trace::Kind::kSampling,
                                          .detail = static_cast<std::uint8_t>(fact),
                                          .extra = extra,
                                          .a = trace::kNobody,
                                          .b = value});
    }

    void record_at(std::uint64_t now, const trace::Record& record) {
        recorder_.record_at(now - recorder_.header().origin, {&record, 1});
    }

    trace::Recorder& recorder_;
    std::unique_ptr<pm::SampleSource> source_;
    pm::StackRecorder stacks_;
    std::string orders_;
    std::vector<pm::PerfEvent> events_;
    std::vector<pm::CounterValue> values_;
    std::map<std::pair<poe::TaskId, trace::Metric>, std::uint64_t> told_;
    std::uint64_t next_count_ = 0;
    pm::SleepWatch asleep_;
    std::vector<pid_t> ended_;  // found by the last listing of threads
    std::uint64_t next_sleep_ = 0;
    std::uint64_t next_list_ = 0;
    bool refused_ = false;
    bool full_ = false;
};

// `slots`: null for perf events.
int run(const char* path, int rate, const char* slots) {
    ::fcntl(STDIN_FILENO, F_SETFL, ::fcntl(STDIN_FILENO, F_GETFL) | O_NONBLOCK);
    const auto recorder = trace::Recorder::open(path);
    if (!recorder) throw poe::Error("another process writes the samples");
    std::unique_ptr<pm::SampleSource> source;
    if (slots != nullptr)
        source = std::make_unique<pm::SignalSamples>(slots);
    else
        source = std::make_unique<pm::PerfRings>(rate, wants_software_counters());
    Sampler sampler(*recorder, std::move(source));
    const int round_ms = std::clamp(2000 / rate, kShortestRoundMs, kLongestRoundMs);
    while (sampler.take_orders()) {
        sampler.wait(round_ms);
        sampler.round();
    }
    sampler.finish();
    return 0;
}

// Prints why samples are not possible here, if they are not. Stacks are unwound by the registers of
// x86-64.
int check() {
#ifndef __x86_64__
    std::cout << "-sample needs a processor of the kind x86-64" << std::endl;
    return 1;
#endif
    try {
        const pm::PerfRings trial(kMostRate);
        return 0;
    } catch (const poe::Error& error) {
        std::cout << error.what() << std::endl;
        return 1;
    }
}

}  // namespace

int main(int argc, char** argv) {
    const std::string_view first = argc == 2 ? argv[1] : "";
    if (first == "-version" || first == "--version") {
        std::cout << "pmd-sample " POE_VERSION << std::endl;
        return 0;
    }
    if (first == "-check") return check();
    std::string_view word = argc == 3 || argc == 4 ? argv[2] : "";
    const auto rate = poe::take_number<int>(word);
    if (!rate || !word.empty() || *rate < 1 || *rate > kMostRate) {
        std::cerr << "usage: pmd-sample STREAM RATE [SLOTS]   (started by pmd)\n"
                     "       pmd-sample -check                says whether the kernel allows perf "
                     "events\n"
                     "       pmd-sample --version\n";
        return 2;
    }
    ::signal(SIGPIPE, SIG_IGN);
    rlimit files = {};
    if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        ::setrlimit(RLIMIT_NOFILE, &files);
    }
    try {
        return run(argv[1], *rate, argc == 4 ? argv[3] : nullptr);
    } catch (const std::exception& error) {
        std::cout << "the tasks are not sampled: " << error.what() << std::endl;
        return 1;
    }
}
