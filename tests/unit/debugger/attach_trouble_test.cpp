// Why gdb cannot attach.
#include "debugger/attach_trouble.hpp"

#include <catch2/catch.hpp>

using poe::debugger::attach_trouble;

TEST_CASE("the reason of an attachment that fails") {
    const std::string error = "ptrace: Operation not permitted.";
    const std::string text = attach_trouble(error, "warning: something else\n");
    CHECK(text.find("SYS_PTRACE") != std::string::npos);
    CHECK(text.find("ptrace_scope") != std::string::npos);
    CHECK(attach_trouble(error, "warning: process 42 is already traced by process 407\n") ==
          "runs without debugger: another debugger traces it already (process 407); end that one "
          "first");
    CHECK(attach_trouble("ptrace: No such process.", "") ==
          "runs without debugger: ptrace: No such process.");
}
