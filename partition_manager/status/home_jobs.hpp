// Jobs on the node of their poe, where perhaps none of their tasks runs: they have no directory
// there (job_listing.hpp), but poe answers who asks. So people's commands see and end a job on its
// home node, too.
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

// What poe says of its job.
struct JobFacts {
    std::uint32_t tasks = 0;
    std::chrono::milliseconds elapsed{0};
    std::vector<std::string> nodes;
    std::vector<std::string> programs;
};

std::string encode_facts(const JobFacts& facts);
// Nothing when the bytes are no facts; takes any bytes whatever.
std::optional<JobFacts> decode_facts(const std::string& bytes);

// poe's side, as long as the job has tasks. For the thread of the loop; never blocks.
class FactsSocket {
  public:
    // `job` must outlive this. A job whose socket cannot be made goes on without.
    FactsSocket(asio::io_context& loop, uid_t owner, const JobSpec& job);

  private:
    void answer(const UniqueFd& caller) const;

    const JobSpec& job_;
    std::chrono::steady_clock::time_point began_;
    JobListener listener_;
};

// The jobs whose names are in a table of Unix sockets, as /proc/net/unix shows it. Pure.
std::vector<JobName> jobs_with_facts(std::string_view table);

// running_jobs(), and those of one user or of all whose poe alone is on this computer. Waits up to
// a second for a poe that does not answer; its job is listed without facts, and as a trouble.
JobScan jobs_seen_here(const std::string& parent, std::optional<uid_t> owner);

}  // namespace poe::pm
