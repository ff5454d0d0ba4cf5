// The environment by which other MPI libraries find the job that they are part of: the variables
// that a PMIx server gives its tasks, the few variables of PMI-1, and settings without which Open
// MPI and MPICH would not start as one job, would be very slow, or would leave files. Pure
// functions from facts to names and values; the process's own environment is not read.
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

// The data stores of libpmix that are used, in order of preference: the shared store, and the store
// for tasks that cannot reach it. Then the place of the shared store in the directory, as tasks are
// told it; the helper makes it a link to where the library puts the store.
inline constexpr const char* kPmixStores = "ds21,hash";
inline constexpr const char* kPmixStoreName = "pmix_dstor_ds21_job";
inline constexpr const char* kPmixStoreVariable = "PMIX_DSTORE_21_BASE_PATH";

// The facts that one node needs to host PMIx for its tasks.
struct PmixJob {
    std::string job_id;
    std::string nspace;  // never reused on a host: Open MPI hashes it into file names
    std::vector<std::string> nodes;
    NodeIndex this_node = 0;
    std::vector<NodeIndex> node_of_task;        // by task id, all tasks of the job
    std::vector<std::uint32_t> appnum_of_task;  // by task id; empty: one program
    // The job's directory on this node, without a final slash.
    std::string directory;
    uid_t uid = 0;
    gid_t gid = 0;
    std::vector<JobSummary> others = {};  // other running jobs of the same poe
    std::string parent = {};              // the job whose task has started this one; empty: none
    TaskId parent_task = 0;
    TaskId first = 0;  // the number by which users know task 0

    std::vector<TaskId> local_tasks() const;
    const std::string& hostname() const { return nodes.at(static_cast<std::size_t>(this_node)); }
    std::string pmix_directory() const { return directory + "/pmix"; }
    std::string server_nspace() const { return nspace + ".pmd"; }
};

// The namespace of a job.
inline std::string pmix_nspace(const std::string& job_id) {
    return "poe-" + job_id;
}

// Returns the environment that PMIx_server_setup_fork of libpmix 4 would return for every task of
// the job on this node, without PMIX_RANK, if the server listened on 127.0.0.1:`port`.
// `system_tmpdir` is the directory for system-wide files (see pmix_system_tmpdir).
Environment pmix_environment(const PmixJob& job, std::uint16_t port,
                             const std::string& system_tmpdir);

// pmix_port returns the TCP port in a PMIX_SERVER_URI* of `environment`; it throws Error if there
// is none. set_pmix_port sets the port in all of them.
std::uint16_t pmix_port(const Environment& environment);
void set_pmix_port(Environment& environment, std::uint16_t port);

// Describes how `real` differs from `promised`: "NAME is X instead of Y; ...". Empty if tasks that
// were given `promised` are served correctly. The place of the shared store and the server's URI
// may differ.
std::string pmix_environment_difference(const Environment& promised, const Environment& real);

// Returns the directory for temporary files that libpmix uses: TMPDIR, TEMP, TMP, or /tmp.
std::string pmix_system_tmpdir(const std::vector<std::string>& environment);

// True for variables that describe another launcher's job to a task (poe itself may have been
// started by srun or mpiexec). They must not reach the tasks. The user's own settings (PMIX_MCA_*,
// OMPI_MCA_btl, ...) are not among them.
bool is_other_launchers_variable(std::string_view name);

// The variables by which scripts and programs for mpirun of Open MPI and mpiexec of MPICH find the
// number of a task, the number of tasks, and the same on their node, for example to choose a GPU.
Environment rank_environment(TaskId task, std::size_t tasks, const PlaceOnNode& place);

// The facts on which the settings below depend.
struct ForeignMpiFacts {
    std::uint32_t local_tasks = 0;
    unsigned cpus = 1;
    bool one_node = true;
    std::string directory;  // the job's directory on this node
};

// Settings for Open MPI and MPICH. Each is included only if `user_environment` ("NAME=value" each)
// does not contain it.
Environment foreign_mpi_environment(const ForeignMpiFacts& facts,
                                    const std::vector<std::string>& user_environment);

}  // namespace poe::pm
