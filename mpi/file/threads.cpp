// Threads for system calls; see threads.hpp.
#include "mpi/file/threads.hpp"

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <pthread.h>
#include <system_error>
#include <thread>

#include "comm/progress/signals_blocked.hpp"

namespace poe::mpi {
namespace {

// If no thread is idle, a new one is started, so calls that block for long delay no others. The
// threads live as long as the process. Thread-safe.
class SystemThreads {
  public:
    // Throws std::system_error if a thread is needed and cannot be started; `calls` do not run
    // then.
    void run(std::function<void()> calls) {
        const std::lock_guard guard(lock_);
        if (idle_ <= waiting_.size()) start_thread();
        waiting_.push_back(std::move(calls));
        posted_.notify_one();
    }

  private:
    void start_thread() {
        const comm::SignalsBlocked blocked;
        std::thread thread([this] { serve(); });
        ::pthread_setname_np(thread.native_handle(), "mpi-files");
        thread.detach();
    }
    void serve() {
        std::unique_lock guard(lock_);
        for (;;) {
            ++idle_;
            posted_.wait(guard, [this] { return !waiting_.empty(); });
            --idle_;
            const std::function<void()> calls = std::move(waiting_.front());
            waiting_.pop_front();
            guard.unlock();
            calls();
            guard.lock();
        }
    }

    std::mutex lock_;
    std::condition_variable posted_;
    std::deque<std::function<void()>> waiting_;
    std::size_t idle_ = 0;
};

SystemThreads& system_threads() {
    // The threads use it until the process has ended.
    static auto* const threads = new SystemThreads;
    return *threads;
}

}  // namespace

// The turn protects it, but for `error` during the calls.
struct SystemCalls::State {
    bool over = false;
    std::exception_ptr error;

    void run(const std::function<void()>& calls) noexcept {
        try {
            calls();
        } catch (...) {
            error = std::current_exception();
        }
    }
};

void SystemCalls::start(std::function<void()> calls) {
    state_ = std::make_shared<State>();
    comm::RuntimeLock& turn = runtime_.turn();
    if (turn.shared() && awaited_) {
        due_ = std::move(calls);
        return;
    }
    if (turn.shared()) {
        try {
            system_threads().run([state = state_, &turn, calls] {
                state->run(calls);
                // As a call of the program: leave() wakes the threads whose waits are over now.
                // Afterwards this thread uses nothing of the library, so the task may end.
                turn.enter();
                state->over = true;
                turn.leave();
            });
            return;
        } catch (const std::system_error&) {
            // Without a further thread the others wait.
        }
    }
    state_->run(calls);
    state_->over = true;
}

void SystemCalls::run() {
    const std::function<void()> calls = std::exchange(due_, nullptr);
    without_turn(runtime_, [&] { state_->run(calls); });
    state_->over = true;
}

bool SystemCalls::over() const {
    if (!state_->over) return false;
    if (state_->error) std::rethrow_exception(state_->error);
    return true;
}

}  // namespace poe::mpi
