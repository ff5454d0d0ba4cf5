// Completions know every flag, and the shells that are there can read them.
#include "poe/completions.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "poe/option_table.hpp"

using namespace poe::cli;

namespace {

// What bash writes to standard output.
std::string in_bash(const std::string& script) {
    char path[] = "/tmp/poe-completions-XXXXXX";
    const int fd = ::mkstemp(path);
    REQUIRE(fd >= 0);
    ::close(fd);
    std::ofstream(path) << bash_completions() << script;
    FILE* pipe = ::popen(("bash " + std::string(path) + " 2>&1").c_str(), "r");
    REQUIRE(pipe != nullptr);
    std::string out;
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) out += static_cast<char>(c);
    ::pclose(pipe);
    ::unlink(path);
    return out;
}

std::string completed(const std::string& words, int at) {
    return in_bash("COMP_WORDS=(" + words + ")\nCOMP_CWORD=" + std::to_string(at) +
                   "\n_poe\necho \"${COMPREPLY[@]}\"\n");
}

}  // namespace

TEST_CASE("completions for bash", "[completions]") {
    CHECK(completed("poe -lab", 1) == "-labelio\n");
    CHECK(completed("poe -labelio ''", 2) == "yes no\n");
    CHECK(completed("poe -stdoutmode f", 2) == "folded\n");
    CHECK(completed("poe -procs ''", 2) == "\n");
    CHECK(completed("poe -hostfile /etc/passw", 2).find("/etc/passwd") != std::string::npos);
    CHECK(completed("poe hostnam", 1).find("hostname") != std::string::npos);
    CHECK(completed("poe -procs 2 hostnam", 3).find("hostname") != std::string::npos);
    CHECK(completed("poe cat /etc/passw", 2).find("/etc/passwd") != std::string::npos);
    CHECK(completed("poe --dry", 1) == "--dry-run\n");
    CHECK(completed("poe -n", 1).find("-np") != std::string::npos);
    CHECK(in_bash("poestat() { printf 'JOB POE\\nabc-1-0 12\\nxyz-1-0 13\\n'; }\n"
                  "COMP_WORDS=(poekill a)\nCOMP_CWORD=1\n_poekill\necho \"${COMPREPLY[@]}\"\n") ==
          "abc-1-0 all\n");
}

TEST_CASE("every flag is in all completions", "[completions]") {
    const std::string bash = bash_completions();
    const std::string zsh = zsh_completions();
    const std::string fish = fish_completions_of_poe();
    for (const OptionRow& row : option_table()) {
        std::string_view names = row.names;
        for (auto word = next_word(names); !word.empty(); word = next_word(names)) {
            INFO(word);
            CHECK(bash.find("-" + std::string(word)) != std::string::npos);
            CHECK(zsh.find("-" + std::string(word) + "[") != std::string::npos);
            CHECK(fish.find(" " + std::string(word) + " -d ") != std::string::npos);
        }
    }
    CHECK(zsh.starts_with("#compdef poe poestat poekill pmarray\n"));
    CHECK(fish_completions_of_jobs("poekill").find("-a all") != std::string::npos);
}

TEST_CASE("zsh and fish can read theirs, where they are", "[completions]") {
    for (const auto& [shell, text] : {std::pair("zsh -n", zsh_completions()),
                                      std::pair("fish --no-execute", fish_completions_of_poe())}) {
        const std::string name = std::string(shell).substr(0, std::string(shell).find(' '));
        if (std::system(("command -v " + name + " >/dev/null").c_str()) != 0) continue;
        char path[] = "/tmp/poe-completions-XXXXXX";
        const int fd = ::mkstemp(path);
        REQUIRE(fd >= 0);
        ::close(fd);
        std::ofstream(path) << text;
        CHECK(std::system((std::string(shell) + " " + path).c_str()) == 0);
        ::unlink(path);
    }
}
