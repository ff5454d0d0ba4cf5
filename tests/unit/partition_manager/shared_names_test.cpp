// Names that are shared with other jobs, below a folder made for it.
#include "partition_manager/status/shared_names.hpp"

#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "base/unique_fd.hpp"
#include "tests/unit/partition_manager/support.hpp"

using namespace poe::pm;
using namespace poe::pm::test;
namespace fs = std::filesystem;

namespace {

const uid_t kUser = ::getuid();

SharedNames names_of(const TempDirectory& parent, const std::string& job) {
    return SharedNames(parent.path(), kUser, job);
}

// A folder with the name "n" of value "v" that looks like one of a living job.
struct Imitation {
    explicit Imitation(const std::string& path) : path_(path) {
        fs::create_directory(path);
        const TempDirectory elsewhere;
        SharedNames real(elsewhere.path(), kUser, "real");
        real.publish("n", "v");
        fs::copy(job_directory_path(elsewhere.path(), kUser, "real", kNamesKind), path);
        lock_.reset(::open(path.c_str(), O_RDONLY | O_DIRECTORY));
        REQUIRE(::flock(lock_.get(), LOCK_EX | LOCK_NB) == 0);
    }
    fs::path file() const { return fs::directory_iterator(path_)->path(); }

    std::string path_;
    poe::UniqueFd lock_;
};

}  // namespace

TEST_CASE("a name is known to other jobs until it is withdrawn", "[shared_names]") {
    const TempDirectory parent;
    {
        SharedNames one = names_of(parent, "one");
        SharedNames two = names_of(parent, "two");
        CHECK_FALSE(two.look_up("n"));
        CHECK(fs::is_empty(parent.path()));
        one.publish("n", "v");
        CHECK(two.look_up("n") == "v");
        CHECK_FALSE(two.look_up("N"));
        two.withdraw("n");
        CHECK(two.look_up("n") == "v");
        one.withdraw("n");
        CHECK_FALSE(two.look_up("n"));
    }
    CHECK(fs::is_empty(parent.path()));
}

TEST_CASE("names and values have any bytes", "[shared_names]") {
    const TempDirectory parent;
    SharedNames one = names_of(parent, "one");
    const SharedNames two = names_of(parent, "two");
    std::string bytes;
    for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
    const std::string names[] = {bytes, std::string(1024, '/'), "..", "", "new", "3\nabc"};
    for (const std::string& name : names) one.publish(name, name + bytes);
    for (const std::string& name : names) CHECK(two.look_up(name) == name + bytes);
}

TEST_CASE("the name that was published last counts", "[shared_names]") {
    const TempDirectory parent;
    SharedNames one = names_of(parent, "one");
    SharedNames two = names_of(parent, "two");
    const SharedNames three = names_of(parent, "three");
    one.publish("n", "1");
    const auto age = [&](const std::string& job, int seconds) {
        const std::string path = job_directory_path(parent.path(), kUser, job, kNamesKind);
        for (const auto& file : fs::directory_iterator(path))
            fs::last_write_time(file,
                                fs::file_time_type::clock::now() - std::chrono::seconds(seconds));
    };
    two.publish("n", "2");
    age("one", 5);
    CHECK(three.look_up("n") == "2");
    age("two", 10);
    CHECK(three.look_up("n") == "1");
}

TEST_CASE("the names of a killed poe are not known", "[shared_names]") {
    const TempDirectory parent;
    int ready[2];
    REQUIRE(::pipe(ready) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
        SharedNames one = names_of(parent, "one");
        one.publish("n", "v");
        [[maybe_unused]] const ssize_t n = ::write(ready[1], "x", 1);
        ::pause();
    }
    char byte = 0;
    REQUIRE(::read(ready[0], &byte, 1) == 1);
    const SharedNames two = names_of(parent, "two");
    CHECK(two.look_up("n") == "v");
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    CHECK_FALSE(two.look_up("n"));
    CHECK_FALSE(fs::is_empty(parent.path()));
    remove_stale_job_directories(parent.path(), kUser);
    CHECK(fs::is_empty(parent.path()));
    ::close(ready[0]);
    ::close(ready[1]);
}

TEST_CASE("what others have made is not read", "[shared_names]") {
    const TempDirectory parent;
    const SharedNames mine = names_of(parent, "mine");
    const std::string place = job_directory_path(parent.path(), kUser, "x", kNamesKind);
    SECTION("an imitation of the user's own is") {
        const Imitation folder(place);
        CHECK(mine.look_up("n") == "v");
    }
    SECTION("a link to a folder") {
        const TempDirectory elsewhere;
        const Imitation folder(elsewhere.path() + "/folder");
        fs::create_directory_symlink(folder.path_, place);
        CHECK_FALSE(mine.look_up("n"));
    }
    SECTION("a link to a file") {
        const Imitation folder(place);
        const fs::path file = folder.file();
        fs::rename(file, parent.path() + "/moved");
        fs::create_symlink(parent.path() + "/moved", file);
        CHECK_FALSE(mine.look_up("n"));
    }
    SECTION("a pipe") {
        const Imitation folder(place);
        const fs::path file = folder.file();
        fs::remove(file);
        REQUIRE(::mkfifo(file.c_str(), 0600) == 0);
        CHECK_FALSE(mine.look_up("n"));
    }
    SECTION("contents of another name") {
        const Imitation folder(place);
        std::ofstream(folder.file()) << "1\nmv";
        CHECK_FALSE(mine.look_up("n"));
        std::ofstream(folder.file()) << "n";
        CHECK_FALSE(mine.look_up("n"));
    }
    if (kUser == 0) {
        SECTION("a folder of another user") {
            const Imitation folder(place);
            REQUIRE(::chown(folder.path_.c_str(), 12345, 12345) == 0);
            CHECK_FALSE(mine.look_up("n"));
        }
        SECTION("a file of another user") {
            const Imitation folder(place);
            REQUIRE(::chown(folder.file().c_str(), 12345, 12345) == 0);
            CHECK_FALSE(mine.look_up("n"));
        }
    }
}

TEST_CASE("a link in the place of the folder is not followed by publishing", "[shared_names]") {
    const TempDirectory parent;
    const TempDirectory elsewhere;
    for (const char* kind : {"poe.names", ".poe.names"}) {
        const std::string place = job_directory_path(parent.path(), kUser, "one", kind);
        fs::create_directory_symlink(elsewhere.path(), place);
        SharedNames one = names_of(parent, "one");
        CHECK_THROWS_AS(one.publish("n", "v"), poe::Error);
        CHECK(fs::is_empty(elsewhere.path()));
        fs::remove(place);
    }
}

TEST_CASE("only the user can read what is shared", "[shared_names]") {
    const TempDirectory parent;
    SharedNames one = names_of(parent, "one");
    one.publish("n", "v");
    const std::string path = job_directory_path(parent.path(), kUser, "one", kNamesKind);
    CHECK((fs::status(path).permissions() & fs::perms::all) == fs::perms::owner_all);
    for (const auto& file : fs::directory_iterator(path))
        CHECK((file.status().permissions() & (fs::perms::group_all | fs::perms::others_all)) ==
              fs::perms::none);
}
