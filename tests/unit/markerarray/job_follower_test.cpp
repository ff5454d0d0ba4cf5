// From node segments to rows: finding jobs, following them, and what a task's slot means.
#include "markerarray/job_follower.hpp"

#include <csignal>
#include <filesystem>

#include <catch2/catch.hpp>

#include "markerarray/task_rows.hpp"
#include "tests/unit/markerarray/fake_job.hpp"

using namespace poe;
using namespace poe::markers;
using namespace poe::markers::test;
using namespace std::chrono_literals;

namespace {

struct Desk {
    Desk() {
        char name[] = "/dev/shm/poe-unit-XXXXXX";
        parent = ::mkdtemp(name);
        follower.emplace(
            JobFollower::Settings{
                .parent = parent, .owner = ::geteuid(), .node_name = "vm", .go_on = true},
            now);
    }
    ~Desk() { std::filesystem::remove_all(parent); }

    // A second later.
    void update() {
        now += 1s;
        follower->update(now);
    }
    const TaskRow& row(std::size_t task) const { return follower->model().now().rows.at(task); }

    std::string parent;
    JobFollower::Clock::time_point now = JobFollower::Clock::now();
    std::optional<JobFollower> follower;
};

}  // namespace

TEST_CASE("a follower waits for a job, shows it, keeps its end, and goes on to the next") {
    Desk desk;
    desk.update();
    CHECK_FALSE(desk.follower->has_job());
    FakeJob first(desk.parent, "first-1-0", 2);
    desk.update();
    REQUIRE(desk.follower->has_job());
    CHECK(desk.follower->model().now().job.id == "first-1-0");
    CHECK(desk.follower->model().now().job.nodes == std::vector<std::string>{"vm"});
    first.marks(1).set_light(2, 62);
    first.marks(1).set_text("hello");
    first.marks(1).set_progress(1, 4);
    desk.update();
    CHECK(desk.row(1).lights[2] == 63);
    CHECK(desk.row(1).text == "hello");
    CHECK(desk.row(1).progress == Progress{1, 4});
    CHECK(desk.follower->model().lights_used() == 3);
    first.marks(1).set_text("last words");
    first.slot(0).ended = task_end(SIGSEGV);
    first.slot(1).ended = task_end(3 << 8);
    first.end();
    desk.update();
    CHECK(desk.follower->model().now().ended);
    CHECK(desk.row(0).activity == Activity::kFailed);
    CHECK(desk.row(0).doing == "killed by SIGSEGV");
    CHECK(desk.row(1).doing == "ended with code 3");
    CHECK(desk.row(1).text == "last words");
    const Moment elapsed = desk.follower->model().now().elapsed;
    const Moment at = desk.follower->model().now().at;
    desk.update();
    // Rates and ages are computed from this moment; they stay, too.
    CHECK(desk.follower->model().now().at == at);
    CHECK(desk.follower->model().now().elapsed == elapsed);
    CHECK(desk.row(1).text == "last words");
    FakeJob second(desk.parent, "second-1-0", 3);
    desk.update();
    CHECK(desk.follower->model().now().job.id == "second-1-0");
    CHECK(desk.follower->model().now().rows.size() == 3);
    CHECK(desk.row(1).text.empty());
}

TEST_CASE("the next job, round and round") {
    Desk desk;
    FakeJob first(desk.parent, "first-1-0", 1);
    FakeJob second(desk.parent, "second-1-0", 1);
    desk.update();
    CHECK(desk.follower->model().now().job.id == "second-1-0");
    CHECK(desk.follower->next_job(desk.now));
    CHECK(desk.follower->model().now().job.id == "first-1-0");
    CHECK(desk.follower->next_job(desk.now));
    CHECK(desk.follower->model().now().job.id == "second-1-0");
    first.end();
    CHECK_FALSE(desk.follower->next_job(desk.now));
}

TEST_CASE("tasks whose daemon was killed are gone") {
    Desk desk;
    FakeJob job(desk.parent, "first-1-0", 2);
    job.slot(1).ended = task_end(0);
    desk.update();
    job.die();
    desk.update();
    CHECK(desk.follower->model().now().ended);
    CHECK(desk.row(0).activity == Activity::kUnknown);
    CHECK(desk.row(0).doing == "gone");
    CHECK(desk.row(1).activity == Activity::kEnded);
}

TEST_CASE("garbage in a row is shown as something") {
    Desk desk;
    FakeJob job(desk.parent, "first-1-0", 1);
    for (auto& light : job.marks(0).lights) light = 255;
    job.marks(0).last = 77;
    job.marks(0).done = ~0ull;
    job.marks(0).total = 5;
    desk.update();
    CHECK(desk.row(0).lights[0] == kMarkerColors);
    CHECK(desk.row(0).text.empty());
    CHECK(desk.row(0).progress == Progress{5, 5});
}

TEST_CASE("what a task's state means") {
    pm::TaskState state;
    TaskRow row;
    pm::ProcessesView processes;
    processes.known = true;
    const auto meaning = [&] {
        describe(state, processes, row);
        return std::string(activity_word(row.activity)) + ": " + row.doing;
    };
    CHECK(meaning() == "unstarted: unstarted");
    state.pid = 1;
    CHECK(meaning() == "idle: idle");
    processes.disk = true;
    CHECK(meaning() == "idle: idle, waits for a disk");
    processes.runs = true;
    CHECK(meaning() == "computing: computing");
    state.life = pm::TaskState::Life::kInside;
    CHECK(meaning() == "computing: computing");
    state.doing = {Call::kBrecv, 3, 7, 100, 0};
    CHECK(meaning() == "receiving: mpc_brecv from 3 type 7");
    state.doing = {Call::kBrecv, TaskActivity::kAnyPeer, -1, 100, 0};
    CHECK(meaning() == "receiving: mpc_brecv from any");
    state.doing = {Call::kBsend, 2, 0, 100, 0};
    state.waits_ms = 1500;
    CHECK(meaning() == "sending: mpc_bsend to 2 type 0");
    CHECK(row.waits_ms == 1500);
    state.doing = {Call::kBsendrecv, 2, 4, 100, 0};
    CHECK(meaning() == "receiving: mpc_bsendrecv to 2 type 4");
    state.doing = {Call::kSync, TaskActivity::kAnyPeer, 0, 0, 0};
    CHECK(meaning() == "collective: mpc_sync");
    state.measured = true;
    state.awaited = {Awaited::Kind::kMessage, 5, -1};
    CHECK(meaning() == "collective: mpc_sync, waits for 5");
    state.doing = {Call::kWait, TaskActivity::kAnyPeer, 0, 0, 0};
    CHECK(meaning() == "receiving: mpc_wait from 5");
    state.awaited.kind = Awaited::Kind::kRoom;
    CHECK(meaning() == "sending: mpc_wait to 5");
    processes.stopped = true;
    CHECK(meaning() == "stopped: stopped, mpc_wait to 5");
    state.life = pm::TaskState::Life::kEnded;
    CHECK(meaning() == "ended: ended");
    CHECK(row.waits_ms == 0);
}
