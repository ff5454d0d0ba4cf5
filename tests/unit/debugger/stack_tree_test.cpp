// Stacks of many tasks in one tree.
#include "debugger/stack_tree.hpp"

#include <catch2/catch.hpp>

namespace poe::debugger {

namespace {

const StackFrame kMain{"main", "ring.c:10", "", false};
const StackFrame kWork{"work", "ring.c:5", "", false};
const StackFrame kReceive{"MPI_Recv", "", "libmpi_abi.so.1", false};
const StackFrame kPoll{"poll", "", "libc.so.6", false};

}  // namespace

TEST_CASE("equal stacks become one branch without repeated tasks") {
    const std::vector<StackTree> trees = merge({{0, {kWork, kMain}}, {1, {kWork, kMain}}});
    REQUIRE(trees.size() == 1);
    CHECK(lines_of(trees) ==
          std::vector<std::string>{"0,1 (2)  main  ring.c:10", "           work  ring.c:5"});
}

TEST_CASE("stacks branch where they differ") {
    const std::vector<StackTree> trees =
        merge({{0, {kReceive, kMain}}, {1, {kWork, kMain}}, {2, {kReceive, kMain}}});
    CHECK(lines_of(trees) == std::vector<std::string>{"0-2 (3)  main  ring.c:10",
                                                      "0,2 (2)    MPI_Recv  (libmpi_abi.so.1)",
                                                      "1          work  ring.c:5"});
}

TEST_CASE("a recursion is one line for the tasks that are in it") {
    const StackFrame again{"deep", "ring.c:7", "", false};
    CHECK(lines_of(merge({{0, {kWork, again, again, again, kMain}},
                          {1, {kWork, again, again, again, again, kMain}}})) ==
          std::vector<std::string>{"0,1 (2)  main  ring.c:10",
                                   "           deep  ring.c:7  (3 times)",
                                   "0            work  ring.c:5", "1            deep  ring.c:7",
                                   "               work  ring.c:5"});
}

TEST_CASE("a recursion of two functions stays within the terminal") {
    Stack stack;
    for (int i = 0; i < 100; ++i) {
        stack.push_back({"even", "ring.c:7", "", false});
        stack.push_back({"odd", "ring.c:9", "", false});
    }
    const std::vector<std::string> lines = lines_of(merge({{0, stack}}));
    REQUIRE(lines.size() == 200);
    for (const std::string& line : lines) CHECK(line.size() <= 60);
}

TEST_CASE("a stack that is too deep says that its callers are missing") {
    std::string frames;
    for (std::size_t i = 0; i <= kMostFrames; ++i)
        frames += std::string(i > 0 ? "," : "") +
                  R"(frame={func="deep",file="a.c",fullname="/a.c",line="1"})";
    CHECK(lines_of(merge({{0, stack_of(parse_mi("^done,stack=[" + frames + "]").results)}})) ==
          std::vector<std::string>{"0  (more callers)", "     deep  a.c:1  (200 times)"});
    CHECK(frames_wanted() == " 0 200");
}

TEST_CASE("frames inside of libraries can be left out") {
    CHECK(without_library_frames({kPoll, kReceive, kWork, kMain}) == Stack{kReceive, kWork, kMain});
    CHECK(innermost_of_program({kPoll, kReceive, kWork, kMain}) == 2);
    CHECK(innermost_of_program({kPoll, kReceive}) == 2);
    // A function that the library has called back stays.
    CHECK(without_library_frames({kWork, kPoll, kReceive, kMain}) ==
          Stack{kWork, kPoll, kReceive, kMain});
    const StackFrame system_call{"syscall", "syscall.S:38", "", true};
    CHECK(without_library_frames({system_call, kReceive, kMain}) == Stack{kReceive, kMain});
    // The library may have debug information.
    const StackFrame inside{"poe::comm::Waiter::wait", "wait.cpp:30", "", false};
    CHECK(without_library_frames({inside, kReceive, kMain}) == Stack{kReceive, kMain});
    CHECK(without_library_frames({kPoll, kReceive}) == Stack{kPoll, kReceive});
}

TEST_CASE("a frame is read from gdb's tuple") {
    const MiRecord record = parse_mi(
        R"(^done,frame={level="0",addr="0x1",func="main",file="../a/ring.c",fullname="/home/a/ring.c",line="42"},glibc={level="2",func="raise",file="./nptl/raise.c",fullname="./nptl/./nptl/raise.c",line="1"},other={func="poll",from="/lib/libc.so.6"})");
    CHECK(frame_of(*record.results.find("frame")) ==
          StackFrame{"main", "ring.c:42", "", false, "/home/a/ring.c", 42});
    CHECK(frame_of(*record.results.find("glibc")).is_elsewhere);
    CHECK(frame_of(*record.results.find("other")) == StackFrame{"poll", "", "libc.so.6", false});
}

}  // namespace poe::debugger
