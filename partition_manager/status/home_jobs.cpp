// See home_jobs.hpp.
#include "partition_manager/status/home_jobs.hpp"

#include <algorithm>
#include <fstream>
#include <numeric>
#include <sstream>
#include <sys/socket.h>
#include <sys/time.h>

#include <nlohmann/json.hpp>

#include "base/segment/segment_layout.hpp"

namespace poe::pm {

namespace {

using Json = nlohmann::json;

constexpr const char* kTable = "/proc/net/unix";
constexpr timeval kSocketTimeout{1, 0};
constexpr std::size_t kLongestFacts = std::size_t{16} << 20;

RunningJob ask(const JobName& name, const UniqueFd& fd) {
    RunningJob job;
    job.id = name.id;
    job.owner = name.owner;
    ucred peer{};
    socklen_t size = sizeof peer;
    if (::getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0) job.poe = peer.pid;
    job.directory = directory_of_process(job.poe);
    ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &kSocketTimeout, sizeof kSocketTimeout);
    const auto facts = decode_facts(read_to_end(fd.get(), kLongestFacts));
    if (!facts) return job;
    job.tasks = facts->tasks;
    job.nodes = static_cast<std::uint32_t>(facts->nodes.size());
    job.elapsed = facts->elapsed;
    job.programs = facts->programs;
    job.node_names = facts->nodes;
    job.tasks_elsewhere.resize(facts->tasks);
    std::iota(job.tasks_elsewhere.begin(), job.tasks_elsewhere.end(), 0);
    return job;
}

}  // namespace

std::string encode_facts(const JobFacts& facts) {
    const auto cbor =
        Json::to_cbor(Json{facts.tasks, facts.elapsed.count(), facts.nodes, facts.programs});
    return {cbor.begin(), cbor.end()};
}

std::optional<JobFacts> decode_facts(const std::string& bytes) {
    try {
        const Json json = Json::from_cbor(bytes);
        JobFacts facts;
        json.at(0).get_to(facts.tasks);
        facts.elapsed = std::chrono::milliseconds(json.at(1).get<std::int64_t>());
        json.at(2).get_to(facts.nodes);
        json.at(3).get_to(facts.programs);
        if (facts.tasks == 0 || facts.tasks > kMaxTasks || facts.nodes.empty()) return std::nullopt;
        return facts;
    } catch (const Json::exception&) {
        return std::nullopt;
    }
}

// Root may query the jobs of other users.
FactsSocket::FactsSocket(asio::io_context& loop, uid_t owner, const JobSpec& job)
    : job_(job),
      began_(std::chrono::steady_clock::now()),
      listener_(loop, owner, job.id, kFactsSocket, true,
                [this](const UniqueFd& caller) { answer(caller); }) {}

// The facts fit into the socket's buffer, so they are written at once or lost.
void FactsSocket::answer(const UniqueFd& caller) const {
    JobFacts facts;
    facts.tasks = static_cast<std::uint32_t>(job_.tasks.size());
    facts.elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - began_);
    facts.nodes = job_.nodes;
    for (const Command& command : job_.commands)
        if (std::find(facts.programs.begin(), facts.programs.end(), command.front()) ==
            facts.programs.end())
            facts.programs.push_back(command.front());
    const std::string bytes = encode_facts(facts);
    const int room = static_cast<int>(2 * bytes.size());
    ::setsockopt(caller.get(), SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    static_cast<void>(::send(caller.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL));
}

std::vector<JobName> jobs_with_facts(std::string_view table) {
    const std::string ending = kFactsSocket;
    std::vector<JobName> names;
    std::istringstream lines{std::string(table)};
    for (std::string line; std::getline(lines, line);) {
        const std::size_t at = line.rfind(" @");  // names outside the file system begin with it
        if (at == std::string::npos || !line.ends_with(ending)) continue;
        const auto name = parse_job_name(
            std::string_view(line).substr(at + 2, line.size() - at - 2 - ending.size()));
        // Connections to a socket have the socket's name, too.
        if (name && std::find(names.begin(), names.end(), *name) == names.end())
            names.push_back(*name);
    }
    return names;
}

JobScan jobs_seen_here(const std::string& parent, std::optional<uid_t> owner) {
    JobScan scan = running_jobs(parent, owner);
    std::ifstream file(kTable);
    std::stringstream table;
    table << file.rdbuf();
    for (const JobName& name : jobs_with_facts(table.str())) {
        const bool listed = std::any_of(scan.jobs.begin(), scan.jobs.end(), [&](const auto& job) {
            return job.id == name.id && job.owner == name.owner;
        });
        if (listed || (owner && name.owner != *owner)) continue;
        const UniqueFd fd = call_job(name.owner, name.id, kFactsSocket);
        if (!fd) continue;  // it has ended meanwhile, or belongs to another user
        scan.jobs.push_back(ask(name, fd));
        if (scan.jobs.back().tasks == 0)
            scan.troubles.push_back("the poe of job " + name.id + " (" +
                                    std::to_string(scan.jobs.back().poe) +
                                    ") does not answer; perhaps it is stopped");
    }
    sort_by_age(scan.jobs);
    return scan;
}

}  // namespace poe::pm
