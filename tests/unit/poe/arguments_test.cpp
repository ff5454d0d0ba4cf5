// Splitting: which words are poe's, and that all others reach the program as they were.
#include "poe/arguments.hpp"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "poe/option_words.hpp"

using namespace poe;
using namespace poe::cli;
using Words = std::vector<std::string>;

namespace {

// "-procs=4 -h" of the flags that were found.
std::string flags_of(const SplitArguments& split) {
    std::string out;
    for (const FlagUse& use : split.flags) {
        if (!out.empty()) out += " ";
        out += display_name(*use.row);
        if (use.row->kind != ValueKind::kNothing) out += "=" + use.value;
    }
    return out;
}

struct Case {
    const char* name;
    Words arguments;
    Words program;
    std::string flags;
};

void check(const Case& one, const SplitRules& rules = {}) {
    INFO(one.name);
    const auto split = split_arguments(one.arguments, rules);
    REQUIRE(split.ok());
    CHECK(split.value().programs == std::vector<Words>{one.program});
    CHECK(flags_of(split.value()) == one.flags);
}

std::string error_of(const Words& arguments) {
    const auto split = split_arguments(arguments, {});
    REQUIRE_FALSE(split.ok());
    return split.error().str();
}

}  // namespace

TEST_CASE("flags are taken out wherever they stand", "[arguments]") {
    const Case cases[] = {
        {"nothing at all", {}, {}, ""},
        {"only a program", {"prog"}, {"prog"}, ""},
        {"flags before", {"-procs", "4", "prog"}, {"prog"}, "-procs=4"},
        {"flags behind", {"prog", "-procs", "4"}, {"prog"}, "-procs=4"},
        {"between arguments",
         {"prog", "a", "-procs", "4", "-x", "b", "-labelio", "yes", "c"},
         {"prog", "a", "-x", "b", "c"},
         "-procs=4 -labelio=yes"},
        {"both sides",
         {"-hfile", "h", "prog", "-ilevel", "3"},
         {"prog"},
         "-hostfile=h -infolevel=3"},
        {"given twice", {"prog", "-procs", "4", "-procs", "2"}, {"prog"}, "-procs=4 -procs=2"},
        {"only flags", {"-procs", "4"}, {}, "-procs=4"},
        {"a value that is a flag's name",
         {"prog", "-hostfile", "-procs", "4"},
         {"prog", "4"},
         "-hostfile=-procs"},
        {"an empty value", {"prog", "-hostfile", ""}, {"prog"}, "-hostfile="},
        {"a bare flag has no value",
         {"-dry-run", "prog", "--dry-run", "a"},
         {"prog", "a"},
         "-dry-run -dry-run"},
    };
    for (const Case& one : cases) check(one);
}

TEST_CASE("the program's words are left as they are", "[arguments]") {
    const Words strange = {
        "prog",      "",          "-",          "--",      "-proc",        "-Procs",
        "--procs=4", "-procs=4",  "--labelio",  "yes",     "\xff\xfe\x80", "-n",
        "4",         " -procs ",  "-h",         "-help",   "--help",       "-version",
        "--version", "--dry_run", "-noarglist", "yes",     "-fence",       "x",
        "a\nb",      "*",         "$HOME",      "-procs4", "\"",           "'"};
    check({"strange words", strange, strange, ""});
    check({"after a flag",
           {"prog", "-procs", "4", "--procs", "8"},
           {"prog", "--procs", "8"},
           "-procs=4"});
}

TEST_CASE("spellings before the program", "[arguments]") {
    const Case cases[] = {
        {"two dashes", {"--procs", "4", "prog"}, {"prog"}, "-procs=4"},
        {"equals", {"-procs=4", "prog"}, {"prog"}, "-procs=4"},
        {"both", {"--procs=4", "prog"}, {"prog"}, "-procs=4"},
        {"empty after equals", {"-hostfile=", "prog"}, {"prog"}, "-hostfile="},
        {"more equals", {"-hostfile=a=b", "prog"}, {"prog"}, "-hostfile=a=b"},
        {"bare", {"--dry-run", "prog"}, {"prog"}, "-dry-run"},
    };
    for (const Case& one : cases) check(one);
}

TEST_CASE("ways to pass everything", "[arguments]") {
    const Case cases[] = {
        {"--", {"-procs", "2", "--", "prog", "-procs", "4"}, {"prog", "-procs", "4"}, "-procs=2"},
        {"-- and a program with a dash", {"--", "-prog", "-x"}, {"-prog", "-x"}, ""},
        {"-- at the end", {"-procs", "2", "--"}, {}, "-procs=2"},
        {"-- twice", {"--", "prog", "--"}, {"prog", "--"}, ""},
        {"-noarglist",
         {"-noarglist", "yes", "-procs", "2", "prog", "-procs", "4"},
         {"prog", "-procs", "4"},
         "-noarglist=yes -procs=2"},
        {"-noarglist no",
         {"-noarglist", "NO", "prog", "-procs", "4"},
         {"prog"},
         "-noarglist=NO -procs=4"},
        {"-fence",
         {"-fence", "F", "prog", "-procs", "2", "F", "-procs", "4", "F"},
         {"prog", "-procs", "4", "F"},
         "-fence=F -procs=2"},
        {"-fence before the program",
         {"-fence", "F", "F", "prog", "-procs", "4"},
         {"prog", "-procs", "4"},
         "-fence=F"},
        {"a fence that does not come",
         {"-fence", "F", "prog", "-procs", "2"},
         {"prog"},
         "-fence=F -procs=2"},
        {"a fence as a value is a value",
         {"-fence", "F", "prog", "-hostfile", "F", "-procs", "2"},
         {"prog"},
         "-fence=F -hostfile=F -procs=2"},
        {"an empty fence is none",
         {"-fence", "", "prog", "", "-procs", "2"},
         {"prog", ""},
         "-fence= -procs=2"},
    };
    for (const Case& one : cases) check(one);
}

TEST_CASE("rules that variables give", "[arguments]") {
    check(
        {"noarglist", {"-procs", "2", "prog", "-procs", "4"}, {"prog", "-procs", "4"}, "-procs=2"},
        {true, ""});
    check({"the flag beats it",
           {"-noarglist", "no", "prog", "-procs", "4"},
           {"prog"},
           "-noarglist=no -procs=4"},
          {true, ""});
    check({"fence", {"prog", "@", "-procs", "4"}, {"prog", "-procs", "4"}, ""}, {false, "@"});
    check({"the flag beats it",
           {"-fence", "#", "prog", "@", "#", "-procs", "4"},
           {"prog", "@", "-procs", "4"},
           "-fence=#"},
          {false, "@"});
}

TEST_CASE("help and version end the splitting", "[arguments]") {
    check({"-h", {"-h", "-bogus"}, {}, "-h"});
    check({"--help", {"-procs", "2", "--help", "-bogus"}, {}, "-procs=2 -h"});
    check({"--version", {"--version", "prog"}, {}, "-version"});
}

TEST_CASE("words that look like poe's are remembered", "[arguments]") {
    const auto lookalikes = [](const Words& arguments) {
        const auto split = split_arguments(arguments, {});
        REQUIRE(split.ok());
        Words found;
        for (const Lookalike& one : split.value().lookalikes)
            found.push_back(std::string(display_name(*one.row)) + " " + one.typed + "|" +
                            one.value + (one.of_mpirun ? "|mpirun" : ""));
        return found;
    };
    CHECK(lookalikes({"prog", "--labelio", "--procs", "--help", "-x", "--procs=2", "-h=1",
                      "-x=2"}) == Words{"-procs --procs|", "-procs --procs=2|2"});
    CHECK(lookalikes({"prog", "-proc", "4", "-labelo", "yes", "-stdoutmodes=ordered"}) ==
          Words{"-procs -proc 4|4", "-labelio -labelo yes|yes",
                "-stdoutmode -stdoutmodes=ordered|ordered"});
    CHECK(lookalikes({"prog", "-n", "4", "-np", "2", "--np=3", "-n5", "-n"}) ==
          Words{"-procs -n 4|4|mpirun", "-procs -np 2|2|mpirun", "-procs --np=3|3|mpirun"});
    // Other programs' flags: the value is not one that the flag of poe could have.
    CHECK(lookalikes({"find", ".", "-name", "x", "-newer", "y", "-prune", "-proc", "x", "-print"})
              .empty());
    CHECK(lookalikes({"sort", "-n", "file"}).empty());
    CHECK(lookalikes({"prog", "-proc"}).empty());
}

TEST_CASE("mpirun's flags before the program", "[arguments]") {
    check({"-n", {"-n", "4", "prog", "-n", "2"}, {"prog", "-n", "2"}, "-procs=4"});
    check({"-np and =", {"--np=4", "prog", "-np", "2"}, {"prog", "-np", "2"}, "-procs=4"});
    check({"-x and -wdir",
           {"-x", "A=b", "-x", "C", "-wdir", "d", "prog", "-x", "-wdir", "e"},
           {"prog", "-x", "-wdir", "e"},
           "-x=A=b -x=C -wdir=d"});
    // Without -n a colon is a word like others, as it is after --.
    check({"a colon", {"-procs", "2", "sh", "-c", ":", ":"}, {"sh", "-c", ":", ":"}, "-procs=2"});
    check({"--", {"-n", "2", "--", "sh", ":", "a"}, {"sh", ":", "a"}, "-procs=2"});

    const auto split = split_arguments({"-n", "2", "-wdir", "d", "a", "-labelio", "yes", "x", ":",
                                        "-x", "V=1", "-np", "3", "b", "-n", "7", ":", "c"},
                                       {});
    REQUIRE(split.ok());
    CHECK(split.value().programs == std::vector<Words>{{"a", "x"}, {"b", "-n", "7"}, {"c"}});
    std::string parts;
    for (const FlagUse& use : split.value().flags)
        parts += use.spelling + std::to_string(use.part) + (use.before_program ? "b " : "a ");
    CHECK(parts == "-n0b -wdir0b -labelio0a -x1b -np1b ");

    for (const Words& wrong : {Words{"-n", "2", "a", ":"}, Words{"-n", "2", "a", ":", "-n", "3"},
                               Words{"-n", "2", "a", ":", ":", "b"}, Words{"-n", "2", ":", "b"}})
        CHECK(error_of(wrong).find("there is no program") != std::string::npos);
}

TEST_CASE("mistakes in the command line", "[arguments]") {
    CHECK(error_of({"-proc", "4", "prog"}) ==
          "poe: unknown flag \"-proc\" before the program; did you mean -procs?");
    CHECK(error_of({"--labelo=yes", "prog"}) ==
          "poe: unknown flag \"--labelo=yes\" before the program; did you mean -labelio?");
    CHECK(error_of({"-ntasks", "4", "prog"}) ==
          "poe: unknown flag \"-ntasks\" before the program; did you mean -procs?");
    CHECK(error_of({"-kill_grace", "4", "prog"}) ==
          "poe: unknown flag \"-kill_grace\" before the program; did you mean the variable "
          "MP_KILL_GRACE?");
    CHECK(error_of({"-zzzzzz", "prog"}) ==
          "poe: unknown flag \"-zzzzzz\" before the program; \"poe -h\" lists all flags");
    CHECK(error_of({"-", "prog"}) ==
          "poe: unknown flag \"-\" before the program; \"poe -h\" lists all flags");
    CHECK(error_of({"prog", "-procs"}) ==
          "-procs: its value is missing; expected a number of tasks from 1 to 1048576");
    CHECK(error_of({"--labelio"}) == "--labelio: its value is missing; expected yes or no");
    CHECK(error_of({"--dry-run=yes", "prog"}) ==
          "--dry-run: takes no value, but has \"yes\"; write --dry-run alone");
}
