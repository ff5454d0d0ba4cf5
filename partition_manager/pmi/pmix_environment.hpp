// The environment that makes other people's MPI libraries find the job they are part of: what a
// PMIx server would have given its tasks, PMI-1's few words, and settings without which Open MPI
// and MPICH would not start as one job, would crawl, or would leave files behind.
// Pure functions from facts to names and values; nothing here reads the process's environment.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>
#include <vector>

#include "base/types.hpp"
#include "partition_manager/job/job.hpp"

namespace poe::pm {

using EnvironmentEntry = std::pair<std::string, std::string>;  // name, value
using Environment = std::vector<EnvironmentEntry>;

// The data stores of libpmix that we use, in order of preference: the shared one, and the one for
// tasks that cannot reach it. And the shared one's place in the directory as tasks are told it; the
// helper makes it a link to where the library puts it.
inline constexpr const char* kPmixStores = "ds21,hash";
inline constexpr const char* kPmixStoreName = "pmix_dstor_ds21_job";
inline constexpr const char* kPmixStoreVariable = "PMIX_DSTORE_21_BASE_PATH";

// What one node has to know to host PMIx for its tasks.
struct PmixJob {
    std::string job_id;
    std::string nspace;  // unique on a host, also over time: Open MPI hashes it into file names
    std::vector<std::string> nodes;
    NodeIndex this_node = 0;
    std::vector<NodeIndex> node_of_task;        // by task id, all tasks of the job
    std::vector<std::uint32_t> appnum_of_task;  // by task id; empty: one program
    std::string directory;                      // the job's directory on this node, no last slash
    uid_t uid = 0;
    gid_t gid = 0;
    std::vector<JobSummary> others = {};  // jobs that run beside it
    std::string parent = {};              // the job whose task has started it; empty: none
    TaskId parent_task = 0;
    TaskId first = 0;  // what people call task 0

    std::vector<TaskId> local_tasks() const;
    const std::string& hostname() const { return nodes.at(static_cast<std::size_t>(this_node)); }
    std::string pmix_directory() const { return directory + "/pmix"; }
    std::string server_nspace() const { return nspace + ".pmd"; }
};

// The namespace of a job.
inline std::string pmix_nspace(const std::string& job_id) {
    return "poe-" + job_id;
}

// What PMIx_server_setup_fork of libpmix 4 would say for every task of the job on this node, but
// for PMIX_RANK, if the server listened on 127.0.0.1:`port`. `system_tmpdir` is where it would put
// system-wide files (see pmix_system_tmpdir).
Environment pmix_environment(const PmixJob& job, std::uint16_t port,
                             const std::string& system_tmpdir);

// The TCP port in a PMIX_SERVER_URI* of `environment`, and all of those changed to another port.
// Throws Error when there is none.
std::uint16_t pmix_port(const Environment& environment);
void set_pmix_port(Environment& environment, std::uint16_t port);

// What `real` says differently from `promised`: "NAME is X instead of Y; ...", empty when tasks
// that got `promised` are served as well. Where the shared store is may differ.
std::string pmix_environment_difference(const Environment& promised, const Environment& real);

// The directory for temporary files that libpmix takes: TMPDIR, TEMP, TMP, else /tmp.
std::string pmix_system_tmpdir(const std::vector<std::string>& environment);

// True for variables that tell a task about another launcher's job (poe itself may have been
// started by srun or mpiexec); they must not reach the tasks. The user's own settings
// (PMIX_MCA_*, OMPI_MCA_btl, ...) are not among them.
bool is_other_launchers_variable(std::string_view name);

// What decides about the settings below.
struct ForeignMpiFacts {
    std::uint32_t local_tasks = 0;
    unsigned cpus = 1;
    bool one_node = true;
    std::string directory;  // the job's directory on this node
};

// Settings for Open MPI and MPICH, each only when `user_environment` ("NAME=value" each) does not
// have it.
Environment foreign_mpi_environment(const ForeignMpiFacts& facts,
                                    const std::vector<std::string>& user_environment);

}  // namespace poe::pm
