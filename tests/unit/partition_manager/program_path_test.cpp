// Finding programs in folders made for it, and the words for what is wrong with them.
#include "partition_manager/job/program_path.hpp"

#include <catch2/catch.hpp>

#include "tests/unit/partition_manager/support.hpp"

using namespace poe::pm;
using namespace poe::pm::test;

namespace {

// cwd/ is the working directory; bin1 and bin2 are in PATH.
struct Places {
    TempDirectory root;
    std::string work = root / "cwd";
    std::string bin1 = root / "bin1";
    std::string bin2 = root / "bin2";
    std::string path = bin1 + ":" + bin2;

    Places() {
        for (const std::string& folder : {work, bin1, bin2, work + "/sub"})
            std::filesystem::create_directories(folder);
    }
    std::string program(const std::string& name, mode_t mode = 0755) const {
        return root.write(name, "#!/bin/sh\n", mode);
    }
    ProgramPath find(const std::string& name) const { return find_program(name, path, work); }
};

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("programs along PATH", "[program_path]") {
    const Places places;
    const std::string second = places.program("bin2/prog");
    CHECK(places.find("prog").file == second);
    CHECK(places.find("prog").trouble.empty());
    const std::string first = places.program("bin1/prog");
    CHECK(places.find("prog").file == first);
    CHECK(find_program("prog", "", places.work).file.empty());
    CHECK(find_program("prog", "/nonexistent:" + places.bin2, places.work).file == second);
    CHECK(find_program("prog", places.bin2 + "/", places.work).file == places.bin2 + "/prog");
}

TEST_CASE("what stands in the way in PATH is passed", "[program_path]") {
    const Places places;
    const std::string good = places.program("bin2/prog");
    SECTION("a directory") {
        std::filesystem::create_directory(places.bin1 + "/prog");
    }
    SECTION("a file that is not executable") {
        places.program("bin1/prog", 0644);
    }
    SECTION("a dangling link") {
        std::filesystem::create_symlink("nowhere", places.bin1 + "/prog");
    }
    SECTION("a link to itself") {
        std::filesystem::create_symlink("prog", places.bin1 + "/prog");
    }
    SECTION("a pipe") {
        ::mkfifo((places.bin1 + "/prog").c_str(), 0755);
    }
    SECTION("a file instead of a folder") {
        std::filesystem::remove(places.bin1);
        places.root.write("bin1", "text");
    }
    CHECK(places.find("prog").file == good);
    CHECK(places.find("prog").trouble.empty());
}

TEST_CASE("links to programs", "[program_path]") {
    const Places places;
    places.program("bin2/real");
    std::filesystem::create_symlink(places.bin2 + "/real", places.bin1 + "/prog");
    CHECK(places.find("prog").file == places.bin1 + "/prog");
}

TEST_CASE("relative and empty elements of PATH mean the working directory", "[program_path]") {
    const Places places;
    const std::string here = places.program("cwd/here");
    const std::string sub = places.program("cwd/sub/there");
    struct Case {
        std::string path;
        std::string name;
        std::string file;
    };
    const Case cases[] = {
        {":" + places.bin1, "here", here},
        {places.bin1 + ":", "here", here},
        {places.bin1 + "::" + places.bin2, "here", here},
        {".", "here", here},
        {places.bin1, "here", ""},
        {"sub", "there", sub},
        {"./sub/", "there", sub},
        {"../cwd/sub", "there", sub},
    };
    for (const Case& one : cases) {
        INFO(one.path << " " << one.name);
        const ProgramPath found = find_program(one.name, one.path, places.work);
        REQUIRE(found.file.empty() == one.file.empty());
        if (!one.file.empty()) {
            CHECK(found.file[0] == '/');
            CHECK(std::filesystem::equivalent(found.file, one.file));
        }
    }
}

TEST_CASE("names with a slash do not use PATH", "[program_path]") {
    const Places places;
    places.program("bin1/prog");
    const std::string own = places.program("cwd/sub/prog");
    CHECK(places.find("./prog").file.empty());
    CHECK(std::filesystem::equivalent(places.find("sub/prog").file, own));
    CHECK(std::filesystem::equivalent(places.find("./sub/prog").file, own));
    CHECK(places.find(own).file == own);
    CHECK(places.find(places.bin1 + "/prog").file == places.bin1 + "/prog");
}

TEST_CASE("what is wrong with a program", "[program_path]") {
    const Places places;
    places.program("cwd/text", 0644);
    places.program("bin1/almost", 0644);
    places.program("cwd/local");
    std::filesystem::create_symlink("nowhere", places.work + "/dangling");
    std::filesystem::create_symlink("loop", places.work + "/loop");
    struct Case {
        std::string name;
        std::string words;
    };
    const Case cases[] = {
        {"", "empty"},
        {"./missing", "no such file"},
        {"./dangling", "no such file"},
        {"./loop", "symbolic links"},
        {"./sub", "directory"},
        {"./text", "not executable"},
        {"./text/x", "Not a directory"},
        {"/dev/null", "not a regular file"},
        {"missing", "not in PATH"},
        {"almost", "not executable"},
        {"local", "did you mean ./local"},
        {std::string(300, 'x'), "not in PATH"},
        {"./" + std::string(300, 'x'), "too long"},
    };
    for (const Case& one : cases) {
        const ProgramPath found = places.find(one.name);
        INFO(one.name << ": " << found.trouble);
        CHECK(found.file.empty());
        CHECK(contains(found.trouble, one.words));
    }
}

TEST_CASE("the best explanation is the one about the program", "[program_path]") {
    const Places places;
    places.root.write("file", "text");
    places.program("bin2/almost", 0644);
    const ProgramPath found =
        find_program("almost", (places.root / "file") + ":" + places.bin2, places.work);
    INFO(found.trouble);
    CHECK(contains(found.trouble, "not executable"));
    const ProgramPath missing = find_program("missing", places.root / "file", places.work);
    INFO(missing.trouble);
    CHECK(missing.trouble == "it is not in PATH");
}

TEST_CASE("why exec failed", "[program_path]") {
    const TempDirectory folder;
    struct Case {
        std::string content;
        int error;
        std::string words;
    };
    const Case cases[] = {
        {"#!/no/such/shell\n", ENOENT, "\"/no/such/shell\""},
        {"#!  /no/such/shell -x\n", ENOENT, "\"/no/such/shell\""},
        {"#!\t/no/such/shell\n", EACCES, "Permission denied"},
        {"#!/bin/sh\r\necho\r\n", ENOENT, "carriage return"},
        {"#!/no/end", ENOENT, "\"/no/end\""},
        {"#!", ENOENT, "interpreter"},
        {"#!   ", ENOENT, "interpreter"},
        {"#!\n", ENOENT, "interpreter"},
        {"#!/" + std::string(400, 'x') + "\n", ENOENT, "interpreter"},
        {std::string("\x7f"
                     "ELF\0",
                     5),
         ENOENT, "loader"},
        {std::string("\x7f"
                     "ELF\0",
                     5),
         ENOEXEC, "architecture"},
        {"", ENOEXEC, "not a program"},
        {"x", E2BIG, "too long"},
        {"x", EAGAIN, "limit of processes"},
        {"x", ETXTBSY, "written"},
        {"x", EIO, "Input/output error"},
    };
    for (const Case& one : cases) {
        const std::string words = explain_exec_failure(folder.write("f", one.content), one.error);
        INFO(words);
        CHECK(contains(words, one.words));
    }
    CHECK_FALSE(explain_exec_failure(folder / "missing", ENOENT).empty());
}

TEST_CASE("what a shell would run", "[program_path]") {
    const TempDirectory folder;
    CHECK(is_shell_text(folder.write("a", "echo hi\n")));
    CHECK(is_shell_text(folder.write("b", "")));
    CHECK_FALSE(is_shell_text(folder.write("c", std::string("\x7f"
                                                            "ELF\0\1",
                                                            6))));
    CHECK_FALSE(is_shell_text(folder.write("d", "#!/bin/sh\n")));
}
