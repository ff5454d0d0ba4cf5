// Names and values for other MPIs: what is set, what is left alone, what differs.
#include "partition_manager/pmi/pmix_environment.hpp"

#include <algorithm>
#include <map>

#include <catch2/catch.hpp>

#include "base/error.hpp"

namespace {

using namespace poe;
using namespace poe::pm;

PmixJob two_nodes() {
    PmixJob job;
    job.job_id = "abc";
    job.nspace = "poe-abc";
    job.nodes = {"n0", "n1"};
    job.this_node = 1;
    job.node_of_task = {0, 0, 1, 1, 0};
    job.directory = "/dev/shm/poe-0-abc";
    return job;
}

std::map<std::string, std::string> as_map(const Environment& environment) {
    std::map<std::string, std::string> map;
    for (const auto& [name, value] : environment) CHECK(map.emplace(name, value).second);
    return map;
}

}  // namespace

TEST_CASE("the promised PMIx environment names the server and its places") {
    auto map = as_map(pmix_environment(two_nodes(), 4711, "/var/tmp"));
    CHECK(map["PMIX_NAMESPACE"] == "poe-abc");
    for (const char* name : {"PMIX_SERVER_URI41", "PMIX_SERVER_URI4", "PMIX_SERVER_URI3",
                             "PMIX_SERVER_URI2", "PMIX_SERVER_URI21"})
        CHECK(map[name] == "poe-abc.pmd.1;tcp4://127.0.0.1:4711");
    CHECK(map["PMIX_HOSTNAME"] == "n1");
    CHECK(map["PMIX_SERVER_TMPDIR"] == "/dev/shm/poe-0-abc/pmix");
    CHECK(map["PMIX_SYSTEM_TMPDIR"] == "/var/tmp");
    CHECK(map["PMIX_DSTORE_21_BASE_PATH"].rfind("/dev/shm/poe-0-abc/pmix/", 0) == 0);
    CHECK_FALSE(map["PMIX_VERSION"].empty());
    CHECK(map.count("PMIX_RANK") == 0);
}

TEST_CASE("a job knows its tasks on this node") {
    CHECK(two_nodes().local_tasks() == std::vector<TaskId>{2, 3});
    CHECK(two_nodes().hostname() == "n1");
}

TEST_CASE("the PMIx port is found and changed in all its places") {
    Environment environment = pmix_environment(two_nodes(), 4711, "/tmp");
    CHECK(pmix_port(environment) == 4711);
    set_pmix_port(environment, 65535);
    CHECK(pmix_port(environment) == 65535);
    for (const auto& [name, value] : environment) CHECK(value.find("4711") == std::string::npos);
    CHECK_THROWS_AS(pmix_port({}), Error);
    CHECK_THROWS_AS(pmix_port({{"PMIX_SERVER_URI4", "a.0;usock://x"}}), Error);
    CHECK_THROWS_AS(pmix_port({{"PMIX_SERVER_URI4", "a.0;tcp4://h:99999"}}), Error);
    CHECK_THROWS_AS(pmix_port({{"PMIX_SERVER_URI4", ""}}), Error);
}

TEST_CASE("what a real server says differently is told by name, but for what is bridged") {
    const Environment promised = pmix_environment(two_nodes(), 1, "/tmp");
    Environment real = pmix_environment(two_nodes(), 2, "/tmp");
    CHECK(pmix_environment_difference(promised, real).empty());
    for (auto& [name, value] : real)
        if (name == "PMIX_DSTORE_21_BASE_PATH") value = "/elsewhere";
    CHECK(pmix_environment_difference(promised, real).empty());
    for (auto& [name, value] : real)
        if (name == "PMIX_SECURITY_MODE") value = "munge";
    real.emplace_back("PMIX_NEW", "x");
    CHECK(pmix_environment_difference(promised, real) ==
          "PMIX_SECURITY_MODE is \"munge\" instead of \"native\"; PMIX_NEW is \"x\"");
}

TEST_CASE("libpmix's directory for temporary files") {
    CHECK(pmix_system_tmpdir({}) == "/tmp");
    CHECK(pmix_system_tmpdir({"TMP=/c", "TEMP=/b", "TMPDIR=/a"}) == "/a");
    CHECK(pmix_system_tmpdir({"TMP=/c", "TEMP=/b", "TMPDIRS=/a"}) == "/b");
    CHECK(pmix_system_tmpdir({"TMP=/c"}) == "/c");
}

TEST_CASE("another launcher's variables are known from the user's own") {
    for (const char* name :
         {"PMIX_RANK", "PMIX_SERVER_URI41", "PMI_RANK", "PMI_FD", "OMPI_COMM_WORLD_RANK",
          "OMPI_MCA_ess", "OMPI_MCA_orte_hnp_uri", "MPI_LOCALRANKID", "PMIX_NAMESPACE"})
        CHECK(is_other_launchers_variable(name));
    for (const char* name : {"PMIX_MCA_gds", "OMPI_MCA_btl", "OMPI_MCA_pml", "PATH", "PMI",
                             "OMPI_MCA_orte_tmpdir_base", "UCX_TLS", "MPIR_CVAR_DEBUG_SUMMARY", ""})
        CHECK_FALSE(is_other_launchers_variable(name));
}

TEST_CASE("tasks are numbered on their node, by the names of other launchers") {
    JobSpec job;
    job.nodes = {"a", "b"};
    for (const NodeIndex node : {0, 1, 0, 0, 1}) {
        TaskSpec task;
        task.node = node;
        job.tasks.push_back(task);
    }
    const std::uint32_t ranks[] = {0, 0, 1, 2, 1}, tasks[] = {3, 2, 3, 3, 2};
    for (TaskId task = 0; task < 5; ++task) {
        CHECK(place_on_node(job, task).rank == ranks[task]);
        CHECK(place_on_node(job, task).tasks == tasks[task]);
    }
    const Environment expected{{"OMPI_COMM_WORLD_RANK", "3"},
                               {"OMPI_COMM_WORLD_SIZE", "5"},
                               {"OMPI_COMM_WORLD_LOCAL_RANK", "2"},
                               {"OMPI_COMM_WORLD_LOCAL_SIZE", "3"},
                               {"OMPI_COMM_WORLD_NODE_RANK", "2"},
                               {"MPI_LOCALRANKID", "2"},
                               {"MPI_LOCALNRANKS", "3"},
                               {"PMI_RANK", "3"},
                               {"PMI_SIZE", "5"}};
    CHECK((rank_environment(3, 5, place_on_node(job, 3)) == expected));
    // A job inside of the job does not inherit them.
    for (const auto& [name, value] : expected) CHECK(is_other_launchers_variable(name));
}

TEST_CASE("settings for Open MPI depend on the job, and never beat the user's") {
    ForeignMpiFacts facts;
    facts.local_tasks = 4;
    facts.cpus = 4;
    facts.directory = "/dev/shm/d";
    auto map = as_map(foreign_mpi_environment(facts, {}));
    CHECK(map["OMPI_MCA_schizo"] == "^orte,slurm");
    CHECK(map["OMPI_MCA_pml"] == "ob1");
    CHECK(map["OMPI_MCA_btl_vader_backing_directory"] == "/dev/shm/d");
    CHECK(map["OMPI_MCA_osc_sm_backing_directory"] == "/dev/shm/d");
    CHECK(map["OMPI_MCA_osc_rdma_backing_directory"] == "/dev/shm/d");
    CHECK(map.count("OMPI_MCA_mpi_yield_when_idle") == 0);

    facts.local_tasks = 5;
    facts.one_node = false;
    map = as_map(foreign_mpi_environment(facts, {}));
    CHECK(map["OMPI_MCA_mpi_yield_when_idle"] == "1");
    CHECK(map.count("OMPI_MCA_pml") == 0);

    facts.one_node = true;
    map = as_map(foreign_mpi_environment(
        facts, {"OMPI_MCA_pml=", "OMPI_MCA_schizo=x", "OMPI_MCA_mpi_yield_when_idle=0",
                "OMPI_MCA_btl_vader_backing_directory_x=1"}));
    CHECK(map.size() == 3);
    CHECK(map.count("OMPI_MCA_btl_vader_backing_directory") == 1);
}
