// Starting a node's tasks: environments, streams, programs, and what is said when it fails.
#include "partition_manager/daemon/task_start.hpp"

#include <fcntl.h>
#include <map>

#include <catch2/catch.hpp>

#include "tests/unit/partition_manager/support.hpp"

using namespace poe::pm;
using namespace poe::pm::test;
using poe::TaskId;

namespace {

JobSpec job_of(std::vector<Command> commands, const std::vector<std::uint32_t>& command_of_task) {
    JobSpec job;
    job.id = "test";
    job.nodes = {"here", "there"};
    job.commands = std::move(commands);
    for (const std::uint32_t command : command_of_task) job.tasks.push_back({0, command});
    job.environment = {"PATH=/usr/bin:/bin", "COLOR=green", "MP_CHILD=old"};
    job.directory = "/";
    return job;
}

struct Run {
    std::vector<StartedTask> started;
    std::vector<LaunchFailure> failures;

    explicit Run(const JobSpec& job, poe::NodeIndex node = 0, int keep = -1) {
        rlimit files = {};
        ::getrlimit(RLIMIT_NOFILE, &files);
        const TaskLauncher starter{
            job,
            node,
            InheritedSignals::capture(),
            files,
            [](TaskId task) {
                return EnvironmentEntries{{"MP_CHILD", std::to_string(task)}};
            },
            [keep](TaskId) {
                return poe::UniqueFd(keep < 0 ? -1 : ::fcntl(keep, F_DUPFD_CLOEXEC, keep));
            },
            [](TaskId) { return poe::UniqueFd(); }};
        failures = starter.start(started);
    }
    ~Run() {
        for (StartedTask& task : started) {
            task.stdin_pipe.reset();
            ::kill(task.pid, SIGKILL);
            ::waitpid(task.pid, nullptr, 0);
        }
        while (::waitpid(-1, nullptr, WNOHANG) > 0) {
        }
    }
};

}  // namespace

TEST_CASE("an environment and what is set again", "[task_start]") {
    CHECK(merged_environment({}, {}).empty());
    CHECK((merged_environment({"A=1", "B=2", "A"}, {{"C", "3"}}) ==
           std::vector<std::string>{"A=1", "B=2", "A", "C=3"}));
    CHECK((merged_environment({"A=1", "B=2", "AB=3", "A=4", "=x"}, {{"A", "5=6"}, {"D", ""}}) ==
           std::vector<std::string>{"B=2", "AB=3", "=x", "A=5=6", "D="}));
}

TEST_CASE("tasks with their own words, environment and streams", "[task_start]") {
    JobSpec job = job_of(
        {{"sh", "-c", "read line; echo $MP_CHILD $COLOR $0 $line; echo e$MP_CHILD >&2", "zero"},
         {"/bin/sh", "-c", "cat; echo other"}},
        {0, 1, 0});
    job.tasks.push_back({1, 0});  // of another node
    Run run(job);
    REQUIRE(run.failures.empty());
    REQUIRE(run.started.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
        StartedTask& task = run.started[i];
        CHECK(task.task == static_cast<TaskId>(i));
        CHECK(task.pid > 0);
        REQUIRE(task.stdin_pipe);
        REQUIRE(write_all(task.stdin_pipe.get(), "in" + std::to_string(i) + "\n"));
        task.stdin_pipe.reset();
    }
    CHECK(read_all(run.started[0].stdout_pipe.get()) == "0 green zero in0\n");
    CHECK(read_all(run.started[0].stderr_pipe.get()) == "e0\n");
    CHECK(read_all(run.started[1].stdout_pipe.get()) == "in1\nother\n");
    CHECK(read_all(run.started[1].stderr_pipe.get()).empty());
    CHECK(read_all(run.started[2].stdout_pipe.get()) == "2 green zero in2\n");
    CHECK(read_all(run.started[2].stderr_pipe.get()) == "e2\n");
}

TEST_CASE("many tasks, by several threads", "[task_start]") {
    // Nobody's death signal comes while the process that started them lives.
    constexpr TaskId kTasks = 60;
    Run run(job_of({{"sh", "-c", "read line; echo $MP_CHILD $line"}},
                   std::vector<std::uint32_t>(kTasks, 0)));
    REQUIRE(run.failures.empty());
    REQUIRE(run.started.size() == kTasks);
    for (TaskId task = 0; task < kTasks; ++task) {
        StartedTask& one = run.started[static_cast<std::size_t>(task)];
        CHECK(one.task == task);
        REQUIRE(write_all(one.stdin_pipe.get(), "in" + std::to_string(task) + "\n"));
        one.stdin_pipe.reset();
        CHECK(read_all(one.stdout_pipe.get()) ==
              std::to_string(task) + " in" + std::to_string(task) + "\n");
    }
}

TEST_CASE("the last of many programs cannot run", "[task_start]") {
    const TempDirectory folder;
    const std::string damaged = folder.write("damaged",
                                             std::string("\x7f"
                                                         "ELF\0\0\0\0",
                                                         8),
                                             0755);
    std::vector<std::uint32_t> commands(40, 0);
    commands.back() = 1;
    Run run(job_of({{"/bin/sleep", "1000"}, {damaged}}, commands));
    REQUIRE(run.failures.size() == 1);
    CHECK(run.failures[0].task == 39);
    CHECK(run.started.size() == 39);
    for (const StartedTask& task : run.started) CHECK(::kill(task.pid, 0) == 0);
}

TEST_CASE("tasks of all threads die with the process that started them", "[task_start]") {
    FdPair lives = make_pipe();
    FdPair ready = make_pipe();
    const pid_t starter = ::fork();
    if (starter == 0) {
        // Each task keeps the write end of `lives`.
        ::dup2(lives.write.get(), 63);
        JobSpec job = job_of({{"sleep", "1000"}}, std::vector<std::uint32_t>(20, 0));
        Run run(job, 0, 63);
        ::close(63);
        lives.write.reset();
        static_cast<void>(write_all(ready.write.get(), run.started.size() == 20 ? "y" : "n"));
        while (true) ::pause();
    }
    lives.write.reset();
    ready.write.reset();
    char answer = 0;
    REQUIRE(::read(ready.read.get(), &answer, 1) == 1);
    CHECK(answer == 'y');
    ::kill(starter, SIGKILL);
    ::waitpid(starter, nullptr, 0);
    CHECK(read_all(lives.read.get()).empty());  // ends when no task holds it
}

TEST_CASE("who gets standard input", "[task_start]") {
    struct Case {
        StdinMode mode;
        bool is_empty;
        bool reads[2];
    };
    for (const Case& one : {Case{{StdinMode::Kind::kAll, 0}, false, {true, true}},
                            Case{{StdinMode::Kind::kNone, 0}, false, {false, false}},
                            Case{{StdinMode::Kind::kOne, 1}, false, {false, true}},
                            Case{{StdinMode::Kind::kAll, 0}, true, {false, false}}}) {
        JobSpec job = job_of({{"cat"}}, {0, 0});
        job.stdin_mode = one.mode;
        job.stdin_is_empty = one.is_empty;
        Run run(job);
        REQUIRE(run.started.size() == 2);
        for (std::size_t i = 0; i < 2; ++i) {
            CHECK((run.started[i].stdin_pipe.get() >= 0) == one.reads[i]);
            run.started[i].stdin_pipe.reset();
            CHECK(read_all(run.started[i].stdout_pipe.get()).empty());
        }
    }
}

TEST_CASE("a task has its streams, what it keeps, and nobody else's", "[task_start]") {
    const FdPair kept = make_pipe();
    const FdPair other = make_pipe();
    const auto name_of = [](const poe::UniqueFd& pipe) {
        struct stat status = {};
        ::fstat(pipe.get(), &status);
        return "pipe:[" + std::to_string(status.st_ino) + "]";
    };
    Run run(job_of({{"sh", "-c", "ls -l /proc/$$/fd"}}, {0, 0}), 0, kept.read.get());
    REQUIRE(run.started.size() == 2);
    const std::string files = read_all(run.started[1].stdout_pipe.get());
    INFO(files);
    const auto has = [&](const poe::UniqueFd& pipe) {
        return files.find(name_of(pipe)) != std::string::npos;
    };
    CHECK(has(kept.read));
    CHECK(has(run.started[1].stdout_pipe));
    CHECK(has(run.started[1].stderr_pipe));
    CHECK(has(run.started[1].stdin_pipe));
    CHECK_FALSE(has(other.read));
    CHECK_FALSE(has(run.started[0].stdin_pipe));
    CHECK_FALSE(has(run.started[0].stdout_pipe));
    CHECK_FALSE(has(run.started[0].stderr_pipe));
}

TEST_CASE("a script without a first line is run by sh", "[task_start]") {
    const TempDirectory folder;
    const std::string script = folder.write("script", "echo \"$0|$1|$2\"\n", 0755);
    JobSpec job = job_of({{script, "a b", "c"}}, {0});
    Run run(job);
    REQUIRE(run.failures.empty());
    CHECK(read_all(run.started[0].stdout_pipe.get()) == script + "|a b|c\n");
}

TEST_CASE("programs that cannot run, by task", "[task_start]") {
    const TempDirectory folder;
    JobSpec job = job_of({{"/bin/true"}, {"./missing"}, {"no-such-program"}}, {0, 1, 2, 1, 0});
    job.directory = folder.path();
    Run run(job);
    CHECK(run.started.empty());
    REQUIRE(run.failures.size() == 3);
    std::map<TaskId, std::string> texts;
    for (const LaunchFailure& failure : run.failures) texts[failure.task] = failure.text;
    CHECK(texts.at(1) == texts.at(3));
    CHECK(texts.at(1).find("cannot run \"./missing\"") == 0);
    CHECK(texts.at(1).find("no such file") != std::string::npos);
    CHECK(texts.at(2).find("not in PATH") != std::string::npos);
}

TEST_CASE("programs that exec refuses", "[task_start]") {
    const TempDirectory folder;
    const std::string windows = folder.write("script", "#!/bin/sh\r\necho\r\n", 0755);
    const std::string damaged = folder.write("damaged",
                                             std::string("\x7f"
                                                         "ELF\0\0\0\0",
                                                         8),
                                             0755);
    struct Case {
        std::string program;
        std::string words;
    };
    for (const Case& one : {Case{windows, "carriage return"}, Case{damaged, "architecture"}}) {
        JobSpec job = job_of({{"/bin/sleep", "1000"}, {one.program}}, {0, 1, 1});
        Run run(job);
        REQUIRE(run.failures.size() == 2);
        CHECK(run.failures[0].task == 1);
        CHECK(run.failures[1].task == 2);
        INFO(run.failures[0].text);
        CHECK(run.failures[0].text.find(one.words) != std::string::npos);
        // Those before run, and are the caller's to end.
        REQUIRE(run.started.size() == 1);
        CHECK(::kill(run.started[0].pid, 0) == 0);
    }
}

TEST_CASE("arguments that are too long", "[task_start]") {
    JobSpec job = job_of({{"/bin/true", std::string(std::size_t{1} << 20, 'x')}}, {0});
    Run run(job);
    REQUIRE(run.failures.size() == 1);
    CHECK(run.failures[0].text.find("too long") != std::string::npos);
}

TEST_CASE("an environment without PATH", "[task_start]") {
    // execvp looks in /bin and /usr/bin when there is no PATH at all.
    JobSpec job = job_of({{"true"}}, {0});
    job.environment = {"PATHS=/x", "XPATH=/y"};
    job.directory = "/tmp";
    Run run(job);
    CHECK(run.failures.empty());
}

TEST_CASE("limits of open files", "[task_start]") {
    rlimit now = {};
    ::getrlimit(RLIMIT_NOFILE, &now);
    CHECK(open_files_trouble(1, 5).empty());
    const int ended = in_child([] {
        rlimit limit = {200, 300};
        ::setrlimit(RLIMIT_NOFILE, &limit);
        const std::string before = open_files_trouble(40, 5);
        const std::optional<rlimit> was = raise_open_files_limit();
        const bool right = before.find("limit is 200") != std::string::npos &&
                           before.find("40 tasks") != std::string::npos && was &&
                           was->rlim_cur == 200 && open_files_trouble(40, 5).empty() &&
                           !open_files_trouble(60, 5).empty() && !raise_open_files_limit();
        return right ? 0 : 1;
    });
    CHECK(ended == 0);
}
