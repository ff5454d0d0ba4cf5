// Jobs on the home node. Possibly none of their tasks runs there; then they have no directory there
// (job_listing.hpp), but poe answers requests. So commands can show and end a job on its home node,
// too.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include <asio/io_context.hpp>

#include "partition_manager/job/job.hpp"
#include "partition_manager/status/job_listing.hpp"
#include "partition_manager/status/job_socket.hpp"

namespace poe::pm {

// The facts that poe reports about its job.
struct JobFacts {
    std::uint32_t tasks = 0;
    std::chrono::milliseconds elapsed{0};
    std::vector<std::string> nodes;
    std::vector<std::string> programs;
};

std::string encode_facts(const JobFacts& facts);
// Returns nothing if the bytes are not facts. Accepts any bytes.
std::optional<JobFacts> decode_facts(const std::string& bytes);

// poe's side, for as long as the job has tasks. Call only from the event loop's thread. No call
// blocks.
class FactsSocket {
  public:
    // `job` must outlive this object. If the socket cannot be created, the job runs without it.
    FactsSocket(asio::io_context& loop, uid_t owner, const JobSpec& job);

  private:
    void answer(const UniqueFd& caller) const;

    const JobSpec& job_;
    std::chrono::steady_clock::time_point began_;
    JobListener listener_;
};

// The jobs whose names are in a table of Unix sockets in the format of /proc/net/unix. Pure.
std::vector<JobName> jobs_with_facts(std::string_view table);

// Returns running_jobs(), and the jobs of which only poe runs on this computer, of one user or of
// all. Blocks for up to a second per poe that does not answer; its job is listed without facts, and
// as a trouble.
JobScan jobs_seen_here(const std::string& parent, std::optional<uid_t> owner);

}  // namespace poe::pm
