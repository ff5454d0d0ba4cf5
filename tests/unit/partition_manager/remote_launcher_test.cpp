// The line for the other node's shell, run by shells of this one.
#include "partition_manager/launch/remote_launcher.hpp"

#include <cstdlib>
#include <fstream>
#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "partition_manager/daemon/node_address.hpp"
#include "partition_manager/daemon/session_variables.hpp"
#include "tests/unit/partition_manager/support.hpp"

using namespace poe::pm;

namespace {

// What the user's shell does with the line: status and output.
std::pair<int, std::string> run(const std::string& line) {
    FILE* pipe = ::popen((line + " 2>&1").c_str(), "re");
    REQUIRE(pipe != nullptr);
    std::string text;
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
    return {WEXITSTATUS(::pclose(pipe)), text};
}

void write_script(const std::string& path, const std::string& text) {
    std::ofstream(path) << "#!/bin/sh\n" << text << "\n";
    ::chmod(path.c_str(), 0755);
}

}  // namespace

TEST_CASE("the daemon is where it is said, or in PATH, or missed with words", "[remote_launcher]") {
    char folder[] = "/tmp/poe-unit-XXXXXX";
    REQUIRE(::mkdtemp(folder) != nullptr);
    const std::string place = folder;
    ::mkdir((place + "/it's here").c_str(), 0755);
    const std::string pmd = place + "/it's here/pmd";
    write_script(pmd, "echo said $1");
    CHECK(run(remote_command(pmd, kDaemonArguments)) ==
          std::pair{0, std::string("said --channel\n")});

    write_script(place + "/pmd", "echo along PATH");
    const std::string path = "PATH=" + place + ":/bin:/usr/bin ";
    CHECK(run(path + remote_command("/absent/pmd", kDaemonArguments).substr(5)) ==
          std::pair{0, std::string("along PATH\n")});
    const auto [status, text] =
        run("PATH=/bin:/usr/bin " + remote_command("/absent/pmd", kDaemonArguments).substr(5));
    CHECK(status == 127);
    CHECK(text.find("neither /absent/pmd nor in PATH") != std::string::npos);
    CHECK(text.find("MP_PMD") != std::string::npos);
    std::system(("rm -r '" + place + "'").c_str());
}

TEST_CASE("a remote shell that is not there", "[remote_launcher]") {
    LaunchSpec launch;
    launch.remote_shell = {"no-such-shell-anywhere"};
    char* const none[] = {nullptr};
    CHECK_THROWS_WITH(
        launch_remote(launch, "n", InheritedSignals::capture(), none),
        Catch::Contains("no-such-shell-anywhere") && Catch::Contains("MP_REMOTE_SHELL"));
}

TEST_CASE("addresses of a node", "[node_address]") {
    CHECK(node_address("", "198.51.100.7 50000 192.0.2.3 22").text() == "192.0.2.3");
    CHECK(node_address("", "2001:db8::9 50000 2001:db8::1 22").text() == "2001:db8::1");
    CHECK(node_address("lo", "198.51.100.7 50000 192.0.2.3 22").text() == "127.0.0.1");
    CHECK_THROWS_WITH(node_address("absent0", ""), Catch::Contains("absent0"));
}

TEST_CASE("variables of the session stay at home", "[session_variables]") {
    for (const char* name : {"DISPLAY", "SSH_AUTH_SOCK", "XDG_RUNTIME_DIR", "TMUX", "HOSTNAME"})
        CHECK(is_session_variable(name));
    for (const char* name : {"PATH", "HOME", "LD_LIBRARY_PATH", "MP_PROCS", "TERM", "DISPLAYS"})
        CHECK_FALSE(is_session_variable(name));
}
