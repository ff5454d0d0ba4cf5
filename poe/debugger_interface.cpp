// The variables that debuggers look up by name; see debugger_interface.hpp. The names and their
// meaning are those of the MPIR Process Acquisition Interface, version 1.0.
#include "poe/debugger_interface.hpp"

#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/parse.hpp"
#include "partition_manager/job/program_path.hpp"

namespace {

// The strings to which the table points.
struct Texts {
    std::string host;
    std::string program;
};
std::vector<Texts> the_texts;

}  // namespace

extern "C" {

struct MPIR_PROCDESC {
    const char* host_name;
    const char* executable_name;
    int pid;
};

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
[[gnu::used]] MPIR_PROCDESC* MPIR_proctable = nullptr;
[[gnu::used]] int MPIR_proctable_size = 0;
[[gnu::used]] volatile int MPIR_being_debugged = 0;
[[gnu::used]] volatile int MPIR_debug_state = 0;
[[gnu::used]] const char* MPIR_debug_abort_string = nullptr;
// This process starts tasks and is no task itself.
[[gnu::used]] int MPIR_i_am_starter = 1;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

[[gnu::noinline, gnu::used]] void MPIR_Breakpoint() {
    // Keeps the compiler from removing the call.
    asm volatile("");
}

}  // extern "C"

namespace poe::cli {
namespace {

constexpr int kTasksExist = 1;  // MPIR_DEBUG_SPAWNED

std::vector<MPIR_PROCDESC> the_table;

// pdbx is next to poe; otherwise it is searched in PATH.
std::string pdbx_path() {
    std::error_code none;
    const auto own = std::filesystem::read_symlink("/proc/self/exe", none);
    const std::string next = (own.parent_path() / "pdbx").string();
    return ::access(next.c_str(), X_OK) == 0 ? next : "pdbx";
}

// A debugger reads the program's symbols from this file.
std::string path_of(const pm::JobSpec& job, TaskId task) {
    const std::string& program =
        job.commands[job.tasks[static_cast<std::size_t>(task)].command].front();
    const char* path = std::getenv("PATH");
    const std::string file =
        pm::find_program(program, path != nullptr ? path : "", pm::directory_of(job, task)).file;
    return file.empty() ? program : file;
}

}  // namespace

bool debugger_holds_tasks() noexcept {
    return MPIR_being_debugged != 0;
}

int take_debugger_connection() {
    const char* said = std::getenv(kDebuggerVariable);
    const auto fd = parse_number<int>(said != nullptr ? said : "");
    ::unsetenv(kDebuggerVariable);
    struct stat status {};
    if (!fd || *fd <= STDERR_FILENO || ::fstat(*fd, &status) != 0 || !S_ISSOCK(status.st_mode) ||
        ::fcntl(*fd, F_SETFD, FD_CLOEXEC) != 0)
        return -1;
    return *fd;
}

void run_under_pdbx(const std::vector<std::string>& arguments) {
    if (std::getenv(kDebuggerVariable) != nullptr) return;
    std::vector<std::string> words{"pdbx"};
    // The prompt of pdbx needs the terminal. Any other input is the program's.
    if (::isatty(STDIN_FILENO) != 1) words.insert(words.end(), {"-stdin", "/dev/stdin"});
    words.emplace_back("-run");
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    const std::string path = pdbx_path();
    ::execvp(path.c_str(), argv.data());
    throw_errno("-onfail pdbx: cannot run " + path);
}

void tell_debuggers(const pm::JobSpec& job, const std::vector<pm::TaskProcess>& processes) {
    the_texts.clear();
    the_table.clear();
    for (const pm::TaskProcess& process : processes) {
        const pm::TaskSpec& task = job.tasks[static_cast<std::size_t>(process.task)];
        the_texts.push_back(
            {job.nodes[static_cast<std::size_t>(task.node)], path_of(job, process.task)});
    }
    for (std::size_t i = 0; i < processes.size(); ++i)
        the_table.push_back(
            {the_texts[i].host.c_str(), the_texts[i].program.c_str(), processes[i].pid});
    MPIR_proctable = the_table.data();
    MPIR_proctable_size = static_cast<int>(the_table.size());
    MPIR_debug_state = kTasksExist;
    MPIR_Breakpoint();
}

}  // namespace poe::cli
