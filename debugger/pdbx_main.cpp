// pdbx: debugs all tasks of a job. Connects the parts: poe, which is started or runs already, the
// session, the prompt or scripts, and the output of the program.
#include <algorithm>
#include <cerrno>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <fstream>
#include <iostream>
#include <langinfo.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/fold.hpp"
#include "debugger/command_line.hpp"
#include "debugger/connection.hpp"
#include "debugger/pdbx_options.hpp"
#include "debugger/screen_prompt.hpp"
#include "debugger/session.hpp"
#include "debugger/started_poe.hpp"
#include "partition_manager/status/debug_socket.hpp"
#include "partition_manager/status/home_jobs.hpp"
#include "partition_manager/status/job_choice.hpp"
#include "partition_manager/status/job_directory.hpp"

namespace {

using namespace poe;
using namespace poe::debugger;
using Clock = std::chrono::steady_clock;

constexpr int kOwnError = 1;

// The streams of the program.
constexpr const char* kOutput = "stdout";
constexpr const char* kErrors = "stderr";

// An incomplete line of the program is shown after this time.
constexpr std::chrono::milliseconds kOpenLine{300};

// If poe or a gdb does not end within this time after the user has left, pdbx leaves alone.
constexpr std::chrono::seconds kLeaveLimit{15};

std::string history_file() {
    const char* home = std::getenv("HOME");
    return home != nullptr && *home != '\0' ? std::string(home) + "/.pdbx_history" : "";
}

class Pdbx {
  public:
    explicit Pdbx(const PdbxOptions& options)
        : options_(options),
          session_({[this](const pm::Message& message, NodeIndex to) { call_->send(message, to); },
                    [this](const Report& report) { show(report); }}) {}

    int run() {
        catch_signals();
        if (options_.run) run_ = Run::kStart;
        for (const std::string& file : options_.scripts) read_script(file);
        connect();
        interactive_ =
            !options_.batch && ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1;
        if (options_.screen && !interactive_)
            throw Error("-screen needs a terminal on standard input and output");
        if (interactive_) make_prompt();
        while (!over()) {
            next_command();
            if (over()) break;
            wait();
        }
        return finish();
    }

  private:
    void make_prompt() {
        const Complete complete = [this](const std::string& word, bool first) {
            return session_.completions(word, first);
        };
        if (!options_.screen) {
            editor_ = std::make_unique<CommandLineEditor>(history_file(), complete);
            return;
        }
        std::setlocale(LC_CTYPE, "");
        const bool unicode = std::string_view(::nl_langinfo(CODESET)) == "UTF-8";
        editor_ = std::make_unique<ScreenPrompt>(complete, unicode);
    }

    void catch_signals() {
        ::signal(SIGPIPE, SIG_IGN);
        sigset_t wanted;
        ::sigemptyset(&wanted);
        for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&wanted, signal);
        if (options_.screen)
            for (const int signal : {SIGWINCH, SIGTSTP}) ::sigaddset(&wanted, signal);
        ::sigprocmask(SIG_BLOCK, &wanted, nullptr);
        signals_ = UniqueFd(::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
        if (!signals_) throw_errno("waiting for signals");
    }

    void read_script(const std::string& file) {
        std::ifstream in(file);
        if (!in) throw Error("cannot read the commands in " + file, errno);
        for (std::string line; std::getline(in, line);) lines_.push_back(line);
        if (in.bad()) throw Error("cannot read the commands in " + file, errno);
    }

    void connect() {
        if (!options_.cores.empty()) return open_cores();
        if (options_.attach.empty()) {
            poe_ = start_poe(options_.poe, options_.input);
            call_ = std::make_unique<JobConnection>(pm::DebugCall(std::move(poe_.debugger)));
            return;
        }
        const pm::JobScan scan = pm::jobs_seen_here(pm::kJobDirectoryParent, ::getuid());
        const auto job = pm::choose_job(scan.jobs, options_.attach);
        if (!job) throw Error(job.error().str());
        auto call = pm::DebugCall::to(job.value().owner, job.value().id);
        if (!call)
            throw Error(
                "the poe of job " + job.value().id +
                " is not on this node, or has no socket for pdbx; call pdbx where poe runs");
        call_ = std::make_unique<JobConnection>(std::move(*call));
    }

    void open_cores() {
        auto found = find_core_files(options_.cores);
        if (!found) throw Error(found.error().str());
        std::vector<CoreFile> cores = found.value();
        for (CoreFile& core : cores) {
            if (!options_.poe.empty()) core.program = options_.poe.front();
            if (core.program.empty())
                throw Error(core.file + " does not tell its program; name it: pdbx -core " +
                            options_.cores + " PROGRAM");
        }
        call_ = std::make_unique<OwnGdb>();
        session_.open_cores(cores, Clock::now());
    }

    bool over() const {
        // If pdbx has started poe, it stays to show the program's output, also after detach.
        if (call_->over() && !poe_.out && !poe_.err) return true;
        return poe_.pid == 0 && left_at_ && session_.detached();
    }

    // -run: the commands that let all tasks run until one fails, and then those that stop the
    // others and show where all are. A task fails by a signal, or because it exits with another
    // code than 0.
    void queue_run_commands() {
        if (run_ == Run::kStart) {
            run_ = Run::kRuns;
            early_.clear();
            session_.stop_at_programs(false);
            then_ = std::exchange(lines_, {"catch exit", "cont"});
        } else if (run_ == Run::kRuns && lines_.empty() && session_.some_stopped()) {
            run_ = Run::kFailed;
            session_.show_events();
            session_.stop_at_programs(true);
            lines_ = {"halt", "where"};
            lines_.insert(lines_.end(), then_.begin(), then_.end());
            if (!interactive_) lines_.emplace_back("detach");  // and the job fails as without pdbx
        }
    }

    // Executes commands that wait, or shows the prompt.
    void next_command() {
        if (!session_.busy()) queue_run_commands();
        while (!session_.busy() && session_.leaving() == Session::Leave::kNo && !call_->over()) {
            std::string line;
            if (!session_.sourced().empty()) {
                line = session_.sourced().front();
                session_.sourced().pop_front();
            } else if (!lines_.empty()) {
                line = lines_.front();
                lines_.pop_front();
            } else if (run_ == Run::kRuns) {
                return;  // the job ends
            } else if (options_.batch || input_over_) {
                commands_over_ = true;
                line = "quit";
            } else if (interactive_) {
                editor_->show(session_.prompt());
                const auto input = editor_->take();
                if (!input) return;
                line = input->end ? "quit" : input->line;
            } else {
                return;
            }
            session_.execute(line, Clock::now());
            on_signal();  // a script may execute itself without end
        }
        if (session_.leaving() != Session::Leave::kNo && !left_at_) leave();
    }

    void leave() {
        if (editor_) editor_->hide();
        left_at_ = Clock::now();
        if (session_.leaving() == Session::Leave::kDetach) return;
        if (session_.attached()) {
            session_.detach();
        } else if (session_.some_alive() || (session_.some_lost() && !commands_over_)) {
            end_job();  // tasks without debugger may run to their end after the last command
        }
    }

    // Without the connection poe ends the job.
    void end_job() {
        quit_ = true;
        call_ = std::make_unique<JobConnection>(pm::DebugCall(UniqueFd()));
    }

    void wait() {
        std::vector<pollfd> fds;
        fds.push_back({signals_.get(), POLLIN, 0});
        const short events = static_cast<short>(POLLIN | (call_->must_write() ? POLLOUT : 0));
        fds.push_back({call_->fd(), events, 0});
        fds.push_back({poe_.out.get(), POLLIN, 0});
        fds.push_back({poe_.err.get(), POLLIN, 0});
        const bool wants_input = run_ == Run::kStart || run_ == Run::kRuns ? false
                                 : interactive_ ? editor_->shown() || editor_->wants_picture()
                                                : !options_.batch && !input_over_ && lines_.empty();
        fds.push_back({wants_input ? STDIN_FILENO : -1, POLLIN, 0});
        fds.push_back({editor_ || write_error_ != 0 ? -1 : STDOUT_FILENO, 0, 0});
        ::poll(fds.data(), fds.size(), timeout());
        if (fds[0].revents != 0) on_signal();
        if (fds[1].revents != 0) {
            call_->flush();
            for (auto& [node, message] : call_->take())
                session_.on_message(node, std::move(message), Clock::now());
        }
        if (fds[2].revents != 0) on_output(poe_.out, out_, kOutput);
        if (fds[3].revents != 0) on_output(poe_.err, err_, kErrors);
        if (fds[4].revents != 0) on_input();
        if ((fds[5].revents & POLLERR) != 0) on_write_error(EPIPE);
        // The job goes on, and another pdbx may attach to it.
        if (session_.detached() && !call_->over())
            call_ = std::make_unique<JobConnection>(pm::DebugCall(UniqueFd()));
        session_.tick(Clock::now());
        flush_open_lines();
        show_picture();
        if (editor_ && editor_->shown()) editor_->show(session_.prompt());
        if (left_at_ && Clock::now() > *left_at_ + kLeaveLimit && !call_->over() && poe_.pid == 0)
            throw Error("gdb did not detach from all tasks in time");
    }

    void show_picture() {
        if (!editor_ || !editor_->wants_picture()) return;
        session_.look_around();
        editor_->picture(session_.picture());
    }

    int timeout() const {
        std::optional<Clock::time_point> first = session_.deadline();
        const auto add = [&first](Clock::time_point time) {
            first = first ? std::min(*first, time) : time;
        };
        for (const Stream* stream : {&out_, &err_})
            if (!stream->line.empty()) add(stream->since + kOpenLine);
        if (left_at_ && poe_.pid == 0) add(*left_at_ + kLeaveLimit);
        if (!first) return -1;
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(*first - Clock::now());
        return static_cast<int>(std::clamp<long>(left.count(), 0, 60000));
    }

    void on_signal() {
        signalfd_siginfo signal{};
        while (::read(signals_.get(), &signal, sizeof signal) == sizeof signal) {
            if (signal.ssi_signo == SIGWINCH && editor_) editor_->resized();
            if (signal.ssi_signo == SIGWINCH || signal.ssi_signo == SIGTSTP) continue;
            const bool only_stops = signal.ssi_signo == SIGINT;
            lines_.clear();
            if (editor_) editor_->discard();
            if (poe_.pid != 0 && (quit_ || left_at_)) {
                ::kill(poe_.pid, static_cast<int>(signal.ssi_signo));  // as without pdbx
            } else if (poe_.pid != 0 && !session_.ready()) {
                notice(
                    "the tasks have not all stopped at the beginning of their program yet; the job "
                    "ends");
                end_job();
            } else if (only_stops) {
                session_.interrupt(Clock::now());
            } else {
                session_.quit();
            }
        }
    }

    struct Stream {
        std::string line;  // an incomplete line
        Clock::time_point since{};
    };

    void on_output(UniqueFd& pipe, Stream& stream, const char* name) {
        char buffer[65536];
        const ssize_t count = ::read(pipe.get(), buffer, sizeof buffer);
        if (count < 0 && (errno == EINTR || errno == EAGAIN)) return;
        if (count <= 0) {
            if (!stream.line.empty()) show_output(std::exchange(stream.line, {}) + "\n", name);
            pipe.reset();
            return;
        }
        if (stream.line.empty()) stream.since = Clock::now();
        stream.line.append(buffer, static_cast<std::size_t>(count));
        const std::size_t end = stream.line.rfind('\n');
        if (end == std::string::npos) return;
        const std::string lines = stream.line.substr(0, end + 1);
        stream.line.erase(0, end + 1);
        stream.since = Clock::now();
        show_output(lines, name);
    }

    void flush_open_lines() {
        for (auto* stream : {&out_, &err_})
            if (!stream->line.empty() && Clock::now() >= stream->since + kOpenLine)
                show_output(std::exchange(stream->line, {}) + "\n",
                            stream == &out_ ? kOutput : kErrors);
    }

    void show_output(const std::string& lines, const char* stream) {
        if (options_.batch) {
            Report report;
            report.kind = Report::Kind::kOutput;
            report.command = stream;
            for (std::size_t begin = 0; begin < lines.size();) {
                const std::size_t end = lines.find('\n', begin);
                report.lines.push_back(lines.substr(begin, end - begin));
                begin = end + 1;
            }
            print(json_of(report) + "\n");
        } else if (options_.run && stream == kErrors) {
            if (editor_) return editor_->print(lines);
            std::fwrite(lines.data(), 1, lines.size(), stderr);
        } else {
            print(lines);
        }
    }

    void on_input() {
        if (interactive_) {
            editor_->read();
            if (const auto input = editor_->take()) {
                if (input->end)
                    session_.execute("quit", Clock::now());
                else
                    session_.execute(input->line, Clock::now());
            }
            return;
        }
        char buffer[4096];
        const ssize_t count = ::read(STDIN_FILENO, buffer, sizeof buffer);
        if (count > 0) typed_.append(buffer, static_cast<std::size_t>(count));
        if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN)) {
            input_over_ = true;
            if (!typed_.empty()) typed_ += '\n';
        }
        std::size_t end = 0;
        while ((end = typed_.find('\n')) != std::string::npos) {
            lines_.push_back(typed_.substr(0, end));
            typed_.erase(0, end + 1);
        }
    }

    void show(const Report& report) {
        const bool failed = report.kind == Report::Kind::kError;
        if ((run_ == Run::kStart || run_ == Run::kRuns) && !failed) {
            if (report.kind == Report::Kind::kStop) early_.push_back(report);
            return;
        }
        // The poe that pdbx has started says it, too.
        if (report.kind == Report::Kind::kDeadlock && poe_.pid != 0 && !options_.batch) return;
        for (const Report& stop : std::exchange(early_, {})) show(stop);
        if (options_.batch) return print(json_of(report) + "\n");
        std::string text;
        for (const std::string& line : lines_of(report)) text += line + "\n";
        print(text);
    }

    void notice(std::string text) {
        Report report;
        report.kind = Report::Kind::kNotice;
        report.lines.push_back(std::move(text));
        show(report);
    }

    void print(const std::string& text) {
        if (editor_) return editor_->print(text);
        if (write_error_ != 0) return;
        errno = 0;
        if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
            std::fflush(stdout) == 0)
            return;
        on_write_error(errno != 0 ? errno : EIO);
    }

    // As for poe, the job ends when nobody reads the output.
    void on_write_error(int error) {
        write_error_ = error;
        lines_.clear();
        session_.quit();
    }

    // Returns the exit status: that of poe, if pdbx has started it and the user has not ended the
    // job.
    int finish() {
        if (editor_) editor_->hide();
        session_.show_events();
        int status = 0;
        if (poe_.pid != 0) {
            while (::waitpid(poe_.pid, &status, 0) < 0 && errno == EINTR) {
            }
            status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            if (quit_) status = run_ == Run::kFailed ? kOwnError : 0;
            if (!quit_ && interactive_ && !options_.run)
                print("the job has ended with status " + std::to_string(status) + "\n");
        } else if (call_->over() && session_.leaving() == Session::Leave::kNo &&
                   options_.cores.empty()) {
            notice("poe has closed the connection");
        }
        if (write_error_ == EPIPE) return 128 + SIGPIPE;
        if (write_error_ != 0) throw Error("cannot write the output", write_error_);
        return session_.had_error() && status == 0 && !interactive_ ? kOwnError : status;
    }

    const PdbxOptions& options_;
    Session session_;
    StartedPoe poe_;
    std::unique_ptr<Connection> call_;
    std::unique_ptr<Prompt> editor_;
    enum class Run { kNot, kStart, kRuns, kFailed };
    Run run_ = Run::kNot;
    std::vector<Report> early_;     // stops that are shown after the first failure
    std::deque<std::string> then_;  // commands of scripts, for the time after it
    bool interactive_ = false;
    bool input_over_ = false;
    bool commands_over_ = false;  // those of scripts, or of an input that is no terminal
    bool quit_ = false;
    int write_error_ = 0;            // of standard output
    std::deque<std::string> lines_;  // commands of scripts, and of an input that is no terminal
    std::string typed_;
    std::optional<Clock::time_point> left_at_;
    UniqueFd signals_;
    Stream out_;
    Stream err_;
};

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
    const auto options = parse_pdbx_options(arguments);
    if (!options) {
        std::cerr << "pdbx: " << options.error().str() << "\n";
        return kOwnError;
    }
    if (options.value().request == PdbxOptions::Request::kHelp) {
        std::cout << folded_help(pdbx_usage(), STDOUT_FILENO) << std::flush;
        return std::cout ? 0 : kOwnError;
    }
    if (options.value().request == PdbxOptions::Request::kVersion) {
        std::cout << "pdbx " POE_VERSION "\n";
        return 0;
    }
    try {
        return Pdbx(options.value()).run();
    } catch (const std::exception& error) {
        std::cerr << "pdbx: " << error.what() << "\n";
        return kOwnError;
    }
}
