// Why gdb cannot attach.
#include "debugger/attach_trouble.hpp"

#include <catch2/catch.hpp>

namespace poe::debugger {

TEST_CASE("the reason of an attachment that fails") {
    const std::string error = "ptrace: Operation not permitted.";
    const std::string text = attach_trouble(error, "warning: something else\n", "");
    CHECK(text.find("SYS_PTRACE") != std::string::npos);
    CHECK(text.find("ptrace_scope") != std::string::npos);
    CHECK(attach_trouble(error, "warning: process 42 is already traced by process 407\n", "1\n") ==
          "runs without debugger: another debugger traces it already (process 407); end that one "
          "first");
    CHECK(attach_trouble("ptrace: No such process.", "", "1\n") ==
          "runs without debugger: ptrace: No such process.");
}

// What a file of each level says about a task that gdb may not attach to.
TEST_CASE("the way out depends on the scope that Yama permits") {
    const std::string error = "ptrace: Operation not permitted.";
    const auto says = [&](const std::string& scope, const std::string& words) {
        const std::string text = attach_trouble(error, "", scope);
        INFO(text);
        return text.find(words) != std::string::npos;
    };
    CHECK(says("", "SYS_PTRACE"));
    CHECK(says("0\n", "SYS_PTRACE"));
    CHECK(says("1\n", "ptrace_scope is 1); start the job with pdbx"));
    CHECK(says("2\n", "ptrace_scope is 2); let root write 1"));
    CHECK(says("3\n", "no debugging until the computer is booted again"));
    CHECK_FALSE(says("3\n", "root"));
}

}  // namespace poe::debugger
