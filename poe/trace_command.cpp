// See trace_command.hpp.
#include "poe/trace_command.hpp"

#include <iostream>
#include <unistd.h>

#include "partition_manager/home/job_tracing.hpp"
#include "partition_manager/status/command_socket.hpp"
#include "partition_manager/status/home_jobs.hpp"
#include "partition_manager/status/job_choice.hpp"
#include "partition_manager/status/job_directory.hpp"
#include "poe/read_options.hpp"
#include "poe/trace_job.hpp"

namespace poe::cli {

namespace {

constexpr int kNotDone = 1;
constexpr int kDefaultLevel = 2;

int fail(const std::string& text) {
    std::cerr << "poe -trace: " << text << "\n";
    return kNotDone;
}

int usage() {
    return fail(
        "expected attach JOB, followed by flags such as -tracelevel, or stop JOB; poestat "
        "tells which jobs there are");
}

}  // namespace

bool is_trace_command(const std::vector<std::string>& arguments) {
    return !arguments.empty() && arguments[0] == "-trace";
}

int run_trace_command(const std::vector<std::string>& arguments, const Environment& variables,
                      const std::string& directory, const std::string& temporary) {
    if (arguments.size() < 3) return usage();
    const bool attach = arguments[1] == "attach";
    if (!attach && arguments[1] != "stop") return usage();
    const auto options = read_options({arguments.begin() + 3, arguments.end()}, variables);
    if (!options) return fail(options.error().str());
    if (!options.value().program.empty()) return usage();
    const auto job =
        pm::choose_job(pm::jobs_seen_here(pm::kJobDirectoryParent, ::getuid()).jobs, arguments[2]);
    if (!job) return fail(job.error().str());
    Options chosen = options.value();
    if (chosen.trace_level == 0 && chosen.trace_stacks == 0) chosen.trace_level = kDefaultLevel;
    const std::vector<std::string>& programs = job.value().programs;
    const std::string path =
        trace_path(chosen, programs.empty() ? "job" : programs.front(), directory, 0);
    const std::string& id = job.value().id;
    const pm::TraceSpec spec = make_trace(chosen, path, id, temporary);
    const auto answer = pm::ask_command(
        ::getuid(), id, attach ? pm::start_trace_question(spec, path) : pm::stop_trace_question());
    if (!answer)
        return fail("the poe of job " + id + " does not answer; it must run on this computer");
    if (answer->front() != '+') return fail("job " + id + ": " + answer->substr(1));
    if (attach)
        std::cout << "job " << id << " is being traced at level " << spec.level << ", to " << path
                  << "; until it ends, or: poe -trace stop " << id << "\n";
    else
        std::cout << answer->substr(1) << "\n";
    return std::cout.flush() ? 0 : kNotDone;
}

}  // namespace poe::cli
