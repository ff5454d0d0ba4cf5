// Signals that poe receives while a job runs: they are forwarded to the tasks, or end the job.
// Separate from partition.cpp, which handles what comes from the tasks.
#include <algorithm>
#include <csignal>
#include <span>
#include <sys/wait.h>

#include "partition_manager/home/partition.hpp"
#include "partition_manager/job/signal_words.hpp"

namespace poe::pm {

namespace {

// If tasks have not ended this long after SIGINT, poe tells the user that they continue.
constexpr std::chrono::seconds kNoticeInterrupt{1};
constexpr std::chrono::milliseconds kLookAtReader{100};
// If the user has interrupted more than once, a reader may take no data for at most this long.
constexpr std::chrono::milliseconds kReaderPatience{500};

constexpr int kForwarded[] = {SIGINT, SIGQUIT, SIGUSR1, SIGUSR2};
constexpr int kTerminating[] = {SIGTERM, SIGHUP, SIGXCPU};

bool contains(std::span<const int> set, int signal) {
    return std::find(set.begin(), set.end(), signal) != set.end();
}

}  // namespace

void Partition::listen_to_signals() {
    const auto listen = [this](int signal) {
        if (::sigismember(&heritage_.ignored, signal) != 1) signals_.add(signal);
    };
    for (const int signal : kForwarded) listen(signal);
    for (const int signal : kTerminating) listen(signal);
    listen(SIGTSTP);
    listen(SIGCONT);
    if (job_.terminal.wanted) signals_.add(SIGWINCH);
    signals_.add(SIGCHLD);
    wait_for_signal();
}

void Partition::wait_for_signal() {
    signals_.async_wait([this](const asio::error_code& error, int signal) {
        if (error) return;
        on_signal(signal);
        wait_for_signal();
    });
}

void Partition::on_signal(int signal) {
    if (signal == SIGCHLD) {
        for (std::size_t one = 0; one < runs_.size(); ++one) runs_[one]->branches().reap();
        return;
    }
    if (signal == SIGWINCH) {
        if (const auto size = options_.terminal_size ? options_.terminal_size() : std::nullopt)
            send_all(ResizeTerminals{size->rows, size->columns});
        return;
    }
    if (signal == SIGTSTP) return stop_and_wait_for_continue();
    if (signal == SIGCONT) {
        send_all(SignalTasks{SIGCONT});
        if (input_) input_->on_continue();
        return;
    }
    if (contains(kTerminating, signal)) {
        if (++so_far_.interrupts == 2) watch_reader();
        end_job(judge_.on_terminated(signal, unanswered()), so_far_.interrupts > 1);
        return;
    }
    const bool interrupt = signal == SIGINT || signal == SIGQUIT;
    if (interrupt && stop_gathering()) return;
    if (interrupt && (++so_far_.interrupts > 1 || !first().started())) {
        if (so_far_.interrupts == 2) watch_reader();
        judge_.on_terminated(signal, unanswered());
        end_all(true);
        return;
    }
    judge_.on_signal_forwarded(signal);
    send_all(SignalTasks{signal});
    if (interrupt) on_interrupt(signal);
}

// After a second interrupt, the output of a job whose reader takes nothing is dropped: the daemons
// end only when their output has been taken.
void Partition::watch_reader() {
    timers_.reader.expires_after(kLookAtReader);
    timers_.reader.async_wait([this](const asio::error_code& error) {
        if (error || finished_) return;
        if (!reader_is_stuck()) return watch_reader();
        output_.drop();
    });
}

// True if the readers of the output have taken nothing for a while.
bool Partition::reader_is_stuck() {
    const auto now = std::chrono::steady_clock::now();
    const std::size_t unread = output_.backlog();
    if (unread == 0 || unread != reading_.unread) reading_ = {unread, now};
    return now - reading_.changed > kReaderPatience;
}

// Tasks that catch the signal continue. poe tells the user how to end them, and ends them when the
// grace period expires.
void Partition::on_interrupt(int signal) {
    timers_.interrupt.expires_after(kNoticeInterrupt);
    timers_.interrupt.async_wait([this, signal](const asio::error_code& error) {
        if (error || judge_.ending() || so_far_.exits >= job_.tasks.size()) return;
        const std::size_t running = job_.tasks.size() - so_far_.exits;
        const auto grace = options_.interrupt_grace;
        if (options_.on_attention)
            options_.on_attention(signal_name(signal) + " was passed to the tasks, of which " +
                                  std::to_string(running) + (running == 1 ? " goes" : " go") +
                                  " on; a second one ends the job" +
                                  (grace.count() > 0
                                       ? ", as poe does itself " + std::to_string(grace.count()) +
                                             " s after the first (MP_INTERRUPT_GRACE)"
                                       : ""));
        if (grace.count() == 0) return;
        timers_.interrupt.expires_after(grace - kNoticeInterrupt);
        timers_.interrupt.async_wait([this, signal](const asio::error_code& cancelled) {
            if (!cancelled) end_job(judge_.on_terminated(signal));
        });
    });
}

void Partition::stop_and_wait_for_continue() {
    send_all(SignalTasks{SIGSTOP});
    for (const auto& run : runs_) run->branches().drain(std::chrono::milliseconds(100));
    if (options_.on_stopping) options_.on_stopping(true);
    ::raise(SIGSTOP);
    if (options_.on_stopping) options_.on_stopping(false);
}

// If the user interrupts poe after all tasks have ended, poe stops waiting for the trace; streams
// that have not arrived stay on their nodes. Returns false if poe was not waiting for the trace.
bool Partition::stop_gathering() {
    if (!tracing_.incomplete() || so_far_.exits < job_.tasks.size()) return false;
    first().branches().send(EndJob{true});
    return true;
}

}  // namespace poe::pm
