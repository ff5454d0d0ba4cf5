// poekill: ends running jobs like a SIGTERM to their poe, and waits until no process of them is
// left on this node.
#include <algorithm>
#include <csignal>
#include <iostream>
#include <thread>
#include <unistd.h>

#include "base/error.hpp"
#include "base/fold.hpp"
#include "partition_manager/status/home_jobs.hpp"
#include "partition_manager/status/job_choice.hpp"
#include "partition_manager/status/job_directory.hpp"
#include "poe/poestat_text.hpp"

namespace {

using namespace poe;
using namespace std::chrono_literals;

constexpr int kNotEnded = 1;
constexpr int kMistake = 2;

// A job gets a first signal and, after the first of these times, a second one. At the second signal
// a poe kills the tasks at once.
constexpr std::chrono::seconds kPatience[] = {5s, 10s};
constexpr std::chrono::milliseconds kLookAgain = 20ms;

int usage(std::ostream& out, int status) {
    constexpr const char* kHelp =
        "usage: poekill [-n] [-y] JOB... | all\n"
        "Ends running jobs of yours on this computer. JOB: the job's name, an unambiguous "
        "beginning of it, or the process number of its poe; see poestat(1).\n"
        "  -n  only list the jobs that would be ended\n"
        "  -y  do not ask before all jobs are ended; on a terminal poekill asks otherwise\n";
    out << folded_help(kHelp, &out == &std::cout ? STDOUT_FILENO : STDERR_FILENO);
    return status;
}

struct Settings {
    bool only_list = false;
    bool ask = true;
    std::vector<std::string> words;
};

std::vector<pm::RunningJob> own_jobs() {
    return pm::jobs_seen_here(pm::kJobDirectoryParent, ::getuid()).jobs;
}

bool is_running(const std::string& id) {
    const std::vector<pm::RunningJob> jobs = own_jobs();
    return std::any_of(jobs.begin(), jobs.end(), [&](const auto& job) { return job.id == id; });
}

// Throws Error if the word denotes no job, or more than one.
std::vector<pm::RunningJob> jobs_called(const std::string& word) {
    const std::vector<pm::RunningJob> jobs = own_jobs();
    if (word == "all") return jobs;
    const Result<pm::RunningJob> job = pm::choose_job(jobs, word);
    if (!job) throw Error(job.error().str());
    return {job.value()};
}

// Shows the user on the terminal which jobs "all" denotes, and asks for confirmation.
bool confirmed(const std::vector<pm::RunningJob>& jobs) {
    std::cout << cli::kill_table(jobs, std::chrono::system_clock::now())
              << (jobs.size() == 1 ? "End this job? [y/N] "
                                   : "End these " + std::to_string(jobs.size()) + " jobs? [y/N] ")
              << std::flush;
    std::string answer;
    std::getline(std::cin, answer);
    return answer == "y" || answer == "Y" || answer == "yes";
}

// On a node without the job's poe, the signal goes to the local daemon, which also ends the job.
bool end_job(const pm::RunningJob& job) {
    const pid_t pid = job.poe > 0 ? job.poe : job.pmd;
    for (const std::chrono::seconds patience : kPatience) {
        if (pid <= 0 || (::kill(pid, SIGTERM) != 0 && errno != ESRCH))
            throw_errno("cannot end job " + job.id);
        const auto deadline = std::chrono::steady_clock::now() + patience;
        while (std::chrono::steady_clock::now() < deadline) {
            if (!is_running(job.id)) return true;
            std::this_thread::sleep_for(kLookAgain);
        }
    }
    return false;
}

int end_jobs(const std::vector<pm::RunningJob>& jobs) {
    int status = 0;
    for (const pm::RunningJob& job : jobs) {
        const bool ended = end_job(job);
        if (!ended) status = kNotEnded;
        (ended ? std::cout : std::cerr)
            << "job " << job.id << (ended ? " has been ended\n" : " does not end\n");
    }
    return status;
}

// Lists or ends the jobs that one word denotes.
int serve(const Settings& settings, const std::string& word) {
    const std::vector<pm::RunningJob> jobs = jobs_called(word);
    if (settings.only_list) {
        std::cout << (jobs.empty() ? "no jobs are running\n"
                                   : cli::kill_table(jobs, std::chrono::system_clock::now()));
        return 0;
    }
    const bool terminal = ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1;
    if (jobs.empty() && terminal) std::cout << "no jobs are running\n";
    if (word == "all" && !jobs.empty() && settings.ask && terminal && !confirmed(jobs)) {
        std::cout << "nothing was ended\n";
        return kNotEnded;
    }
    return end_jobs(jobs);
}

}  // namespace

int main(int argc, char** argv) {
    Settings settings;
    const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
    for (const std::string& word : words) {
        if (word == "-h" || word == "--help") return usage(std::cout, 0);
        if (word == "--version" || word == "-version") {
            std::cout << "poekill " POE_VERSION "\n";
            return 0;
        }
        if (word == "-n")
            settings.only_list = true;
        else if (word == "-y")
            settings.ask = false;
        else
            settings.words.push_back(word);
    }
    if (settings.words.empty() && settings.only_list) settings.words.emplace_back("all");
    if (settings.words.empty()) return usage(std::cerr, kMistake);
    int status = 0;
    for (const std::string& word : settings.words) {
        try {
            status = std::max(status, serve(settings, word));
        } catch (const Error& error) {
            std::cerr << fold(std::string("poekill: ") + error.what(),
                              terminal_columns(STDERR_FILENO), 0)
                      << "\n";
            status = kMistake;
        }
    }
    return status;
}
