// Lists of tasks and groups: what is accepted, and what is refused with which words.
#include "debugger/groups.hpp"

#include <catch2/catch.hpp>

namespace poe::debugger {

TEST_CASE("lists of tasks have numbers and ranges") {
    CHECK(parse_tasks("3", 8).value() == TaskSet{3});
    CHECK(parse_tasks("3:5", 8).value() == TaskSet{3, 4, 5});
    CHECK(parse_tasks("0-2,7", 8).value() == TaskSet{0, 1, 2, 7});
    CHECK(in_ranges({0, 1, 2, 7}) == "0-2,7");
    CHECK(in_words({4}) == "task 4");
}

TEST_CASE("a wrong list of tasks is refused with the tasks that exist") {
    for (const char* text : {"", "x", "1,", "1:", "5:3", "1;2", "-1", "1--2", "99999999999"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_tasks(text, 8).ok());
    }
    CHECK(parse_tasks("8", 8).error().str() == "the job has no task 8; its tasks are 0 to 7");
    CHECK(parse_tasks("1", 1).error().expected == "its only task is 0");
}

TEST_CASE("groups can be added to, renamed and removed") {
    Groups groups(8);
    CHECK(groups.add("edge", {0, 7}).value() == TaskSet{0, 7});
    CHECK(groups.add("edge", {1}).value() == TaskSet{0, 1, 7});
    CHECK(groups.find("edge").value() == TaskSet{0, 1, 7});
    const TaskSet one{1};
    CHECK(groups.remove("edge", &one).value() == TaskSet{0, 7});
    CHECK(groups.rename("edge", "ends").value() == TaskSet{0, 7});
    CHECK_FALSE(groups.find("edge").ok());
    CHECK(groups.remove("ends", nullptr).ok());
    CHECK_FALSE(groups.find("ends").ok());
}

TEST_CASE("a predefined group follows its definition and cannot be changed") {
    Groups groups(4);
    TaskSet running{0, 1};
    groups.predefine("running", [&] { return running; });
    CHECK(groups.find("running").value() == TaskSet{0, 1});
    running = {3};
    CHECK(groups.find("running").value() == TaskSet{3});
    CHECK_FALSE(groups.add("running", {0}).ok());
    CHECK_FALSE(groups.remove("running", nullptr).ok());
    CHECK_FALSE(groups.rename("running", "x").ok());
    CHECK(groups.find("walking").error().expected == "the groups are: running");
}

TEST_CASE("tasks that wait in the same call are a group until the next question") {
    Groups groups(4);
    groups.set_waiting({{"MPI_Recv", {1, 2}}});
    CHECK(groups.find("MPI_Recv").value() == TaskSet{1, 2});
    CHECK(groups.names() == std::vector<std::string>{"MPI_Recv"});
    CHECK(groups.add("MPI_Recv", {3}).value() == TaskSet{3});
    CHECK(groups.find("MPI_Recv").value() == TaskSet{3});
    CHECK(groups.list().size() == 1);
    groups.set_waiting({});
    CHECK(groups.remove("MPI_Recv", nullptr).ok());
    CHECK_FALSE(groups.find("MPI_Recv").ok());
}

TEST_CASE("a name of a group is a word") {
    Groups groups(4);
    for (const char* name : {"", "1a", "a b", "-x", "a:b"}) {
        CAPTURE(name);
        CHECK_FALSE(groups.add(name, {0}).ok());
    }
}

}  // namespace poe::debugger
