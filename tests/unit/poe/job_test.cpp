// Options, map and surroundings become a job.
#include "poe/job.hpp"

#include <set>

#include <catch2/catch.hpp>

using namespace poe;
using namespace poe::cli;
using namespace std::chrono_literals;

namespace {

using Words = std::vector<std::string>;

HostContext surroundings_at(std::int64_t milliseconds, pid_t pid) {
    HostContext surroundings;
    surroundings.pid = pid;
    surroundings.now = std::chrono::system_clock::time_point(
        std::chrono::duration_cast<std::chrono::system_clock::duration>(
            std::chrono::milliseconds(milliseconds)));
    return surroundings;
}

bool is_job_id(const std::string& id) {
    return !id.empty() && id.size() <= 40 &&
           id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos;
}

}  // namespace

TEST_CASE("job ids fit and differ", "[job]") {
    std::set<std::string> ids;
    std::size_t made = 0;
    for (const std::int64_t time :
         {std::int64_t{0}, std::int64_t{1}, std::int64_t{35}, std::int64_t{36},
          std::int64_t{1700000000000}, std::int64_t{1700000000001}, std::int64_t{4102444800000},
          std::int64_t{-1}}) {
        for (const pid_t pid : {1, 35, 36, 37, 1295, 1296, 4194304, 2147483647}) {
            for (const int step : {0, 1, 36, 100000, 2147483647}) {
                const std::string id = make_job_id(surroundings_at(time, pid), step);
                INFO(id);
                CHECK(is_job_id(id));
                ids.insert(id);
                ++made;
            }
        }
    }
    CHECK(ids.size() == made);
    CHECK(make_job_id(surroundings_at(36, 35), 1) == "10-z-1");
}

TEST_CASE("what tasks inherit", "[job]") {
    struct Case {
        Words environment;
        Words flags;
        Words result;
    };
    const Case cases[] = {
        {{}, {}, {}},
        {{"A=1", "B=2"}, {}, {"A=1", "B=2"}},
        {{}, {"MP_PROCS=4"}, {"MP_PROCS=4"}},
        {{"A=1", "MP_PROCS=2", "B=2"}, {"MP_PROCS=4"}, {"A=1", "B=2", "MP_PROCS=4"}},
        {{"MP_PROCS=2", "MP_PROCS=3"}, {"MP_PROCS=4"}, {"MP_PROCS=4"}},
        {{"MP_PROCSX=2", "MP_PROC=3", "XMP_PROCS=1"},
         {"MP_PROCS=4"},
         {"MP_PROCSX=2", "MP_PROC=3", "XMP_PROCS=1", "MP_PROCS=4"}},
        {{"MP_X"}, {"MP_X=1"}, {"MP_X=1"}},
        {{"MP_X=a=b"}, {"MP_X=c=d"}, {"MP_X=c=d"}},
        {{"=x", "", "A="}, {"MP_X="}, {"=x", "", "A=", "MP_X="}},
        {{"A=\xff\n"}, {"MP_X=1"}, {"A=\xff\n", "MP_X=1"}},
        {{"mp_procs=1"}, {"MP_PROCS=4"}, {"mp_procs=1", "MP_PROCS=4"}},
    };
    for (const Case& one : cases)
        CHECK((task_environment(one.environment, one.flags) == one.result));
}

TEST_CASE("settings of mpirun's flags", "[job]") {
    HostContext surroundings;
    surroundings.directory = "/home/me";
    surroundings.environment = {"DISPLAY=:0", "A=1"};
    Options options;
    options.place = {{"DISPLAY", "A=2", "MISSING"}, "sub/../work", ""};
    const pm::TaskMap map{{"n"}, {0, 0}, 0};
    const JobStep step{{{"x"}, {"y"}}, {0, 1}, {}};
    pm::JobSpec job = make_job(options, map, step, surroundings, {"", "/remote"}, 0);
    CHECK(job.directory == "/home/me/work");
    CHECK(job.launch.directory.empty());
    REQUIRE(job.places.size() == 2);
    CHECK(job.places[1].environment == Words{"PWD=/home/me/work", "DISPLAY=:0", "A=2"});
    CHECK(unset_exports(options, surroundings.environment) == Words{"MISSING"});

    const JobStep parts{{{"x"}, {"y"}}, {0, 1}, {{}, {{"B=1"}, "/data", ""}}};
    job = make_job({}, map, parts, surroundings, {"", "/remote"}, 0);
    CHECK(job.directory == "/home/me");
    CHECK(job.launch.directory == "/remote");
    REQUIRE(job.places.size() == 2);
    CHECK(job.places[0].environment.empty());
    CHECK(job.places[1].environment == Words{"PWD=/data", "B=1"});
    CHECK(directory_of(job, 0) == "/home/me");
    CHECK(directory_of(job, 1) == "/data");
    CHECK(make_job({}, map, step, surroundings, {}, 0).places.empty());
}

TEST_CASE("a job of all that is known", "[job]") {
    Options options;
    options.task_environment = {"MP_INFOLEVEL=3"};
    options.stdin_mode = {pm::StdinMode::Kind::kOne, 2};
    options.stdout_mode = {pm::StdoutMode::Kind::kOrdered, 0};
    options.wait_mode = WaitMode::kSleep;
    options.buffer_mem = 1 << 20;
    options.eager_limit = 4096;
    options.bind = false;
    options.single_copy = false;
    options.kill_grace = 1500ms;
    options.pmix = PmixMode::kYes;
    const pm::TaskMap map{{"a", "b"}, {0, 1, 1}, 1};
    const JobStep step{{{"./x", "1"}, {"./y"}}, {1, 0, 1}, {}};
    HostContext surroundings = surroundings_at(1700000000000, 77);
    surroundings.environment = {"HOME=/h", "MP_INFOLEVEL=1"};
    surroundings.directory = "/work dir";
    surroundings.address_towards = [](const std::string& node) {
        CHECK(node == "a");
        return std::string("192.0.2.1");
    };
    surroundings.stdin_is_empty = true;
    surroundings.stdout_is_terminal = true;

    const pm::JobSpec job = make_job(options, map, step, surroundings, {}, 5);
    CHECK(job.id == make_job_id(surroundings, 5));
    CHECK((job.nodes == map.nodes));
    CHECK((job.commands == step.commands));
    REQUIRE(job.tasks.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(job.tasks[i].node == map.node_of_task[i]);
        CHECK(job.tasks[i].command == step.command_of_task[i]);
    }
    CHECK(
        (job.environment ==
         Words{"HOME=/h", "MP_INFOLEVEL=3",
               "MP_PSETS=poe://node/a=0 poe://node/b=1,2 poe://program/0=1 poe://program/1=0,2"}));
    CHECK(job.directory == "/work dir");
    CHECK(job.stdin_mode.kind == pm::StdinMode::Kind::kOne);
    CHECK(job.stdin_mode.task == 2);
    CHECK(job.stdout_mode.kind == pm::StdoutMode::Kind::kOrdered);
    CHECK(job.stdin_is_empty);
    CHECK(job.stdout_is_terminal);
    CHECK(job.wait_mode == WaitMode::kSleep);
    CHECK(job.buffer_mem == Bytes{1} << 20);
    CHECK(job.eager_limit == 4096);
    CHECK_FALSE(job.bind);
    CHECK_FALSE(job.single_copy);
    CHECK(job.kill_grace == 1500ms);
    CHECK(job.host_pmix);
    CHECK(job.eager_pmix);
    CHECK(job.job_key);
    CHECK(job.launch.home == 1);
    CHECK(job.launch.fanout == 16);
    CHECK((job.launch.remote_shell == Words{"ssh", "-xT", "-o", "BatchMode=yes"}));
    CHECK((job.addresses == Words{"", "192.0.2.1"}));

    options.pmix = PmixMode::kAuto;
    CHECK(make_job(options, map, step, surroundings, {}, 0).host_pmix);
    CHECK_FALSE(make_job(options, map, step, surroundings, {}, 0).eager_pmix);
    options.pmix = PmixMode::kNo;
    CHECK_FALSE(make_job(options, map, step, surroundings, {}, 0).host_pmix);
    CHECK_FALSE(make_job(options, map, step, surroundings, {}, 0).eager_pmix);
}
