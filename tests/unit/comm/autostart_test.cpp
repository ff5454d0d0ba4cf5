// When a program that was started by hand becomes a job.
#include "comm/bootstrap/autostart.hpp"

#include <catch2/catch.hpp>

using poe::comm::wants_poe;

namespace {

bool wants(const std::vector<std::string>& arguments, std::vector<std::string> environment) {
    std::vector<char*> pointers;
    pointers.reserve(environment.size() + 1);
    for (auto& entry : environment) pointers.push_back(entry.data());
    pointers.push_back(nullptr);
    return wants_poe(arguments, pointers.data());
}

}  // namespace

TEST_CASE("flags and variables make a job") {
    CHECK_FALSE(wants({"ring"}, {}));
    CHECK_FALSE(wants({"ring", "procs", "4"}, {"HOME=/"}));
    for (const char* flag : {"-procs", "-nodes", "-hostfile", "-hfile", "-cmdfile", "-rmpool"}) {
        CHECK(wants({"ring", "x", flag, "4"}, {}));
    }
    CHECK_FALSE(wants({"-procs"}, {}));  // the program's own name
    CHECK(wants({"ring"}, {"MP_PROCS=3"}));
    CHECK(wants({"ring"}, {"MP_HOSTFILE=list"}));
    CHECK(wants({"ring"}, {"MP_NODES=2"}));
    CHECK_FALSE(wants({"ring"}, {"MP_PROCS="}));
    CHECK_FALSE(wants({"ring"}, {"MP_PROCSX=3", "XMP_PROCS=3"}));
}

TEST_CASE("a task never starts a job") {
    CHECK_FALSE(wants({"ring", "-procs", "4"}, {"MP_CHILD=0", "MP_PROCS=4"}));
}

TEST_CASE("a task of another launcher starts a job only when its own flags say so") {
    for (const char* variable : {"PMIX_RANK=0", "PMI_RANK=0"}) {
        CHECK_FALSE(wants({"ring"}, {variable, "MP_PROCS=4"}));
        CHECK(wants({"ring", "-procs", "4"}, {variable}));
    }
}

TEST_CASE("the fence and MP_NOARGLIST hide flags") {
    CHECK_FALSE(wants({"ring", "QQ", "-procs", "4"}, {"MP_FENCE=QQ"}));
    CHECK(wants({"ring", "-procs", "4", "QQ"}, {"MP_FENCE=QQ"}));
    CHECK_FALSE(wants({"ring", "-procs", "4"}, {"MP_NOARGLIST=yes"}));
    CHECK(wants({"ring"}, {"MP_NOARGLIST=yes", "MP_PROCS=2"}));
}
