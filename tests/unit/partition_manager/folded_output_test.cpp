// Folding of lines, and names made of patterns.
#include "partition_manager/stdio/folded_output.hpp"

#include <catch2/catch.hpp>

#include "partition_manager/job/name_pattern.hpp"

using namespace poe;
using namespace poe::pm;

TEST_CASE("the same line of many tasks comes once", "[folded_output]") {
    FoldedOutput folded;
    CHECK(folded.empty());
    for (const TaskId task : {0, 1, 2, 4}) folded.append(task, "hello\nbye\n");
    folded.append(3, "hello\nI differ\nbye\n");
    CHECK(folded.bytes() == 4 * 10 + 19);
    CHECK(folded.give_out() == "0-4: hello\n3: I differ\n0-4: bye\n");
    CHECK(folded.empty());
    CHECK(folded.give_out().empty());
}

TEST_CASE("each task's lines keep their order", "[folded_output]") {
    FoldedOutput folded;
    folded.append(0, "a\nb\n");
    folded.append(1, "b\na\n");
    CHECK(folded.give_out() == "0: a\n0,1: b\n1: a\n");
    folded.append(0, "mine 0\nall\n");
    folded.append(1, "mine 1\nall\n");
    CHECK(folded.give_out() == "0: mine 0\n1: mine 1\n0,1: all\n");
}

TEST_CASE("pieces become lines", "[folded_output]") {
    FoldedOutput folded;
    folded.append(0, "he");
    folded.append(0, "llo\n");
    folded.append(1, "hello\n");
    CHECK(folded.give_out() == "0,1: hello\n");
    folded.append(1, "unfinished");
    CHECK(folded.give_out() == "1: unfinished\n");
}

TEST_CASE("patterns", "[name_pattern]") {
    JobSpec job;
    job.id = "j1";
    job.nodes = {"a", "b"};
    job.tasks.assign(101, {0, 0});
    job.tasks[7].node = 1;
    CHECK(expand_pattern("out.%r-%R.%h.%j%%", job, 7) == "out.7-007.b.j1%");
    CHECK(expand_pattern("", job, 0).empty());
    CHECK_FALSE(pattern_trouble("out.%r-%R.%h.%j%%", false));
    CHECK(pattern_trouble("out.%x", false));
    CHECK(pattern_trouble("50%", true));
    CHECK(pattern_trouble("out.%t", false));
    CHECK_FALSE(pattern_trouble("%t %s", true));
    CHECK(tells_time("%%%t"));
    CHECK_FALSE(tells_time("%%t%rs"));
    const auto began = std::chrono::system_clock::from_time_t(1'000'000'000);
    CHECK(expand_pattern("%s", job, 0, {began + std::chrono::milliseconds(61'250), began}) ==
          "61.250");
    CHECK(expand_pattern("%t", job, 0, {began + std::chrono::milliseconds(7), began}).substr(5) ==
          ":40.007");
}
