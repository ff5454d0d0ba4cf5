// Where core files are, go, and what they are called.
#include "partition_manager/daemon/core_files.hpp"

#include <filesystem>
#include <fstream>
#include <unistd.h>

#include <catch2/catch.hpp>

using namespace poe::pm;
namespace fs = std::filesystem;

namespace {

struct Directory {
    Directory() {
        std::string name = (fs::temp_directory_path() / "poe-core-XXXXXX").string();
        REQUIRE(::mkdtemp(name.data()) != nullptr);
        path = name;
    }
    ~Directory() { fs::remove_all(path); }
    Directory(const Directory&) = delete;
    Directory& operator=(const Directory&) = delete;

    void write(const std::string& name) const { std::ofstream(path / name) << name; }
    std::string read(const std::string& name) const {
        std::ifstream file(path / name);
        std::string text;
        std::getline(file, text);
        return text;
    }

    fs::path path;
};

const auto kLongAgo = std::chrono::system_clock::now() - std::chrono::hours(1);

bool move(const Directory& directory, const std::string& pattern, bool uses_pid,
          const CoreSpec& spec = {}) {
    return move_core(spec, 3, 77, directory.path, kLongAgo, pattern, uses_pid);
}

}  // namespace

TEST_CASE("a core file moves to the task's directory", "[core_files]") {
    const std::string uid = std::to_string(::getuid());
    const struct {
        const char* pattern;
        bool uses_pid;
        std::string name;
    } cases[] = {{"core", false, "core"},
                 {"core", true, "core.77"},
                 {"core.%p", true, "core.77"},
                 {"%p-%u.core%%", false, "77-" + uid + ".core%"}};
    for (const auto& one : cases) {
        const Directory directory;
        directory.write(one.name);
        CHECK(move(directory, one.pattern, one.uses_pid));
        CHECK(directory.read("coredir.3/core") == one.name);
        CHECK_FALSE(fs::exists(directory.path / one.name));
    }
}

TEST_CASE("what is no core of this task stays", "[core_files]") {
    const Directory directory;
    directory.write("core");
    CHECK_FALSE(move(directory, "|/usr/lib/systemd/systemd-coredump %P", false));
    CHECK_FALSE(move(directory, "core.%e", false));
    CHECK_FALSE(move(directory, "core", true));
    CHECK_FALSE(move(directory, "", false));
    CHECK_FALSE(move(directory, "core", false, {"none", "", false}));
    CHECK_FALSE(move_core({}, 3, 77, directory.path,
                          std::chrono::system_clock::now() + std::chrono::hours(1), "core", false));
    fs::create_symlink("core", directory.path / "core.77");
    CHECK_FALSE(move(directory, "core", true));
    CHECK(directory.read("core") == "core");
}

TEST_CASE("the words that keep a task's stacks", "[core_files]") {
    using Words = std::vector<std::string>;
    CHECK(stack_keeper({}, 2, "pmd-core").empty());
    CHECK(stack_keeper({"coredir", "lite", false}, 2, "pmd-core") ==
          Words{"pmd-core", "2", "coredir.2/lite"});
    CHECK(stack_keeper({"none", "lite", true}, 2, "pmd-core") ==
          Words{"pmd-core", "-sigterm", "2", "lite.2"});
    CHECK(stack_keeper({"x", "STDERR", false}, 0, "pmd-core") == Words{"pmd-core", "0", "STDERR"});
}
