// poekill: ends running jobs, as their poe would at SIGTERM, and waits until nothing of them is
// left here.
#include <algorithm>
#include <csignal>
#include <iostream>
#include <thread>
#include <unistd.h>

#include "comm/base/error.hpp"
#include "partition_manager/home_jobs.hpp"
#include "partition_manager/job_choice.hpp"
#include "partition_manager/job_directory.hpp"

namespace {

using namespace poe;
using namespace std::chrono_literals;

constexpr int kNotEnded = 1;
constexpr int kMistake = 2;

// A job is asked once, then again, which ends it without mercy.
constexpr std::chrono::seconds kPatience[] = {5s, 10s};
constexpr std::chrono::milliseconds kLookAgain = 20ms;

int usage(std::ostream& out, int status) {
    out << "usage: poekill JOB... | all\n"
           "Ends running jobs of yours on this computer. JOB: the job's name, the beginning of it\n"
           "when no other job's begins so, or the process number of its poe; see poestat(1).\n";
    return status;
}

std::vector<pm::RunningJob> own_jobs() {
    return pm::jobs_seen_here(pm::kJobDirectoryParent, ::getuid()).jobs;
}

bool is_running(const std::string& id) {
    const std::vector<pm::RunningJob> jobs = own_jobs();
    return std::any_of(jobs.begin(), jobs.end(), [&](const auto& job) { return job.id == id; });
}

// Throws Error when the word means no job, or more than one.
std::vector<pm::RunningJob> jobs_called(const std::string& word) {
    const std::vector<pm::RunningJob> jobs = own_jobs();
    if (word == "all") return jobs;
    const Result<pm::RunningJob> job = pm::choose_job(jobs, word);
    if (!job) throw Error(job.error().str());
    return {job.value()};
}

// On a node that poe does not run on, its daemon there is told, which ends the job as well.
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

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
    if (words.empty()) return usage(std::cerr, kMistake);
    if (words[0] == "-h" || words[0] == "--help") return usage(std::cout, 0);
    if (words[0] == "--version") {
        std::cout << "poekill " POE_VERSION "\n";
        return 0;
    }
    int status = 0;
    for (const std::string& word : words) {
        try {
            for (const pm::RunningJob& job : jobs_called(word)) {
                const bool ended = end_job(job);
                if (!ended) status = kNotEnded;
                (ended ? std::cout : std::cerr)
                    << "job " << job.id << (ended ? " has been ended\n" : " does not end\n");
            }
        } catch (const Error& error) {
            std::cerr << "poekill: " << error.what() << "\n";
            status = kMistake;
        }
    }
    return status;
}
