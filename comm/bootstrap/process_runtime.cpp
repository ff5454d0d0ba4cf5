// Creates and ends the one Runtime of the process, and moves its messages while the task computes.
#include "comm/bootstrap/process_runtime.hpp"

#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <unistd.h>

#include "comm/bootstrap/autostart.hpp"
#include "comm/bootstrap/debug_gate.hpp"
#include "comm/bootstrap/error_numbers.hpp"

namespace poe::comm {

namespace {

// The work of the progress thread, executed as a call of the library.
class BackgroundProgress final : public ProgressWork {
  public:
    bool make_progress(bool handlers) noexcept override {
        Runtime& runtime = *process_context().runtime;
        runtime.let_handlers_wait(!handlers);
        const RuntimeLock::Entry entry = runtime.turn().enter();
        bool moved = false;
        if (entry != RuntimeLock::Entry::kRefused) {
            moved = move_messages(runtime);
            if (runtime.handlers_due()) runtime.call_handlers();
            if (entry == RuntimeLock::Entry::kEntered) runtime.turn().leave();
        }
        runtime.let_handlers_wait(false);
        return moved;
    }

    bool has_open_operations() const noexcept override {
        Runtime& runtime = *process_context().runtime;
        return runtime.failure().empty() &&
               (runtime.operations().any_open() || runtime.messages().has_open_requests());
    }

  private:
    static constexpr int kLooks = 64;

    static bool move_messages(Runtime& runtime) noexcept {
        if (!runtime.failure().empty()) return false;
        bool moved = false;
        try {
            for (int looks = 0; looks < kLooks; ++looks) {
                // User functions run only in the task's own thread.
                const bool helped = runtime.messages().help(false);
                if (!runtime.messages().progress() && !helped) break;
                moved = true;
            }
        } catch (const std::exception& error) {
            die_in_call("a message that came while the task computed,", runtime, error.what());
        }
        return moved;
    }
};

BackgroundProgress the_background_progress;

std::string node_name() {
    char name[256] = "?";
    ::gethostname(name, sizeof name - 1);
    return name;
}

// Before main, so that a program started without poe becomes a job before it has done anything.
__attribute__((constructor)) void before_main(int count, char** arguments, char** environment) {
    const std::vector<std::string> words(arguments, arguments + count);
    if (wants_poe(words, environment)) become_poe(words);
    wait_for_pdbx();
}

__attribute__((destructor)) void after_main() {
    if (process_context().runtime == nullptr) return;
    process_context().runtime->stop_progress_thread();
    process_context().runtime->finish_sending();
    process_context().runtime->note_finished();
}

}  // namespace

[[gnu::cold]] Runtime& make_runtime() {
    wait_for_debugger();
    process_context().runtime = new Runtime([](const char* name) { return std::getenv(name); });
    // A child process shares the pipes but not the positions in them.
    ::pthread_atfork(nullptr, nullptr, [] {
        process_context().runtime->forget_progress_thread();
        process_context().runtime->fail(
            "this is a child process of the task; only the task itself may use MPL");
    });
    // After process_context().runtime is set, because the thread uses it.
    process_context().runtime->start_progress_thread(the_background_progress);
    return *process_context().runtime;
}

std::string error_line(int number, const char* caller, const Runtime& runtime,
                       const std::string& what, const std::string& way_out) {
    return "ERROR: 0032-" + std::to_string(number) + " " + caller + " in task " +
           std::to_string(runtime.task()) + " on node " + node_name() + ": " + what +
           (way_out.empty() ? "" : "; " + way_out) + ".\n";
}

void die_in_call(const char* caller, const Runtime& runtime, const std::string& what) noexcept {
    const std::string text =
        error_line(static_cast<int>(MplError::kFatal), caller, runtime, what, "the task ends");
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(nullptr);
    ::_exit(1);
}

}  // namespace poe::comm
