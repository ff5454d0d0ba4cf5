// PMI-1's state machine: every command and answer, bytes in any pieces, nonsense, several nodes.
#include "partition_manager/pmi/pmi1_server.hpp"

#include <random>
#include <string>

#include <catch2/catch.hpp>

#include "partition_manager/status/name_table.hpp"

namespace {

using namespace poe;
using namespace poe::pm;

Pmi1Job job_of(std::uint32_t size) {
    Pmi1Job job;
    job.kvsname = "kvs_7";
    job.size = size;
    for (std::uint32_t task = 0; task < size; ++task)
        job.local_tasks.push_back(static_cast<TaskId>(task));
    job.appnum_of_task = {0, 3};
    job.process_mapping = "(vector,(0,1,2))";
    return job;
}

// All replies to `task` in one text.
std::string replies_to(const Pmi1Actions& actions, TaskId task) {
    std::string text;
    for (const auto& reply : actions.replies)
        if (reply.task == task) text += reply.bytes;
    return text;
}

std::string ask(Pmi1Server& server, TaskId task, const std::string& bytes) {
    return replies_to(server.on_bytes(task, bytes), task);
}

bool begins(const std::string& text, const std::string& start) {
    return text.rfind(start, 0) == 0;
}

// A run as MPICH makes it, and what it must hear.
const std::string kSession =
    "cmd=init pmi_version=1 pmi_subversion=1\n"
    "cmd=get_maxes\n"
    "cmd=get_appnum\n"
    "cmd=get_my_kvsname\n"
    "cmd=get kvsname=kvs_7 key=PMI_process_mapping\n"
    "cmd=put kvsname=kvs_7 key=business-card value=tcp://a b=c;d \n"
    "cmd=get kvsname=kvs_7 key=business-card\n"
    "cmd=barrier_in\n"
    "cmd=finalize\n";
const std::string kAnswers =
    "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n"
    "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024 rc=0\n"
    "cmd=appnum appnum=0 rc=0\n"
    "cmd=my_kvsname kvsname=kvs_7 rc=0\n"
    "cmd=get_result rc=0 msg=success value=(vector,(0,1,2))\n"
    "cmd=put_result rc=0 msg=success\n"
    "cmd=get_result rc=0 msg=success value=tcp://a b=c;d \n"
    "cmd=barrier_out rc=0\n"
    "cmd=finalize_ack rc=0\n";

}  // namespace

TEST_CASE("PMI-1: a session hears the words of the protocol") {
    Pmi1Server server(job_of(1));
    CHECK(ask(server, 0, kSession) == kAnswers);
    CHECK(server.initialized(0));
    CHECK(server.finalized(0));
}

TEST_CASE("PMI-1: a session in two pieces, cut at every byte, and byte by byte") {
    for (std::size_t cut = 0; cut <= kSession.size(); ++cut) {
        Pmi1Server server(job_of(1));
        std::string heard = ask(server, 0, kSession.substr(0, cut));
        heard += ask(server, 0, kSession.substr(cut));
        REQUIRE(heard == kAnswers);
    }
    Pmi1Server server(job_of(1));
    std::string heard;
    for (const char c : kSession) heard += ask(server, 0, std::string(1, c));
    CHECK(heard == kAnswers);
}

TEST_CASE("PMI-1: single answers") {
    struct Row {
        const char* ask;
        const char* answer;
    };
    static constexpr Row kRows[] = {
        {"cmd=get_universe_size", "cmd=universe_size size=2 rc=0"},
        {"cmd=init pmi_version=2 pmi_subversion=0",
         "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=-1 msg=only_version_1"},
        {"cmd=get kvsname=kvs_7 key=none", "cmd=get_result rc=-1 msg=key_not_found"},
        {"cmd=get kvsname=other key=none", "cmd=get_result rc=-1 msg=unknown_kvsname"},
        {"cmd=put kvsname=other key=k value=v", "cmd=put_result rc=-1 msg=unknown_kvsname"},
        {"cmd=put kvsname=kvs_7 key=k", "cmd=put_result rc=-1 msg=key_or_value_missing"},
        {"cmd=put kvsname=kvs_7 key= value=v", "cmd=put_result rc=-1 msg=key_or_value_missing"},
        {"cmd=put kvsname=kvs_7 key=empty value=", "cmd=put_result rc=0 msg=success"},
        {"  cmd=put\tkvsname=kvs_7  key=k value=v", "cmd=put_result rc=0 msg=success"},
        {"cmd=getbyidx kvsname=kvs_7 idx=0",
         "cmd=getbyidx_results rc=0 nextidx=1 key=PMI_process_mapping val=(vector,(0,1,2))"},
        {"cmd=getbyidx kvsname=kvs_7 idx=1", "cmd=getbyidx_results rc=-2 reason=no_more_keyvals"},
        {"cmd=getbyidx kvsname=kvs_7 idx=-1", "cmd=getbyidx_results rc=-1 reason=invalid_request"},
        {"cmd=getbyidx kvsname=kvs_7 idx=x", "cmd=getbyidx_results rc=-1 reason=invalid_request"},
        {"cmd=create_kvs", "cmd=newkvs rc=-1 msg=one_kvs_per_job"},
        {"cmd=destroy_kvs kvsname=kvs_7", "cmd=kvs_destroyed rc=-1 msg=one_kvs_per_job"},
        {"cmd=publish_name service=s",
         "cmd=publish_result info=error rc=1 msg=service_or_port_missing"},
    };
    for (const Row& row : kRows) {
        INFO(row.ask);
        Pmi1Server server(job_of(2));
        const Pmi1Actions actions = server.on_bytes(1, std::string(row.ask) + "\n");
        CHECK(replies_to(actions, 1) == std::string(row.answer) + "\n");
        CHECK(actions.errors.empty());
    }
    Pmi1Server server(job_of(2));
    CHECK(ask(server, 1, "cmd=get_appnum\n") == "cmd=appnum appnum=3 rc=0\n");
}

TEST_CASE("PMI-1: a key is put once") {
    Pmi1Server server(job_of(2));
    CHECK(ask(server, 0, "cmd=put kvsname=kvs_7 key=k value=first\n") ==
          "cmd=put_result rc=0 msg=success\n");
    CHECK(ask(server, 1, "cmd=put kvsname=kvs_7 key=k value=second\n") ==
          "cmd=put_result rc=-1 msg=duplicate_key\n");
    CHECK(ask(server, 1, "cmd=get kvsname=kvs_7 key=k\n") ==
          "cmd=get_result rc=0 msg=success value=first\n");
}

TEST_CASE("PMI-1: published names are found until taken back") {
    Pmi1Server server(job_of(2));
    NameTable table;
    const auto ask = [&](Pmi1Server& asked, TaskId task, const std::string& bytes) {
        std::string replies;
        for (NameRequest& names : asked.on_bytes(task, bytes).names)
            for (const NameReply& told : table.ask(std::move(names)))
                replies += replies_to(asked.on_names(told), task);
        return replies;
    };
    CHECK(ask(server, 0, "cmd=publish_name service=s port=tag#0$x\n") ==
          "cmd=publish_result info=ok rc=0 msg=success\n");
    CHECK(begins(ask(server, 1, "cmd=publish_name service=s port=p\n"),
                 "cmd=publish_result info=error rc=1"));
    CHECK(ask(server, 1, "cmd=lookup_name service=s\n") ==
          "cmd=lookup_result info=ok rc=0 msg=success port=tag#0$x\n");
    CHECK(ask(server, 0, "cmd=unpublish_name service=s\n") ==
          "cmd=unpublish_result info=ok rc=0 msg=success\n");
    CHECK(begins(ask(server, 1, "cmd=lookup_name service=s\n"), "cmd=lookup_result info=error"));
}

TEST_CASE("PMI-1: a question about a name is answered once, and one at a time") {
    Pmi1Server server(job_of(2));
    const Pmi1Actions asked = server.on_bytes(1, "cmd=lookup_name service=s\n");
    CHECK(asked.replies.empty());
    REQUIRE(asked.names.size() == 1);
    const Pmi1Actions again = server.on_bytes(1, "cmd=publish_name service=t port=p\n");
    CHECK(again.names.empty());
    CHECK(begins(replies_to(again, 1), "cmd=publish_result info=error rc=1"));
    CHECK(again.errors.size() == 1);
    NameReply tell{asked.names[0].asker, NameReply::Status::kUnknown, {}};
    CHECK(begins(replies_to(server.on_names(tell), 1), "cmd=lookup_result info=error rc=1"));
    CHECK(server.on_names(tell).replies.empty());
    tell.asker.request = kPmi1Requests + 7;  // no task of this node
    CHECK(server.on_names(tell).replies.empty());
    CHECK(begins(ask(server, 0, "cmd=publish_name port=p\n"), "cmd=publish_result info=error"));
}

TEST_CASE("PMI-1: a barrier opens for all when the last is in, again and again") {
    Pmi1Server server(job_of(3));
    for (int round = 0; round < 3; ++round) {
        CHECK(server.on_bytes(2, "cmd=barrier_in\n").replies.empty());
        CHECK(server.on_bytes(0, "cmd=barrier_in\n").replies.empty());
        const Pmi1Actions actions = server.on_bytes(1, "cmd=barrier_in\n");
        CHECK(actions.replies.size() == 3);
        for (const TaskId task : {0, 1, 2})
            CHECK(replies_to(actions, task) == "cmd=barrier_out rc=0\n");
        CHECK_FALSE(actions.barrier);
    }
    server.on_bytes(0, "cmd=barrier_in\n");
    const Pmi1Actions twice = server.on_bytes(0, "cmd=barrier_in\n");
    CHECK(twice.errors.size() == 1);
    CHECK(replies_to(twice, 0) == "cmd=barrier_out rc=-1 msg=already_in_barrier\n");
}

TEST_CASE("PMI-1: several nodes exchange what is new at each barrier") {
    Pmi1Job job = job_of(4);
    job.local_tasks = {1, 2};
    Pmi1Server server(job);
    CHECK(begins(ask(server, 1, "cmd=put kvsname=kvs_7 key=a value=1 2\n"), "cmd=put_result rc=0"));
    server.on_bytes(1, "cmd=barrier_in\n");
    const Pmi1Actions in = server.on_bytes(2, "cmd=barrier_in\n");
    CHECK(in.replies.empty());
    REQUIRE(in.barrier);
    CHECK(*in.barrier == std::vector<KeyValue>{{"a", "1 2"}});
    const Pmi1Actions out = server.release({{"a", "1 2"}, {"b", "x"}});
    CHECK(replies_to(out, 1) == "cmd=barrier_out rc=0\n");
    CHECK(replies_to(out, 2) == "cmd=barrier_out rc=0\n");
    CHECK(ask(server, 2, "cmd=get kvsname=kvs_7 key=b\n") ==
          "cmd=get_result rc=0 msg=success value=x\n");
    server.on_bytes(1, "cmd=barrier_in\n");
    const Pmi1Actions again = server.on_bytes(2, "cmd=barrier_in\n");
    REQUIRE(again.barrier);
    CHECK(again.barrier->empty());
}

TEST_CASE("PMI-1: abort is told with its code, and not answered") {
    Pmi1Server server(job_of(2));
    const Pmi1Actions actions = server.on_bytes(1, "cmd=abort exitcode=7\n");
    CHECK(actions.replies.empty());
    REQUIRE(actions.abort);
    CHECK(actions.abort->task == 1);
    CHECK(actions.abort->code == 7);
    CHECK(server.on_bytes(1, "cmd=abort\n").abort->code == 1);
}

TEST_CASE("PMI-1: the requests of one spawn are put together, and answered once") {
    Pmi1Server server(job_of(2));
    const std::string first =
        "mcmd=spawn\nnprocs=1\nexecname=a b\ntotspawns=2\nspawnssofar=1\narg1=x=1\narg2=\n"
        "argcnt=2\npreput_num=1\npreput_key_0=PARENT_ROOT_PORT_NAME\npreput_val_0=tag#0$h#1$\n"
        "info_num=0\nendcmd\n";
    const std::string last =
        "mcmd=spawn\nnprocs=3\nexecname=c\ntotspawns=2\nspawnssofar=2\nargcnt=0\n"
        "preput_num=1\npreput_key_0=PARENT_ROOT_PORT_NAME\npreput_val_0=tag#0$h#1$\n"
        "info_num=3\ninfo_key_0=host\ninfo_val_0=n1,n2\ninfo_key_1=wdir\ninfo_val_1=/tmp\n"
        "info_key_2=path\ninfo_val_2=/opt/bin\nendcmd\n";
    const Pmi1Actions nothing = server.on_bytes(1, first);
    CHECK(nothing.replies.empty());
    CHECK(nothing.spawns.empty());
    const Pmi1Actions actions = server.on_bytes(1, last);
    CHECK(actions.replies.empty());
    REQUIRE(actions.spawns.size() == 1);
    const SpawnTasks& ask = actions.spawns[0];
    CHECK(ask.task == 1);
    REQUIRE(ask.commands.size() == 2);
    CHECK(ask.commands[0].words == Command{"a b", "x=1", ""});
    CHECK(ask.commands[0].tasks == 1);
    CHECK(ask.commands[1].words == Command{"c"});
    CHECK(ask.commands[1].tasks == 3);
    CHECK(ask.commands[1].hosts == std::vector<std::string>{"n1", "n2"});
    CHECK(ask.commands[1].place.directory == "/tmp");
    CHECK(ask.commands[1].place.path == "/opt/bin");
    CHECK(ask.pairs == std::vector<KeyValue>{{"PARENT_ROOT_PORT_NAME", "tag#0$h#1$"}});
    CHECK(begins(replies_to(server.on_bytes(1, last), 1),
                 "cmd=spawn_result rc=-1"));  // not before the answer
    CHECK(replies_to(server.on_spawned({ask.asker, "job", ""}), 1) == "cmd=spawn_result rc=0\n");
    CHECK(server.on_spawned({ask.asker, "job", ""}).replies.empty());
    CHECK(server.on_bytes(1, first + last).spawns.size() == 1);
    CHECK(
        begins(replies_to(server.on_spawned({ask.asker, "", "no"}), 1), "cmd=spawn_result rc=-1"));
}

TEST_CASE("PMI-1: a spawn that cannot be is refused once, after its last part, in words") {
    Pmi1Server server(job_of(2));
    const auto refused = [&](const std::string& lines) {
        const Pmi1Actions actions = server.on_bytes(0, "mcmd=spawn\n" + lines + "endcmd\n");
        return actions.spawns.empty() && actions.errors.size() == 1 && !actions.errors[0].fatal &&
               begins(replies_to(actions, 0), "cmd=spawn_result rc=-1");
    };
    for (int i = 0; i < 10; ++i) {  // these are no offences
        CHECK(refused("nprocs=1\n"));
        CHECK(refused("nprocs=0\nexecname=a\n"));
        CHECK(refused("nprocs=99999999999999999999\nexecname=a\n"));
        CHECK(refused("nprocs=-1\nexecname=a\n"));
        CHECK(refused("nprocs=1\nexecname=a\nargcnt=1000000\n"));
        CHECK(refused("nprocs=1\nexecname=a\ninfo_num=1\ninfo_key_0=soft\ninfo_val_0=1:4\n"));
    }
    CHECK(server.on_bytes(0, "mcmd=spawn\nnprocs=1\ntotspawns=2\nspawnssofar=1\nendcmd\n")
              .replies.empty());
    CHECK(refused("nprocs=1\nexecname=a\ntotspawns=2\nspawnssofar=2\n"));
    std::string huge;
    for (int i = 0; i < 1000; ++i)
        huge += "arg" + std::to_string(i) + "=" + std::string(5000, 'x') + "\n";
    CHECK(refused("nprocs=1\nexecname=a\n" + huge));
    CHECK(server.on_bytes(0, "mcmd=spawn\nnprocs=1\nexecname=a\nendcmd\n").spawns.size() == 1);
}

TEST_CASE("PMI-1: our own library learns the job, and that it has failed later") {
    Pmi1Server server(job_of(2));
    const std::string request = "mcmd=spawn\nnprocs=1\nexecname=a\npoe_own=1\nendcmd\n";
    const Pmi1Actions actions = server.on_bytes(1, request);
    REQUIRE(actions.spawns.size() == 1);
    CHECK(actions.spawns[0].joins);
    const ReplyTo asker = actions.spawns[0].asker;
    CHECK(replies_to(server.on_spawned({asker, "job-s1", ""}), 1) ==
          "cmd=spawn_result rc=0 job=job-s1\n");
    // It may come while the next request waits for its answer, and takes nothing from it.
    CHECK(server.on_bytes(1, request).spawns.size() == 1);
    CHECK(replies_to(server.on_spawned({asker, "job-s1", "a exited\nwith code 3"}), 1) ==
          "cmd=spawn_failed job=job-s1 value=a exited with code 3\n");
    CHECK(replies_to(server.on_spawned({asker, "", "no host"}), 1) ==
          "cmd=spawn_result rc=-1 msg=refused value=no host\n");
}

TEST_CASE("PMI-1: a spawned task joins by reading an initial pair") {
    CHECK_FALSE(Pmi1Server(job_of(2)).unjoined(0));
    Pmi1Job job = job_of(2);
    job.pairs = {{"port", "p"}};
    Pmi1Server server(job);
    ask(server, 0, "cmd=get kvsname=kvs_7 key=other\n");
    CHECK(server.unjoined(0));
    ask(server, 0, "cmd=get kvsname=kvs_7 key=port\n");
    CHECK_FALSE(server.unjoined(0));
    CHECK(server.unjoined(1));
}

TEST_CASE("PMI-1: a job that was spawned has what its parents have put for it") {
    Pmi1Job job = job_of(1);
    job.pairs = {{"PARENT_ROOT_PORT_NAME", "p"}};
    Pmi1Server server(job);
    CHECK(ask(server, 0, "cmd=get kvsname=kvs_7 key=PARENT_ROOT_PORT_NAME\n") ==
          "cmd=get_result rc=0 msg=success value=p\n");
}

TEST_CASE("PMI-1: nonsense is answered, told, and in the end not listened to") {
    Pmi1Server server(job_of(2));
    Pmi1Actions actions = server.on_bytes(0, "cmd=frobnicate x=1\n");
    CHECK(replies_to(actions, 0) == "cmd=frobnicate_result rc=-1 msg=unknown_command\n");
    REQUIRE(actions.errors.size() == 1);
    CHECK(actions.errors[0].text.find("task 0") != std::string::npos);
    CHECK_FALSE(actions.errors[0].fatal);
    CHECK(ask(server, 0, "hello\n") == "cmd=error rc=-1 msg=no_command\n");
    CHECK(ask(server, 0, "mcmd=dance\nendcmd\n") == "cmd=dance_result rc=-1 msg=unknown_command\n");
    std::string noise;
    for (std::uint32_t i = 0; i < 2 * Pmi1Server::kMaxErrors; ++i) noise += "\n";
    actions = server.on_bytes(0, noise);
    REQUIRE(actions.errors.size() == Pmi1Server::kMaxErrors - 3);
    CHECK(actions.errors.back().fatal);
    CHECK(server.on_bytes(0, kSession).replies.empty());
    CHECK(ask(server, 1, "cmd=get_appnum\n") == "cmd=appnum appnum=3 rc=0\n");
}

TEST_CASE("PMI-1: an endless line is dropped up to its end") {
    Pmi1Server server(job_of(2));
    for (int i = 0; i < 100; ++i)
        CHECK(server.on_bytes(0, std::string(Pmi1Server::kMaxLine / 4, 'x')).replies.empty());
    CHECK(ask(server, 0, "tail\ncmd=get_appnum\n") ==
          "cmd=error rc=-1 msg=line_too_long\ncmd=appnum appnum=0 rc=0\n");
    // The longest line that is read.
    std::string line = "cmd=put kvsname=kvs_7 key=long value=";
    line += std::string(Pmi1Server::kMaxLine - line.size(), 'v');
    CHECK(ask(server, 0, line + "\n") == "cmd=put_result rc=0 msg=success\n");
    CHECK(begins(ask(server, 0, line + "v\n"), "cmd=error"));
}

TEST_CASE("PMI-1: mutated sessions never break it") {
    std::mt19937 random(20240607);
    for (int round = 0; round < 3000; ++round) {
        Pmi1Server server(job_of(2));
        std::string bytes = kSession + "mcmd=spawn\ntotspawns=1\nendcmd\ncmd=abort exitcode=3\n";
        const int changes = 1 + static_cast<int>(random() % 8);
        for (int i = 0; i < changes; ++i) {
            const std::size_t at = random() % bytes.size();
            switch (random() % 4) {
                case 0:
                    bytes[at] = static_cast<char>(random());
                    break;
                case 1:
                    bytes.erase(at, random() % 8);
                    break;
                case 2:
                    bytes.insert(at, bytes.substr(random() % bytes.size(), random() % 40));
                    break;
                default:
                    bytes[at] = "=\n \t-"[random() % 5];
                    break;
            }
        }
        std::size_t newlines = 0;
        for (const char c : bytes) newlines += c == '\n' ? 1 : 0;
        std::size_t replies = 0;
        while (!bytes.empty()) {
            const std::size_t piece = 1 + random() % 50;
            const Pmi1Actions actions = server.on_bytes(0, bytes.substr(0, piece));
            for (const auto& reply : actions.replies) {
                REQUIRE(begins(reply.bytes, "cmd="));
                REQUIRE(reply.bytes.find('\n') == reply.bytes.size() - 1);
            }
            replies += actions.replies.size();
            bytes.erase(0, piece);
        }
        CHECK(replies <= newlines);
        // The other task is served as ever.
        REQUIRE(ask(server, 1, "cmd=get_my_kvsname\n") == "cmd=my_kvsname kvsname=kvs_7 rc=0\n");
    }
}

TEST_CASE("PMI-1: the process mapping of task maps") {
    CHECK(pmi1_process_mapping({0}) == "(vector,(0,1,1))");
    CHECK(pmi1_process_mapping({0, 0, 0, 0}) == "(vector,(0,1,4))");
    CHECK(pmi1_process_mapping({0, 0, 1, 1, 2, 2}) == "(vector,(0,3,2))");
    CHECK(pmi1_process_mapping({0, 1, 2, 0, 1, 2}) == "(vector,(0,3,1))");
    CHECK(pmi1_process_mapping({0, 0, 0, 1}) == "(vector,(0,1,3),(1,1,1))");
    CHECK(pmi1_process_mapping({1, 0}) == "(vector,(1,1,1),(0,1,1))");
    // Without any order it would not fit into a value.
    std::vector<NodeIndex> wild;
    wild.reserve(500);
    for (int i = 0; i < 500; ++i) wild.push_back((i * i * 7 + 3) % 101);
    CHECK(pmi1_process_mapping(wild).empty());
}
