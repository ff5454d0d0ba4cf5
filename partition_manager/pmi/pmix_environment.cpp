// Names and values for other MPI libraries. The PMIX_* variables were recorded from libpmix 4.2.
// pmd-pmix compares them with those of its own library and reports differences.
#include "partition_manager/pmi/pmix_environment.hpp"

#include <algorithm>
#include <charconv>

#include "base/error.hpp"

namespace poe::pm {

namespace {

constexpr std::string_view kServerUri = "PMIX_SERVER_URI";

// Finds `name` among "NAME=value" entries. Returns false if there is no such entry.
bool find_value(const std::vector<std::string>& environment, std::string_view name,
                std::string_view& value) {
    for (const std::string& entry : environment) {
        if (entry.size() <= name.size() || entry[name.size()] != '=' || !entry.starts_with(name))
            continue;
        value = std::string_view(entry).substr(name.size() + 1);
        return true;
    }
    return false;
}

bool starts_with_any(std::string_view name, std::initializer_list<std::string_view> prefixes) {
    return std::any_of(prefixes.begin(), prefixes.end(),
                       [&](std::string_view prefix) { return name.starts_with(prefix); });
}

}  // namespace

std::vector<TaskId> PmixJob::local_tasks() const {
    std::vector<TaskId> tasks;
    for (std::size_t task = 0; task < node_of_task.size(); ++task)
        if (node_of_task[task] == this_node) tasks.push_back(static_cast<TaskId>(task));
    return tasks;
}

Environment pmix_environment(const PmixJob& job, std::uint16_t port,
                             const std::string& system_tmpdir) {
    const std::string uri = job.server_nspace() + "." + std::to_string(job.this_node) +
                            ";tcp4://127.0.0.1:" + std::to_string(port);
    Environment entries;
    entries.emplace_back("PMIX_NAMESPACE", job.nspace);
    for (const char* version : {"41", "4", "3", "2", "21"})
        entries.emplace_back(std::string(kServerUri) + version, uri);
    entries.emplace_back("PMIX_SECURITY_MODE", "native");
    entries.emplace_back("PMIX_BFROP_BUFFER_TYPE", "PMIX_BFROP_BUFFER_NON_DESC");
    entries.emplace_back("PMIX_GDS_MODULE", kPmixStores);
    entries.emplace_back("PMIX_SERVER_TMPDIR", job.pmix_directory());
    entries.emplace_back("PMIX_SYSTEM_TMPDIR", system_tmpdir);
    entries.emplace_back(kPmixStoreVariable, job.pmix_directory() + "/" + kPmixStoreName);
    entries.emplace_back("PMIX_HOSTNAME", job.hostname());
    entries.emplace_back("PMIX_VERSION", POE_PMIX_VERSION);
    return entries;
}

std::uint16_t pmix_port(const Environment& environment) {
    for (const auto& [name, value] : environment) {
        if (!name.starts_with(kServerUri)) continue;
        const std::size_t colon = value.rfind(':');
        const char* begin = value.data() + (colon == std::string::npos ? value.size() : colon + 1);
        const char* end = value.data() + value.size();
        std::uint16_t port = 0;
        if (std::from_chars(begin, end, port).ptr == end && port != 0) return port;
    }
    throw Error("libpmix names no TCP port");
}

void set_pmix_port(Environment& environment, std::uint16_t port) {
    for (auto& [name, value] : environment)
        if (name.starts_with(kServerUri))
            value = value.substr(0, value.rfind(':') + 1) + std::to_string(port);
}

std::string pmix_environment_difference(const Environment& promised, const Environment& real) {
    std::string text;
    for (const auto& [name, value] : real) {
        // The name is captured again, because clang 14 cannot capture a structured binding.
        const auto other =
            std::find_if(promised.begin(), promised.end(),
                         [&name = name](const auto& entry) { return entry.first == name; });
        const bool bridged = name == kPmixStoreVariable || name.starts_with(kServerUri);
        if (other != promised.end() && (bridged || other->second == value)) continue;
        if (!text.empty()) text += "; ";
        text += name + " is \"" + value + "\"";
        if (other != promised.end()) text += " instead of \"" + other->second + "\"";
    }
    return text;
}

std::string pmix_system_tmpdir(const std::vector<std::string>& environment) {
    std::string_view value;
    for (const char* name : {"TMPDIR", "TEMP", "TMP"})
        if (find_value(environment, name, value)) return std::string(value);
    return "/tmp";
}

bool is_other_launchers_variable(std::string_view name) {
    if (name.starts_with("PMIX_")) return !name.starts_with("PMIX_MCA_");
    if (name == "OMPI_MCA_orte_tmpdir_base") return false;  // the user's choice of a directory
    return starts_with_any(
        name, {"PMI_", "PMI2_", "MPI_LOCAL", "HYDI_", "HYDRA_CONTROL_FD", "OMPI_COMM_WORLD_",
               "OMPI_MCA_ess", "OMPI_MCA_orte_", "OMPI_MCA_initial_wdir", "OMPI_UNIVERSE_SIZE",
               "OMPI_APP_CTX_", "OMPI_NUM_APP_CTX", "OMPI_FIRST_RANKS", "OMPI_FILE_LOCATION",
               "OMPI_COMMAND", "OMPI_ARGV", "JSM_"});
}

Environment rank_environment(TaskId task, std::size_t tasks, const PlaceOnNode& place) {
    const std::string rank = std::to_string(place.rank), local_tasks = std::to_string(place.tasks);
    return {{"OMPI_COMM_WORLD_RANK", std::to_string(task)},
            {"OMPI_COMM_WORLD_SIZE", std::to_string(tasks)},
            {"OMPI_COMM_WORLD_LOCAL_RANK", rank},
            {"OMPI_COMM_WORLD_LOCAL_SIZE", local_tasks},
            {"OMPI_COMM_WORLD_NODE_RANK", rank},
            {"MPI_LOCALRANKID", rank},
            {"MPI_LOCALNRANKS", local_tasks},
            {"PMI_RANK", std::to_string(task)},
            {"PMI_SIZE", std::to_string(tasks)}};
}

Environment foreign_mpi_environment(const ForeignMpiFacts& facts,
                                    const std::vector<std::string>& user_environment) {
    Environment entries;
    const auto set = [&](const char* name, const std::string& value) {
        std::string_view users;
        if (!find_value(user_environment, name, users)) entries.emplace_back(name, value);
    };
    // Without this, Open MPI's runtime would not use PMIx and would start every task as a separate
    // job. The same holds for tasks in an allocation of Slurm that srun has not started.
    set("OMPI_MCA_schizo", "^orte,slurm");
    // Waiting tasks yield their core: 100 times faster if there are too few cores.
    if (facts.local_tasks > facts.cpus) set("OMPI_MCA_mpi_yield_when_idle", "1");
    // A job on one node need not probe fast networks; this saves 0.2 s.
    if (facts.one_node) set("OMPI_MCA_pml", "ob1");
    // Shared-memory files are put into the job's directory, so they are removed with it if tasks
    // are killed.
    for (const char* name :
         {"OMPI_MCA_btl_vader_backing_directory", "OMPI_MCA_osc_sm_backing_directory",
          "OMPI_MCA_osc_rdma_backing_directory"})
        set(name, facts.directory);
    return entries;
}

}  // namespace poe::pm
