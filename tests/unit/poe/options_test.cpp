// Options: flag beats variable beats default, every value reaches its field, and nothing is
// swallowed.
#include "poe/options.hpp"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "poe/option_table.hpp"
#include "poe/read_options.hpp"

using namespace poe;
using namespace poe::cli;
using namespace std::chrono_literals;
using Words = std::vector<std::string>;

namespace {

Options right(const Words& arguments, const Environment& environment = {}) {
    auto options = read_options(arguments, environment);
    if (!options) FAIL(options.error().str());
    return options.value();
}

std::string wrong(const Words& arguments, const Environment& environment = {}) {
    const auto options = read_options(arguments, environment);
    REQUIRE_FALSE(options.ok());
    return options.error().str();
}

std::vector<std::string> notices(const Options& options) {
    std::vector<std::string> out;
    for (const Notice& notice : options.notices) out.push_back(notice.str());
    return out;
}

}  // namespace

TEST_CASE("flag beats variable beats default", "[options]") {
    CHECK(right({}).procs == 1);
    CHECK(right({}, {{"MP_PROCS", "3"}}).procs == 3);
    CHECK(right({"-procs", "4"}, {{"MP_PROCS", "3"}}).procs == 4);
    CHECK(right({"x", "-procs", "4", "-procs", "5"}).procs == 5);

    CHECK(right({}).origin("procs") == "default");
    CHECK(right({}, {{"MP_PROCS", "3"}}).origin("procs") == "MP_PROCS");
    CHECK(right({"-procs", "4"}, {{"MP_PROCS", "3"}}).origin("procs") == "-procs");
    CHECK(right({"-procs", "4"}).source("procs") == Source::kFlag);
}

TEST_CASE("a beaten variable is not checked, an empty one is not set", "[options]") {
    CHECK(right({"-procs", "4"}, {{"MP_PROCS", "many"}}).procs == 4);
    const Options options = right({}, {{"MP_PROCS", ""}, {"MP_LABELIO", ""}, {"MP_FENCE", ""}});
    CHECK(options.procs == 1);
    CHECK(options.source("procs") == Source::kDefault);
    CHECK(wrong({}, {{"MP_PROCS", "many"}}) ==
          "MP_PROCS: \"many\" is not allowed; expected a number of tasks from 1 to 1048576");
}

TEST_CASE("every value reaches its field", "[options]") {
    const Options o =
        right({"prog",    "-procs",     "8",     "-pgmmodel",   "MPMD",   "-cmdfile",
               "c",       "-newjob",    "yes",   "-hfile",      "h",      "-savehostfile",
               "s",       "-retry",     "7",     "-retrycount", "3",      "-pulse",
               "0",       "-labelio",   "Yes",   "-stdinmode",  "7",      "-stdoutmode",
               "ordered", "-ilevel",    "3",     "-report",     "r.json", "-maxtime",
               "60",      "-wait_mode", "sleep", "-buffer_mem", "64M",    "-eager_limit",
               "32k",     "-euilib",    "us",    "-dry-run"},
              {{"MP_TIMEOUT", "10"},
               {"MP_HOLD_STDIN", "yes"},
               {"MP_KILL_GRACE", "50"},
               {"MP_PMIX", "no"},
               {"MP_PMD", "/opt/pmd"}});
    CHECK(o.request == Request::kRun);
    CHECK(o.program == pm::Command{"prog"});
    CHECK(o.procs == 8);
    CHECK(o.program_model == ProgramModel::kMpmd);
    CHECK(o.commands_file == "c");
    CHECK(o.newjob);
    CHECK(o.host_file_use == pm::HostFileUse::kGiven);
    CHECK(o.host_file == "h");
    CHECK(o.save_host_file == "s");
    CHECK(o.retry == 7s);
    CHECK_FALSE(o.retry_until_ready);
    CHECK(o.retry_count == 3);
    CHECK(o.pulse == 0s);
    CHECK(o.timeout == 10s);
    CHECK(o.labelio);
    CHECK(o.stdin_mode.kind == pm::StdinMode::Kind::kOne);
    CHECK(o.stdin_mode.task == 7);
    CHECK(o.stdout_mode.kind == pm::StdoutMode::Kind::kOrdered);
    CHECK(o.hold_stdin);
    CHECK(o.infolevel == 3);
    CHECK(o.report == "r.json");
    CHECK(o.maxtime == 60s);
    CHECK(o.kill_grace == 50ms);
    CHECK(o.wait_mode == WaitMode::kSleep);
    CHECK(o.buffer_mem == 64u << 20);
    CHECK(o.eager_limit == 32u << 10);
    CHECK(o.euilib == poe::Euilib::kUs);
    CHECK(o.pmix == PmixMode::kNo);
    CHECK(o.pmd == "/opt/pmd");
    CHECK(o.dry_run);
    CHECK(o.notices.empty());
}

TEST_CASE("the same by variables", "[options]") {
    const Options o = right({}, {{"MP_PGMMODEL", "mpmd"},
                                 {"MP_STDINMODE", "NONE"},
                                 {"MP_STDOUTMODE", "0"},
                                 {"MP_RETRY", "wait"},
                                 {"MP_WAIT_MODE", "nopoll"},
                                 {"MP_MAXTIME", "0"},
                                 {"MP_NOARGLIST", "yes"},
                                 {"MP_FENCE", "F"}});
    CHECK(o.program_model == ProgramModel::kMpmd);
    CHECK(o.stdin_mode.kind == pm::StdinMode::Kind::kNone);
    CHECK(o.stdout_mode.kind == pm::StdoutMode::Kind::kOne);
    CHECK(o.stdout_mode.task == 0);
    CHECK(o.retry_until_ready);
    CHECK(o.wait_mode == WaitMode::kSleep);
    CHECK_FALSE(o.maxtime.has_value());
    CHECK(o.noarglist);
    CHECK(o.fence == "F");
    CHECK(right({}, {{"MP_WAIT_MODE", "Poll"}}).wait_mode == WaitMode::kPoll);
    CHECK(right({}, {{"MP_WAIT_MODE", "yield"}}).wait_mode == WaitMode::kYield);
    CHECK(right({}, {{"MP_PMIX", "yes"}}).pmix == PmixMode::kYes);
}

TEST_CASE("host file: given, none, default", "[options]") {
    using pm::HostFileUse;
    CHECK(right({}).host_file_use == HostFileUse::kDefault);
    CHECK(right({}, {{"MP_HOSTFILE", ""}}).host_file_use == HostFileUse::kNone);
    CHECK(right({}, {{"MP_HOSTFILE", "null"}}).host_file_use == HostFileUse::kNone);
    CHECK(right({"-hostfile", "NULL"}, {{"MP_HOSTFILE", "h"}}).host_file_use == HostFileUse::kNone);
    CHECK(right({"-hostfile", ""}).host_file_use == HostFileUse::kNone);
    CHECK(right({}, {{"MP_HOSTFILE", "h"}}).host_file == "h");
    CHECK(right({"-hfile", "Null.list"}).host_file == "Null.list");
}

TEST_CASE("requests", "[options]") {
    CHECK(right({"-h"}).request == Request::kHelp);
    CHECK(right({"-help"}).request == Request::kHelp);
    CHECK(right({"--help"}, {{"MP_PROCS", "bad"}}).request == Request::kHelp);
    CHECK(right({"--version"}).request == Request::kVersion);
    CHECK(right({"prog", "-h"}).request == Request::kRun);
    CHECK(right({"prog", "-h"}).program == pm::Command{"prog", "-h"});
}

TEST_CASE("flags become variables of the tasks", "[options]") {
    const Options o = right(
        {"x", "-labelio", "YES", "-procs", "4", "-hfile", "NULL", "-tlevel", "9", "-fence", "kept"},
        {{"MP_PROCS", "2"}, {"MP_PULSE", "5"}});
    CHECK(o.task_environment ==
          Words{"MP_PROCS=4", "MP_HOSTFILE=NULL", "MP_LABELIO=yes", "MP_TRACELEVEL=9"});
    CHECK(o.program == pm::Command{"x", "-fence", "kept"});
}

TEST_CASE("known, but without effect: told, never swallowed", "[options]") {
    CHECK(notices(right({"x", "-pmdlog", "yes"})) ==
          Words{"ATTENTION: 0031-378  -pmdlog \"yes\" is ignored: this version of poe has no such "
                "function"});
    CHECK(
        notices(right({"x", "-usrport", "9998"}, {{"MP_SINGLE_THREAD", "yes"}})) ==
        Words{"ATTENTION: 0031-378  MP_SINGLE_THREAD \"yes\" is ignored: this version of poe has "
              "no such function",
              "ATTENTION: 0031-378  -usrport \"9998\" is ignored: this version of poe has no such "
              "function"});
    // What asks for nothing needs no answer.
    CHECK(right({"x", "-pmdlog", "no", "-tlevel", "0", "-euidevelop", "NO"}).notices.empty());
    for (const OptionRow& row : option_table()) {
        if (row.implemented() || row.variable.empty()) continue;
        std::string_view choices = row.choices;
        std::string value(next_word(choices));
        if (value == row.default_value) value = std::string(next_word(choices));
        if (row.choices.empty()) value = row.low > 0 ? std::to_string(row.low) : "7";
        INFO(row.variable);
        const Options options = right({}, {{std::string(row.variable), value}});
        REQUIRE(options.notices.size() == 1);
        CHECK(options.notices[0].text.find(row.variable) == 0);
    }
}

TEST_CASE("without shared memory all messages go over TCP", "[options]") {
    CHECK(right({"x", "-shared_memory", "no"}).euilib == Euilib::kIp);
    CHECK(right({"x", "-shared_memory", "yes"}).euilib == Euilib::kUs);
}

TEST_CASE("settings that go against each other are told", "[options]") {
    CHECK(right({"x", "-euilib", "ip"}).notices.empty());
    CHECK(notices(right({"x", "-pgmmodel", "mpmd"})) ==
          Words{"ATTENTION: 0031-378  -pgmmodel mpmd is ignored: all tasks run the program of the "
                "command line"});
    CHECK(notices(right({"x"}, {{"MP_CMDFILE", "f"}})) ==
          Words{"ATTENTION: 0031-378  MP_CMDFILE is ignored: the command line names a program, and "
                "there is no -newjob yes"});
    CHECK(right({"x", "-newjob", "yes"}, {{"MP_CMDFILE", "f"}}).notices.empty());
    CHECK(notices(right({"x", "-retrycount", "2"})).size() == 1);
    CHECK(right({"x", "-retrycount", "2", "-retry", "wait"}).notices.empty());
    const std::string passed = " was passed to the program, because it stands after it; ";
    const std::string start = "ATTENTION: 0031-378  ";
    CHECK(notices(right({"x", "--procs", "a"})) ==
          Words{start + "\"--procs\"" + passed + "poe's own flag is \"-procs\""});
    for (const char* word : {"--procs=3", "-procs=3", "-proc=3"}) {
        const Options options = right({"x", word});
        CHECK(options.program == pm::Command{"x", word});
        CHECK(notices(options) == Words{start + "\"" + std::string(word) + "\"" + passed +
                                        "poe's own flag is \"-procs 3\""});
    }
    CHECK(notices(right({"x", "-labelo", "yes"})) ==
          Words{start + "\"-labelo yes\"" + passed + "poe's own flag is \"-labelio yes\""});
    CHECK(right({"rsync", "--timeout", "3", "--version"}).notices.empty());
}

TEST_CASE("a number of tasks for mpirun after the program", "[options]") {
    CHECK(notices(right({"x", "-n", "4"})) ==
          Words{"ATTENTION: 0031-378  \"-n 4\" was passed to the program, because it stands after "
                "it; the number of tasks is set by \"-procs 4\", or by \"-n 4\" before the "
                "program"});
    CHECK(notices(right({"x", "-np", "4"})).size() == 1);
    CHECK(right({"x", "-n", "4"}).procs == 1);
    CHECK(right({"x", "-n", "4"}).program == pm::Command{"x", "-n", "4"});
    // The user knows how many tasks there are, or the flag changes nothing.
    CHECK(right({"x", "-n", "4", "-procs", "2"}).notices.empty());
    CHECK(right({"-n", "2", "x", "-n", "4"}).notices.empty());
    CHECK(right({"x", "-n", "4"}, {{"MP_PROCS", "2"}}).notices.empty());
    CHECK(right({"x", "-n", "4", "-nodes", "2"}).notices.empty());
    CHECK(right({"head", "-n", "1", "f"}).notices.empty());
    CHECK(right({"sort", "-n", "f"}).notices.empty());
}

TEST_CASE("several programs, as for mpirun", "[options]") {
    CHECK(right({"-n", "4", "x"}).procs == 4);
    CHECK(right({"-n", "4", "x"}, {{"MP_PROCS", "2"}}).procs == 4);
    CHECK(right({"-n", "4", "x"}).parts.empty());
    CHECK(wrong({"-n", "0", "x"}) ==
          "-n: \"0\" is not allowed; expected a number of tasks from 1 to 1048576");
    const Options one = right({"-x", "A=b=c", "-x", "C", "-wdir", "d", "x"});
    CHECK(one.place.environment == Words{"A=b=c", "C"});
    CHECK(one.place.directory == "d");
    CHECK(wrong({"-x", "=1", "x"}) ==
          "-x: there is no name in \"=1\"; expected NAME or NAME=VALUE");

    const Options o = right({"-n", "2", "-wdir", "d", "a", "1", ":", "-np", "3", "-x", "V", "b",
                             ":", "c", "-stdinmode", "5"},
                            {{"MP_PROCS", "9"}, {"MP_PGMMODEL", "mpmd"}});
    CHECK(o.procs == 6);
    CHECK(o.source("procs") == Source::kFlag);
    REQUIRE(o.parts.size() == 3);
    CHECK(o.program == pm::Command{"a", "1"});
    CHECK(o.parts[0].program == pm::Command{"a", "1"});
    CHECK(o.parts[0].tasks == 2);
    CHECK(o.parts[0].place.directory == "d");
    CHECK(o.parts[1].tasks == 3);
    CHECK(o.parts[1].place.environment == Words{"V"});
    CHECK(o.parts[2].program == pm::Command{"c"});
    CHECK(o.parts[2].tasks == 1);
    CHECK(o.notices.empty());
    CHECK(wrong({"-n", "2", "a", ":", "b", "-procs", "5"}) ==
          "-procs: the job has several programs, each with its own number of tasks; expected -n or "
          "-np before each program instead");
    CHECK(wrong({"-n", "1000000", "a", ":", "-n", "1000000", "b"}).find("too many") !=
          std::string::npos);
}

TEST_CASE("flags and variables of later versions have no effect and are told", "[options]") {
    const Options o =
        right({"-msg_api", "lapi", "x", "-devtype", "ib", "-a", "-task_affinity", "core"},
              {{"MP_MPILIB", "mpich2"}});
    CHECK(o.program == pm::Command{"x", "-a"});
    REQUIRE(o.notices.size() == 4);
    CHECK(o.notices[0].text.find("-msg_api is ignored: it belongs to later versions") == 0);
    CHECK(o.notices[3].text.find("MP_MPILIB is ignored") == 0);
    CHECK(right({"--", "x", "-msg_api", "mpi"}).program == pm::Command{"x", "-msg_api", "mpi"});
    CHECK(wrong({"x", "-msg_api"}) == "-msg_api: its value is missing; expected a value");
}

TEST_CASE("an eager limit of 0 is legal", "[options]") {
    CHECK(right({}, {{"MP_EAGER_LIMIT", "0"}}).eager_limit == 1);
    CHECK(right({"-eager_limit", "0"}).eager_limit == 1);
    CHECK(wrong({"-eager_limit", "00"}).find("not allowed") != std::string::npos);
    CHECK(wrong({"-buffer_mem", "0"}).find("not allowed") != std::string::npos);
}

TEST_CASE("misspelled variables are told, other people's are not", "[options]") {
    CHECK(notices(right({}, {{"MP_LABLEIO", "yes"}})) ==
          Words{"ATTENTION: 0031-378  \"MP_LABLEIO\" in the environment is not known; did you mean "
                "MP_LABELIO?"});
    CHECK(notices(right({}, {{"MP_PROC", "4"}})).size() == 1);
    CHECK(notices(right({}, {{"MP_COLL_BACST", "chain"}})) ==
          Words{"ATTENTION: 0031-378  \"MP_COLL_BACST\" in the environment is not known; did you "
                "mean MP_COLL_BCAST?"});
    CHECK(notices(right({}, {{"MP_COLL_INDEXV", "a2"}})).size() == 1);
    CHECK(notices(right({}, {{"MP_COLL_", ""}})).size() == 1);
    CHECK(right({}, {{"MP_COLL_BCAST", "chain"}, {"MP_COLL_SYNC", "tree"}}).notices.empty());
    CHECK(right({}, {{"MP_CHILD", "0"},
                     {"MP_SEGMENT", "/x"},
                     {"MP_PARTITION", "j"},
                     {"MP_THING", "1"},
                     {"MP_" + std::string(100000, 'A'), "1"}})
              .notices.empty());
}

TEST_CASE("values that do not fit together are errors", "[options]") {
    CHECK(wrong({"x", "-procs", "4", "-stdinmode", "4"}) ==
          "-stdinmode: there is no task 4; the job has 4 tasks, 0 to 3 (-procs)");
    CHECK(wrong({"x"}, {{"MP_STDOUTMODE", "1"}}) ==
          "MP_STDOUTMODE: there is no task 1; the job has 1 task, 0 (default)");
    CHECK(right({"x", "-procs", "4", "-stdinmode", "3"}).stdin_mode.task == 3);
    CHECK(wrong({""}) == "poe: the program's name is empty; expected a program");
    CHECK(wrong({"-noarglist", "perhaps", "x"}) ==
          "-noarglist: \"perhaps\" is not allowed; expected yes or no");
    CHECK(wrong({"x", "-hfile"}) == "-hfile: its value is missing; expected the name of a file");
}

TEST_CASE("messages by level", "[options]") {
    using Severity = Notice::Severity;
    CHECK_FALSE(is_shown(Severity::kAttention, 0));
    CHECK(is_shown(Severity::kAttention, 1));
    CHECK_FALSE(is_shown(Severity::kInfo, 1));
    CHECK(is_shown(Severity::kInfo, 2));
    CHECK(Notice{Severity::kInfo, 7, "text"}.str() == "INFO: 0031-007  text");
}

TEST_CASE("the MP_ variables of an environment block", "[options]") {
    const char* const block[] = {"PATH=/bin", "MP_PROCS=4", "MP_FENCE=a=b", "MP_EMPTY=",
                                 "MP_BROKEN", "XMP_NO=1",   "MP_PROCS=5",   nullptr};
    const Environment expected{{"MP_PROCS", "4"}, {"MP_FENCE", "a=b"}, {"MP_EMPTY", ""}};
    CHECK(mp_variables(block) == expected);
}

TEST_CASE("displays on poe's own terminal", "[options]") {
    CHECK_FALSE(right({}).pmarray);
    CHECK_FALSE(right({}).progress);
    CHECK(right({"-pmarray", "yes"}).pmarray);
    CHECK(right({}, {{"MP_PROGRESS", "Yes"}}).progress);
    // The tasks hear how many lights there are.
    CHECK(right({"-pmlights", "8"}).task_environment == std::vector<std::string>{"MP_PMLIGHTS=8"});
    CHECK(wrong({"-pmlights", "101"}).find("0 to 100") != std::string::npos);
}
