// mpl_run: starts an MPL program as n tasks without poe, so that the tests of the library need
// nothing but the library. Makes the job directory and the node segment, starts the tasks with the
// environment that pmd would give them, waits with a deadline, removes everything.
//
//   mpl_run -n TASKS [-t SECONDS] [-w adaptive|poll|yield|sleep] [-b BUFFER_MEM] [-e EAGER_LIMIT]
//           [-c CPUS] [-p] [-k MICROSECONDS] [-d DIRECTORY] [-s] [-f] [-i] [-6] [-N NODES]
//           PROGRAM [ARGUMENT...]
//
// -i is MP_EUILIB=ip. -N deals the tasks to that many nodes, as cards are dealt: each node has a
// segment and a loopback address of its own, and tasks of different nodes talk over TCP. -6 uses
// IPv6's loopback address. -p pins task i to core i. -k kills one task (TASKS/2) with SIGKILL after
// that time, lets the others go on for 30 ms, then ends the job as pmd does; the others may exit or
// be ended, but not die otherwise. -c pretends that the node has that many cores. -d uses another
// file system than /dev/shm. -s tells the tasks not to read each other's memory; -f lets the system
// forbid it. TMPDIR is a folder for the tasks, so what tasks that are killed have left there goes
// with the job.
//
// Exit: 0 every task exited 0 (or as -k allows); 1 a task did not; 2 wrong usage; 3 deadline
// passed.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <map>
#include <sched.h>
#include <signal.h>
#include <string>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "base/segment/node_segment.hpp"

namespace {

using Clock = std::chrono::steady_clock;

struct Options {
    unsigned tasks = 1;
    double seconds = MPL_RUN_SECONDS;
    poe::WaitMode wait_mode = poe::WaitMode::kAdaptive;
    poe::Bytes buffer_mem = 0;
    poe::Bytes eager_limit = 0;
    unsigned cpus = 0;
    bool pin = false;
    long kill_after_us = -1;
    bool single_copy = true;
    bool forbid_fetching = false;
    std::string directory = "/dev/shm";
    poe::Euilib euilib = poe::Euilib::kUs;
    unsigned nodes = 1;
    bool ipv6 = false;
    char** command = nullptr;
};

[[noreturn]] void usage(const char* why) {
    std::fprintf(stderr, "mpl_run: %s\nusage: mpl_run -n TASKS [options] PROGRAM [ARGUMENT...]\n",
                 why);
    std::exit(2);
}

poe::WaitMode wait_mode_of(const std::string& name) {
    static const std::map<std::string, poe::WaitMode> modes{{"adaptive", poe::WaitMode::kAdaptive},
                                                            {"poll", poe::WaitMode::kPoll},
                                                            {"yield", poe::WaitMode::kYield},
                                                            {"sleep", poe::WaitMode::kSleep}};
    const auto found = modes.find(name);
    if (found == modes.end()) usage("unknown wait mode");
    return found->second;
}

Options read_options(int argc, char** argv) {
    Options options;
    int letter = 0;
    while ((letter = ::getopt(argc, argv, "+n:t:w:b:e:c:pk:d:iN:6sf")) != -1) {
        switch (letter) {
            case 'n':
                options.tasks = static_cast<unsigned>(std::atoi(optarg));
                break;
            case 't':
                options.seconds = std::atof(optarg);
                break;
            case 'w':
                options.wait_mode = wait_mode_of(optarg);
                break;
            case 'b':
                options.buffer_mem = std::strtoull(optarg, nullptr, 10);
                break;
            case 'e':
                options.eager_limit = std::strtoull(optarg, nullptr, 10);
                break;
            case 'c':
                options.cpus = static_cast<unsigned>(std::atoi(optarg));
                break;
            case 'p':
                options.pin = true;
                break;
            case 'k':
                options.kill_after_us = std::atol(optarg);
                break;
            case 'i':
                options.euilib = poe::Euilib::kIp;
                break;
            case 'N':
                options.nodes = static_cast<unsigned>(std::atoi(optarg));
                break;
            case '6':
                options.ipv6 = true;
                break;
            case 'd':
                options.directory = optarg;
                break;
            case 's':
                options.single_copy = false;
                break;
            case 'f':
                options.forbid_fetching = true;
                break;
            default:
                usage("unknown option");
        }
    }
    if (options.tasks < 1) usage("-n TASKS is missing");
    if (options.nodes < 1 || options.nodes > options.tasks) usage("-N NODES is wrong");
    if (optind >= argc) usage("the program is missing");
    options.command = argv + optind;
    return options;
}

// The job's directory; gone with the object.
class JobDirectory {
  public:
    explicit JobDirectory(const std::string& where)
        : id_("mpltest-" + std::to_string(::getpid())),
          // Not named as pmd names its own: a pmd would take it for one that was left behind.
          path_(where + "/" + id_) {
        std::filesystem::remove_all(path_);
        if (::mkdir(path_.c_str(), 0700) != 0) usage(("cannot make " + path_).c_str());
    }
    ~JobDirectory() { std::filesystem::remove_all(path_); }
    JobDirectory(const JobDirectory&) = delete;
    JobDirectory& operator=(const JobDirectory&) = delete;

    const std::string& id() const { return id_; }
    // Each node has a directory, as on computers of their own.
    std::string segment(unsigned node) const {
        const std::string directory = path_ + "/" + std::to_string(node);
        ::mkdir(directory.c_str(), 0700);
        return directory + "/segment";
    }

  private:
    std::string id_;
    std::string path_;
};

// The folder for files of the tasks, on a disk if possible; gone with the object.
class TemporaryFolder {
  public:
    TemporaryFolder() {
        const char* const parent = std::getenv("TMPDIR");
        path_ = std::string(parent != nullptr ? parent : "/tmp") + "/mpl-run-XXXXXX";
        if (::mkdtemp(path_.data()) == nullptr) usage(("cannot make " + path_).c_str());
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

// As in a container: process_vm_readv answers EPERM in this process and its children.
void forbid_fetching() {
    sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog filter{std::size(program), program};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
        std::perror("mpl_run: cannot forbid process_vm_readv");
        ::_exit(127);
    }
}

pid_t start_task(const Options& options, const JobDirectory& job, unsigned task, int listener) {
    const pid_t pid = ::fork();
    if (pid != 0) return pid;
    if (listener >= 0) ::fcntl(listener, F_SETFD, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (options.pin) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(task % std::thread::hardware_concurrency(), &set);
        ::sched_setaffinity(0, sizeof set, &set);
    }
    if (options.forbid_fetching) forbid_fetching();
    ::setenv("MP_CHILD", std::to_string(task).c_str(), 1);
    ::setenv("MP_PROCS", std::to_string(options.tasks).c_str(), 1);
    ::setenv("MP_PARTITION", job.id().c_str(), 1);
    ::setenv("MP_SEGMENT", job.segment(task % options.nodes).c_str(), 1);
    ::execvp(options.command[0], options.command);
    std::fprintf(stderr, "mpl_run: cannot run %s: %s\n", options.command[0], std::strerror(errno));
    ::_exit(127);
}

class Job {
  public:
    Job(const Options& options, const JobDirectory& directory) : options_(options) {
        for (unsigned node = 0; node < options.nodes; ++node) {
            segments_.push_back(poe::NodeSegment::create(spec(options, directory, node)));
        }
        std::vector<poe::UniqueFd> listeners(options.tasks);
        if (options.euilib == poe::Euilib::kIp || options.nodes > 1) make_listeners(listeners);
        for (unsigned task = 0; task < options.tasks; ++task) {
            tasks_[start_task(options, directory, task, listeners[task].get())] = task;
        }
    }

    int run() {
        const auto start = Clock::now();
        const auto deadline = start + std::chrono::duration<double>(options_.seconds);
        const bool kills = options_.kill_after_us >= 0;
        const auto kill_at = start + std::chrono::microseconds(options_.kill_after_us);
        const auto end_at = kill_at + std::chrono::milliseconds(30);
        while (!tasks_.empty()) {
            reap();
            const auto now = Clock::now();
            if (kills && !killed_ && now >= kill_at) kill_victim();
            if (kills && !ending_ && now >= end_at) end_job();
            if (failed_ && !ending_) end_job();
            if (now >= deadline) {
                std::fprintf(stderr, "mpl_run: %zu tasks are still running after %.0f s\n",
                             tasks_.size(), options_.seconds);
                report_doing();
                end_job();
                while (!tasks_.empty()) reap();
                return 3;
            }
            // Looking every 0.2 ms costs the tasks nothing that a test would notice.
            ::usleep(200);
        }
        return failed_ ? 1 : 0;
    }

  private:
    static poe::NodeSegmentSpec spec(const Options& options, const JobDirectory& directory,
                                     unsigned node) {
        poe::NodeSegmentSpec spec;
        spec.job_id = directory.id();
        spec.path = directory.segment(node);
        spec.node = static_cast<poe::NodeIndex>(node);
        for (unsigned task = 0; task < options.tasks; ++task) {
            spec.node_of_task.push_back(static_cast<poe::NodeIndex>(task % options.nodes));
        }
        spec.euilib = options.euilib;
        spec.job_key.fill(7);
        for (unsigned one = 0; one < options.nodes; ++one) {
            const std::string address = "127.0.0." + std::to_string(one + 1);
            spec.node_addresses.push_back(*poe::NodeAddress::parse(options.ipv6 ? "::1" : address));
            spec.node_names.push_back("node" + std::to_string(one));
        }
        spec.wait_mode = options.wait_mode;
        spec.cpus = options.cpus;
        spec.pmd_pid = ::getpid();
        spec.buffer_mem = options.buffer_mem;
        spec.eager_limit = options.eager_limit;
        spec.single_copy = options.single_copy;
        return spec;
    }

    poe::NodeSegment& segment_of(unsigned task) { return segments_[task % options_.nodes]; }

    void make_listeners(std::vector<poe::UniqueFd>& listeners) {
        for (unsigned number = 0; number < options_.tasks; ++number) {
            const auto task = static_cast<poe::TaskId>(number);
            const poe::NodeSegment& own = segment_of(number);
            std::uint16_t port = 0;
            listeners[number] = poe::listen_on(own.node_record(own.facts().node).address, port);
            own.slot(*own.local_index(task)).listener = listeners[number].get();
            for (const poe::NodeSegment& segment : segments_) segment.port_of(task).store(port);
        }
    }

    void reap() {
        int status = 0;
        pid_t pid = 0;
        while ((pid = ::waitpid(-1, &status, WNOHANG)) > 0) {
            const auto found = tasks_.find(pid);
            if (found == tasks_.end()) continue;
            judge(found->second, status);
            tasks_.erase(found);
        }
    }

    void judge(unsigned task, int status) {
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
        const bool by_us = WIFSIGNALED(status) && (ending_ || (killed_ && task == victim())) &&
                           (WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGTERM);
        if (by_us) return;
        std::fprintf(stderr, "mpl_run: task %u %s %d\n", task,
                     WIFSIGNALED(status) ? "was killed by signal" : "exited with code",
                     WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        failed_ = true;
    }

    unsigned victim() const { return options_.tasks / 2; }

    void kill_victim() {
        killed_ = true;
        for (const auto& [pid, task] : tasks_) {
            if (task == victim()) ::kill(pid, SIGKILL);
        }
    }

    void end_job() {
        ending_ = true;
        for (const poe::NodeSegment& segment : segments_) segment.announce_ending();
        for (const auto& [pid, task] : tasks_) ::kill(pid, SIGKILL);
    }

    void report_doing() {
        for (const auto& [pid, task] : tasks_) {
            const poe::TaskActivity doing =
                segment_of(task).slot(task / options_.nodes).doing.read();
            std::fprintf(stderr, "  task %u: %s peer %d type %d bytes %llu\n", task,
                         std::string(poe::call_name(doing.call)).c_str(), doing.peer, doing.type,
                         static_cast<unsigned long long>(doing.bytes));
        }
    }

    const Options& options_;
    std::vector<poe::NodeSegment> segments_;  // by node
    std::map<pid_t, unsigned> tasks_;
    bool killed_ = false;
    bool ending_ = false;
    bool failed_ = false;
};

}  // namespace

int main(int argc, char** argv) {
    const Options options = read_options(argc, argv);
    const JobDirectory directory(options.directory);
    const TemporaryFolder folder;
    ::setenv("TMPDIR", folder.path().c_str(), 1);
    try {
        return Job(options, directory).run();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "mpl_run: %s\n", error.what());
        return 1;
    }
}
