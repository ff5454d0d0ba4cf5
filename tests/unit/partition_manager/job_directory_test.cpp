// Job directories below a folder made for it: making, locking, removing.
#include "partition_manager/status/job_directory.hpp"

#include <optional>
#include <sys/file.h>

#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "tests/unit/partition_manager/support.hpp"

using namespace poe::pm;
using namespace poe::pm::test;
namespace fs = std::filesystem;

namespace {

const uid_t kUser = ::getuid();

// A job directory without a living owner.
std::string stale(const TempDirectory& parent, const std::string& job) {
    std::string path = job_directory_path(parent.path(), kUser, job);
    fs::create_directories(path + "/pmix/deep/er");
    std::ofstream(path + "/segment") << "x";
    std::ofstream(path + "/pmix/deep/er/file") << "x";
    return path;
}

bool empty(const TempDirectory& parent) {
    return fs::is_empty(parent.path());
}

}  // namespace

TEST_CASE("a job directory comes and goes", "[job_directory]") {
    const TempDirectory parent;
    {
        const JobDirectory job = JobDirectory::create(parent.path(), kUser, "a-1");
        CHECK(job.path() == parent.path() + "/poe-" + std::to_string(kUser) + "-a-1");
        CHECK(job.path() == job_directory_path(parent.path(), kUser, "a-1"));
        CHECK(job.file("segment") == job.path() + "/segment");
        struct stat status = {};
        REQUIRE(::stat(job.path().c_str(), &status) == 0);
        CHECK((status.st_mode & 07777) == 0700);
        CHECK(std::distance(fs::directory_iterator(parent.path()), {}) == 1);
        fs::create_directories(job.file("pmix/x"));
        std::ofstream(job.file("pmix/x/y")) << "data";
    }
    CHECK(empty(parent));
}

TEST_CASE("a job directory that moves is removed once", "[job_directory]") {
    const TempDirectory parent;
    {
        std::optional<JobDirectory> outer;
        {
            JobDirectory inner = JobDirectory::create(parent.path(), kUser, "a");
            outer.emplace(std::move(inner));
        }
        CHECK(fs::is_directory(outer->path()));
        remove_stale_job_directories(parent.path(), kUser);
        CHECK(fs::is_directory(outer->path()));
    }
    CHECK(empty(parent));
}

TEST_CASE("only what nobody holds is stale", "[job_directory]") {
    const TempDirectory parent;
    const JobDirectory mine = JobDirectory::create(parent.path(), kUser, "mine");
    std::ofstream(mine.file("segment")) << "x";
    const std::string old1 = stale(parent, "old1");
    const std::string old2 = stale(parent, "old2");
    const std::string locked = stale(parent, "locked");
    const poe::UniqueFd lock(::open(locked.c_str(), O_RDONLY | O_DIRECTORY));
    REQUIRE(::flock(lock.get(), LOCK_SH) == 0);
    remove_stale_job_directories(parent.path(), kUser);
    CHECK_FALSE(fs::exists(old1));
    CHECK_FALSE(fs::exists(old2));
    CHECK(fs::exists(locked + "/pmix/deep/er/file"));
    CHECK(fs::exists(mine.file("segment")));
}

TEST_CASE("the lock of an owner that was killed is gone", "[job_directory]") {
    const TempDirectory parent;
    const int ended = in_child([&] {
        new JobDirectory(JobDirectory::create(parent.path(), kUser, "killed"));
        ::raise(SIGKILL);
        return 0;
    });
    REQUIRE(ended == 1000 + SIGKILL);
    CHECK(fs::exists(job_directory_path(parent.path(), kUser, "killed")));
    remove_stale_job_directories(parent.path(), kUser);
    CHECK(empty(parent));
}

TEST_CASE("only directories with the user's own prefix are looked at", "[job_directory]") {
    const TempDirectory parent;
    const std::string user = std::to_string(kUser);
    const std::string others[] = {"poe-" + user + "1-x", "poe-1" + user + "-x", "poe-" + user,
                                  "xpoe-" + user + "-x", "poe-x-" + user,       "segment"};
    for (const std::string& name : others) fs::create_directories(parent / name);
    parent.write("poe-" + user + "-file", "a file");
    const TempDirectory elsewhere;
    elsewhere.write("precious", "x");
    fs::create_symlink(elsewhere.path(), parent / ("poe-" + user + "-link"));
    remove_stale_job_directories(parent.path(), kUser);
    for (const std::string& name : others) CHECK(fs::exists(parent / name));
    CHECK(fs::exists(parent / ("poe-" + user + "-file")));
    CHECK(fs::is_symlink(parent / ("poe-" + user + "-link")));
    CHECK(fs::exists(elsewhere / "precious"));
    remove_stale_job_directories(parent / "missing", kUser);
}

TEST_CASE("directories of other users are left alone", "[job_directory]") {
    const TempDirectory parent;
    // It has the prefix of a user who does not own it.
    const uid_t other = kUser + 12345;
    const std::string path = job_directory_path(parent.path(), other, "x");
    fs::create_directories(path);
    remove_stale_job_directories(parent.path(), other);
    CHECK(fs::exists(path));
}

TEST_CASE("links inside are removed, not followed", "[job_directory]") {
    const TempDirectory parent;
    const TempDirectory elsewhere;
    elsewhere.write("precious", "x");
    fs::create_directory(elsewhere / "folder");
    const std::string old = stale(parent, "old");
    {
        const JobDirectory job = JobDirectory::create(parent.path(), kUser, "a");
        for (const std::string& place : {old, job.path()}) {
            fs::create_symlink(elsewhere.path(), place + "/link");
            fs::create_symlink(elsewhere / "precious", place + "/file");
            fs::create_symlink("nowhere", place + "/dangling");
            fs::create_directory(place + "/d");
            fs::create_symlink(elsewhere / "folder", place + "/d/link");
        }
        remove_stale_job_directories(parent.path(), kUser);
    }
    CHECK(empty(parent));
    CHECK(fs::exists(elsewhere / "precious"));
    CHECK(fs::exists(elsewhere / "folder"));
}

TEST_CASE("removing a tree", "[job_directory]") {
    const TempDirectory parent;
    remove_tree(stale(parent, "x"));
    CHECK(empty(parent));
    remove_tree(parent / "missing");
    const TempDirectory elsewhere;
    elsewhere.write("precious", "x");
    fs::create_symlink(elsewhere.path(), parent / "link");
    remove_tree(parent / "link");
    CHECK(empty(parent));
    CHECK(fs::exists(elsewhere / "precious"));
}

TEST_CASE("a job directory that is there already", "[job_directory]") {
    const TempDirectory parent;
    const std::string path = stale(parent, "a");
    CHECK_THROWS_AS(JobDirectory::create(parent.path(), kUser, "a"), poe::Error);
    CHECK(fs::exists(path + "/segment"));
    CHECK(std::distance(fs::directory_iterator(parent.path()), {}) == 1);
}

TEST_CASE("an empty job directory of a living owner is not taken over", "[job_directory]") {
    const TempDirectory parent;
    const JobDirectory job = JobDirectory::create(parent.path(), kUser, "a");
    CHECK_THROWS_WITH(JobDirectory::create(parent.path(), kUser, "a"),
                      Catch::Contains("another daemon of this job is on the same computer"));
    CHECK(fs::exists(job.path()));
}

TEST_CASE("no place for a job directory", "[job_directory]") {
    const TempDirectory parent;
    const std::string missing = parent / "missing";
    try {
        JobDirectory::create(missing, kUser, "a");
        FAIL("nothing was thrown");
    } catch (const poe::Error& error) {
        CHECK(error.system_errno() == ENOENT);
        CHECK(std::string(error.what()).find(missing) != std::string::npos);
    }
    CHECK(empty(parent));
}
