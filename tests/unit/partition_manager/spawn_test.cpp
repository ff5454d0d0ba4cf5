// Starting processes: their descriptors, signals, group, limits and parent.
#include "partition_manager/launch/spawn.hpp"

#include <cstdarg>
#include <sstream>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

#include <catch2/catch.hpp>

#include "partition_manager/launch/process_tree.hpp"
#include "tests/unit/partition_manager/support.hpp"

using namespace poe::pm;
using namespace poe::pm::test;

namespace {
// The process that the latest child of this one has named as its tracer. A child writes it before
// exec, while it shares the memory of this process.
volatile unsigned long named_tracer = 0;
}  // namespace

// Stands in for that of the C library, because kernels without Yama do not know PR_SET_PTRACER.
extern "C" int prctl(int option, ...) noexcept {
    unsigned long values[4];
    va_list list;
    va_start(list, option);
    for (unsigned long& value : values) value = va_arg(list, unsigned long);
    va_end(list);
    if (option == PR_SET_PTRACER) {
        named_tracer = values[0];
        return 0;
    }
    return static_cast<int>(
        ::syscall(SYS_prctl, option, values[0], values[1], values[2], values[3]));
}

namespace {

struct Command {
    std::vector<std::string> words;
    std::vector<char*> argv;
    SpawnRequest request;
    char* no_environment[1] = {nullptr};

    explicit Command(std::vector<std::string> command) : words(std::move(command)) {
        for (std::string& word : words) argv.push_back(word.data());
        argv.push_back(nullptr);
        request.path = words[0].c_str();
        request.argv = argv.data();
        request.envp = no_environment;
    }
};

int wait_for(pid_t pid) {
    int status = -1;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

// Runs a shell script and returns what it says on its standard output.
std::string output_of(Command& command) {
    FdPair out = make_pipe();
    command.request.stdout_fd = out.write.get();
    const pid_t pid = spawn(command.request);
    REQUIRE(pid > 0);
    out.write.reset();
    std::string text = read_all(out.read.get());
    CHECK(wait_for(pid) == 0);
    return text;
}

Command shell(const std::string& script) {
    return Command({"/bin/sh", "-c", script});
}

// One line of /proc/self/status, as a set of signals.
unsigned long long signals_in(const std::string& status, const std::string& name) {
    std::istringstream lines(status);
    for (std::string line; std::getline(lines, line);)
        if (line.compare(0, name.size(), name) == 0)
            return std::stoull(line.substr(name.size() + 1), nullptr, 16);
    return ~0ull;
}

// What this process has open: number, file, and whether exec closes it.
std::vector<std::string> own_descriptors() {
    std::vector<std::string> all;
    for (int fd = 0; fd < 1024; ++fd) {
        struct stat status = {};
        if (::fstat(fd, &status) != 0) continue;
        all.push_back(std::to_string(fd) + " " + std::to_string(status.st_dev) + " " +
                      std::to_string(status.st_ino) + " " + std::to_string(::fcntl(fd, F_GETFD)));
    }
    return all;
}

unsigned long long bit(int signal) {
    return 1ull << (signal - 1);
}

}  // namespace

TEST_CASE("a program's words, environment and exit code", "[spawn]") {
    Command echo({"/bin/sh", "-c", "echo \"$X|$0|$1\"; exit 0", "zero", "a b"});
    char variable[] = "X=value";
    char* environment[] = {variable, nullptr};
    echo.request.envp = environment;
    CHECK(output_of(echo) == "value|zero|a b\n");
    Command five = shell("exit 5");
    CHECK(wait_for(spawn(five.request)) == 5);
}

TEST_CASE("the processors it may use", "[spawn]") {
    cpu_set_t all;
    REQUIRE(::sched_getaffinity(0, sizeof all, &all) == 0);
    int first = 0;
    while (!CPU_ISSET(first, &all)) ++first;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    Command command({"/bin/sed", "-n", "s/^Cpus_allowed_list:.//p", "/proc/self/status"});
    command.request.cpus = &one;
    CHECK(output_of(command) == std::to_string(first) + "\n");
    cpu_set_t after;
    REQUIRE(::sched_getaffinity(0, sizeof after, &after) == 0);
    CHECK(CPU_EQUAL(&after, &all));
    // A set without any that exists: it runs where it may.
    CPU_ZERO(&one);
    command.request.cpus = &one;
    CHECK_FALSE(output_of(command).empty());
}

TEST_CASE("files that cannot be executed", "[spawn]") {
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {  // what tests before this left to us
    }
    const TempDirectory folder;
    struct Case {
        std::string path;
        int error;
    };
    const Case cases[] = {
        {folder / "missing", ENOENT},
        {folder.write("text", "no program"), EACCES},
        {folder.write("noformat", "no program", 0755), ENOEXEC},
        {folder.write("interpreter", "#!/no/such/shell\n", 0755), ENOENT},
        {folder.path(), EACCES},
        {folder / "missing/deep", ENOENT},
        {"/dev/null/x", ENOTDIR},
    };
    for (const Case& one : cases) {
        INFO(one.path);
        Command command({one.path});
        CHECK(spawn(command.request) == -one.error);
    }
    Command large({"/bin/true", std::string(std::size_t{1} << 20, 'x')});
    CHECK(spawn(large.request) == -E2BIG);
    int reaped = 0;
    CHECK(wait_until([&] {
        while (::waitpid(-1, nullptr, WNOHANG) > 0) ++reaped;
        return reaped == 8;
    }));
}

TEST_CASE("the three streams", "[spawn]") {
    FdPair in = make_pipe();
    FdPair out = make_pipe();
    FdPair err = make_pipe();
    Command command = shell("read line; echo out $line; echo err >&2");
    command.request.stdin_fd = in.read.get();
    command.request.stdout_fd = out.write.get();
    command.request.stderr_fd = err.write.get();
    REQUIRE(write_all(in.write.get(), "word\n"));
    const pid_t pid = spawn(command.request);
    REQUIRE(pid > 0);
    out.write.reset();
    err.write.reset();
    CHECK(read_all(out.read.get()) == "out word\n");
    CHECK(read_all(err.read.get()) == "err\n");
    CHECK(wait_for(pid) == 0);
}

TEST_CASE("one descriptor for two streams", "[spawn]") {
    FdPair out = make_pipe();
    Command command = shell("echo out; echo err >&2");
    command.request.stderr_fd = out.write.get();
    CHECK(output_of(command) == "out\n");
    Command both = shell("echo out; echo err >&2");
    both.request.stdout_fd = both.request.stderr_fd = out.write.get();
    CHECK(wait_for(spawn(both.request)) == 0);
    CHECK(read_now(out.read.get()) == "err\nout\nerr\n");
}

// The caller's own streams may be closed; then its pipes have the numbers 0, 1 and 2.
TEST_CASE("descriptors that stand where others must go", "[spawn]") {
    struct Case {
        const char* what;
        int stdin_fd;
        int stdout_fd;
        int stderr_fd;
    };
    const Case cases[] = {
        {"in place", 0, 1, 2},        {"0 and 1 swapped", 1, 0, 2},
        {"0 and 2 swapped", 2, 1, 0}, {"1 and 2 swapped", 0, 2, 1},
        {"round", 1, 2, 0},           {"the other way round", 2, 0, 1},
    };
    for (const Case& one : cases) {
        INFO(one.what);
        const TempDirectory folder;
        folder.write("in", "word\n");
        const int ended = in_child([&] {
            const std::string names[] = {folder / "in", folder / "out", folder / "err"};
            const int numbers[] = {one.stdin_fd, one.stdout_fd, one.stderr_fd};
            int opened[3];
            for (int i = 0; i < 3; ++i) {
                const int fd = ::open(names[i].c_str(),
                                      i == 0 ? O_RDONLY : O_WRONLY | O_CREAT | O_TRUNC, 0600);
                opened[i] = ::fcntl(fd, F_DUPFD_CLOEXEC, 100);
            }
            for (int i = 0; i < 3; ++i) ::dup3(opened[i], numbers[i], O_CLOEXEC);
            Command command = shell("read line; echo out $line; echo err >&2");
            command.request.stdin_fd = one.stdin_fd;
            command.request.stdout_fd = one.stdout_fd;
            command.request.stderr_fd = one.stderr_fd;
            return wait_for(spawn(command.request));
        });
        CHECK(ended == 0);
        CHECK(read_file(folder / "out") == "out word\n");
        CHECK(read_file(folder / "err") == "err\n");
    }
}

TEST_CASE("no other descriptor is inherited but those to keep", "[spawn]") {
    const FdPair one = make_pipe();
    const FdPair two = make_pipe();
    const poe::UniqueFd kept(::fcntl(one.read.get(), F_DUPFD_CLOEXEC, 77));
    const poe::UniqueFd kept_too(::fcntl(two.read.get(), F_DUPFD_CLOEXEC, 78));
    Command command = shell("for f in /proc/self/fd/*; do echo ${f##*/}; done");
    command.request.keep_fd[0] = kept.get();
    command.request.keep_fd[1] = kept_too.get();
    const std::string text = output_of(command);
    CHECK(text.find(std::to_string(kept.get()) + "\n") != std::string::npos);
    CHECK(text.find(std::to_string(kept_too.get()) + "\n") != std::string::npos);
    CHECK(text.find("\n" + std::to_string(one.write.get()) + "\n") == std::string::npos);
    CHECK((::fcntl(kept.get(), F_GETFD) & FD_CLOEXEC) != 0);  // only in the child
}

// The child starts in the parent's own table of descriptors.
TEST_CASE("the parent's descriptors stay as they are", "[spawn]") {
    const TempDirectory folder;
    const FdPair pipe = make_pipe();
    const FdPair other = make_pipe();
    const poe::UniqueFd high(::fcntl(pipe.read.get(), F_DUPFD_CLOEXEC, 300));
    const poe::UniqueFd higher(::fcntl(other.read.get(), F_DUPFD_CLOEXEC, 400));
    const auto before = own_descriptors();
    for (const std::string& program :
         {std::string("/bin/true"), folder / "missing", folder.write("text", "x", 0755)}) {
        for (const int keep :
             {-1, high.get(), 999}) {  // 999 is not open: an error after some steps
            INFO(program << ", to keep: " << keep);
            Command command({program});
            command.request.stdin_fd = high.get();
            command.request.stdout_fd = 2;
            command.request.stderr_fd = 1;
            command.request.keep_fd[1] = keep;
            command.request.open_files = rlimit{50, 50};
            const pid_t pid = spawn(command.request);
            CHECK((pid > 0) == (program == "/bin/true" && keep != 999));
            CHECK((::waitpid(pid > 0 ? pid : -1, nullptr, 0) > 0));
            CHECK((own_descriptors() == before));
        }
    }
}

TEST_CASE("descriptors with high numbers are inherited only when they are to be kept", "[spawn]") {
    const FdPair pipe = make_pipe();
    const poe::UniqueFd kept(::fcntl(pipe.read.get(), F_DUPFD_CLOEXEC, 300));
    const poe::UniqueFd below(::fcntl(pipe.read.get(), F_DUPFD_CLOEXEC, 200));
    const poe::UniqueFd above(::fcntl(pipe.read.get(), F_DUPFD_CLOEXEC, 400));
    Command command = shell("for f in /proc/self/fd/*; do echo ${f##*/}; done");
    command.request.keep_fd[0] = kept.get();
    const std::string text = output_of(command);
    CHECK(text.find("\n300\n") != std::string::npos);
    CHECK(text.find("\n200\n") == std::string::npos);
    CHECK(text.find("\n400\n") == std::string::npos);
}

TEST_CASE("a descriptor that moves up", "[spawn]") {
    FdPair pipe = make_pipe();
    const int old = pipe.read.get();
    const poe::UniqueFd moved = move_up(std::move(pipe.read));
    CHECK(moved.get() >= kLowDescriptors);
    CHECK((::fcntl(moved.get(), F_GETFD) & FD_CLOEXEC) != 0);
    CHECK(::fcntl(old, F_GETFD) == -1);
    REQUIRE(write_all(pipe.write.get(), "x"));
    CHECK(read_now(moved.get()) == "x");
    CHECK(move_up(poe::UniqueFd()).get() == -1);
    const int ended = in_child([] {
        FdPair low = make_pipe();
        const int number = low.write.get();
        const rlimit few = {static_cast<rlim_t>(kLowDescriptors), kLowDescriptors};
        ::setrlimit(RLIMIT_NOFILE, &few);
        return move_up(std::move(low.write)).get() == number ? 0 : 1;
    });
    CHECK(ended == 0);
}

TEST_CASE("the signals of a new process", "[spawn]") {
    struct sigaction before = {};
    struct sigaction mine = {};
    mine.sa_handler = [](int) {};
    ::sigaction(SIGUSR1, &mine, &before);
    sigset_t blocked;
    sigset_t old;
    ::sigemptyset(&blocked);
    ::sigaddset(&blocked, SIGWINCH);
    ::sigprocmask(SIG_BLOCK, &blocked, &old);

    Command plain({"/bin/cat", "/proc/self/status"});
    const std::string status = output_of(plain);
    CHECK(signals_in(status, "SigBlk:") == 0);
    CHECK((signals_in(status, "SigIgn:") & bit(SIGPIPE)) == 0);
    CHECK(signals_in(status, "SigCgt:") == 0);

    sigset_t ignored;
    ::sigemptyset(&ignored);
    ::sigaddset(&ignored, SIGHUP);
    ::sigaddset(&ignored, SIGPIPE);
    ::sigemptyset(&blocked);
    ::sigaddset(&blocked, SIGUSR2);
    Command other({"/bin/cat", "/proc/self/status"});
    other.request.ignored_signals = &ignored;
    other.request.signal_mask = &blocked;
    const std::string changed = output_of(other);
    CHECK(signals_in(changed, "SigBlk:") == bit(SIGUSR2));
    CHECK((signals_in(changed, "SigIgn:") & (bit(SIGHUP) | bit(SIGPIPE))) ==
          (bit(SIGHUP) | bit(SIGPIPE)));

    sigset_t now;
    ::sigprocmask(SIG_SETMASK, &old, &now);
    CHECK(::sigismember(&now, SIGWINCH) == 1);
    CHECK(::sigismember(&now, SIGUSR2) == 0);
    ::sigaction(SIGUSR1, &before, nullptr);
}

TEST_CASE("SIGPIPE, which the daemons ignore, is not ignored in the new one", "[spawn]") {
    const auto before = ::signal(SIGPIPE, SIG_IGN);
    Command command({"/bin/cat", "/proc/self/status"});
    sigset_t none;
    ::sigemptyset(&none);
    command.request.ignored_signals = &none;
    const std::string status = output_of(command);
    ::signal(SIGPIPE, before);
    CHECK((signals_in(status, "SigIgn:") & bit(SIGPIPE)) == 0);
}

TEST_CASE("what this process inherited is seen", "[spawn]") {
    const int ended = in_child([] {
        ::signal(SIGHUP, SIG_IGN);
        ::signal(SIGTERM, SIG_DFL);
        sigset_t blocked;
        ::sigemptyset(&blocked);
        ::sigaddset(&blocked, SIGUSR1);
        ::sigprocmask(SIG_SETMASK, &blocked, nullptr);
        const InheritedSignals heritage = InheritedSignals::capture();
        const bool right = ::sigismember(&heritage.ignored, SIGHUP) == 1 &&
                           ::sigismember(&heritage.ignored, SIGTERM) == 0 &&
                           ::sigismember(&heritage.blocked, SIGUSR1) == 1 &&
                           ::sigismember(&heritage.blocked, SIGUSR2) == 0;
        return right ? 0 : 1;
    });
    CHECK(ended == 0);
}

TEST_CASE("groups, sessions and limits", "[spawn]") {
    Command command = shell(
        "read a b c d group session rest < /proc/$$/stat; echo $$ $group "
        "$session; ulimit -n");
    command.request.open_files = rlimit{123, 123};
    std::istringstream words(output_of(command));
    pid_t pid = 0;
    pid_t group = 0;
    pid_t session = 0;
    int files = 0;
    words >> pid >> group >> session >> files;
    CHECK(pid == group);
    CHECK(session == ::getsid(0));
    CHECK(files == 123);
    Command leader = shell("read a b c d group session rest < /proc/$$/stat; echo $$ $session");
    leader.request.new_session = true;
    std::istringstream more(output_of(leader));
    more >> pid >> session;
    CHECK(pid == session);
}

TEST_CASE("a task that is traceable names the daemon, whose child gdb is", "[spawn]") {
    for (const bool traceable : {false, true}) {
        Command command = shell("exit 0");
        command.request.traceable = traceable;
        named_tracer = 0;
        CHECK(wait_for(spawn(command.request)) == 0);
        CHECK(named_tracer == (traceable ? static_cast<unsigned long>(::getpid()) : 0));
    }
}

TEST_CASE("a task does not outlive its daemon", "[spawn]") {
    become_subreaper();
    FdPair pipe = make_pipe();
    const int ended = in_child([&] {
        Command sleeper({"/bin/sleep", "1000"});
        sleeper.request.death_signal = SIGKILL;
        const pid_t pid = spawn(sleeper.request);
        return ::write(pipe.write.get(), &pid, sizeof pid) == sizeof pid ? 0 : 1;
    });
    REQUIRE(ended == 0);
    pid_t pid = 0;
    REQUIRE(::read(pipe.read.get(), &pid, sizeof pid) == sizeof pid);
    REQUIRE(pid > 0);
    CHECK(wait_for(pid) == 1000 + SIGKILL);
}

TEST_CASE("all descendants are found, and none of the excepted", "[process_tree]") {
    become_subreaper();
    REQUIRE(wait_until([] {  // what tests before this left to us
        while (::waitpid(-1, nullptr, WNOHANG) > 0) {
        }
        return descendants().empty();
    }));
    FdPair out = make_pipe();
    FdPair in = make_pipe();
    // A child, its child, and one whose parent is gone.
    Command tree = shell(
        "(sleep 1000 & echo $!); sh -c 'sleep 1000 & echo $!; wait' & echo $!; "
        "read line");
    tree.request.stdin_fd = in.read.get();
    tree.request.stdout_fd = out.write.get();
    const pid_t top = spawn(tree.request);
    REQUIRE(top > 0);
    out.write.reset();
    std::string text;
    REQUIRE(wait_until([&] {
        text += read_now(out.read.get());
        return std::count(text.begin(), text.end(), '\n') == 3;
    }));
    std::istringstream words(text);
    pid_t first = 0;
    pid_t second = 0;
    pid_t third = 0;
    words >> first >> second >> third;
    const auto has = [](const std::vector<pid_t>& all, pid_t pid) {
        return std::find(all.begin(), all.end(), pid) != all.end();
    };
    const std::vector<pid_t> all = descendants();
    for (const pid_t pid : {top, first, second, third}) CHECK(has(all, pid));
    CHECK(all.size() == 4);
    const std::vector<pid_t> others = descendants(std::vector{top});
    CHECK(others.size() == 1);
    CHECK(has(others, first));
    // Also one that is not a child of ours, and what is below it.
    for (const pid_t deep : {second, third}) {
        const std::vector<pid_t> rest = descendants(std::vector{deep});
        CHECK_FALSE(has(rest, deep));
        CHECK(has(rest, top));
    }
    CHECK(signal_descendants(SIGKILL, std::vector{top}) == 1);
    CHECK(wait_for(first) == 1000 + SIGKILL);
    CHECK(signal_descendants(SIGKILL) == 3);
    CHECK(wait_until([] {
        signal_descendants(SIGKILL);
        while (::waitpid(-1, nullptr, WNOHANG) > 0) {
        }
        return descendants().empty();
    }));
}
