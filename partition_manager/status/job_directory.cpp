// Creates, locks and removes job directories; see job_directory.hpp.
#include "partition_manager/status/job_directory.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <filesystem>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "base/error.hpp"

namespace poe::pm {

namespace {

// It is another daemon of the same job, because job names are never reused.
constexpr const char* kTwice =
    "another daemon of this job is on the same computer; if the host file names it in two ways, "
    "write it in the same way each time";

}  // namespace

std::string job_directory_path(const std::string& parent, uid_t uid, const std::string& job_id,
                               const std::string& kind) {
    return parent + "/" + kind + "-" + std::to_string(uid) + "-" + job_id;
}

void remove_tree(const std::string& path) noexcept {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
}

void visit_job_directories(
    const std::string& parent, uid_t uid, const std::string& kind,
    const std::function<void(const std::string& path, int descriptor)>& visit) {
    DIR* directory = ::opendir(parent.c_str());
    if (directory == nullptr) return;
    const std::string prefix = kind + "-" + std::to_string(uid) + "-";
    while (const dirent* entry = ::readdir(directory)) {
        const std::string name = entry->d_name;
        if (name.compare(0, prefix.size(), prefix) != 0) continue;
        const std::string path = parent + "/" + name;
        const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        struct stat status = {};
        if (!fd || ::fstat(fd.get(), &status) != 0 || status.st_uid != uid) continue;
        visit(path, fd.get());
    }
    ::closedir(directory);
}

void remove_stale_job_directories(const std::string& parent, uid_t uid) noexcept {
    for (const char* kind : {kJobKind, kNamesKind})
        visit_job_directories(parent, uid, kind,
                              [](const std::string& path, int descriptor) noexcept {
                                  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0)
                                      remove_tree(path);
                              });
}

JobDirectory JobDirectory::create(const std::string& parent, uid_t uid, const std::string& job_id,
                                  const std::string& kind) {
    JobDirectory directory;
    const std::string path = job_directory_path(parent, uid, job_id, kind);
    // Created and locked under a name that the search for stale directories ignores, and renamed
    // afterwards.
    const std::string unlocked = job_directory_path(parent, uid, job_id, "." + kind);
    if (::mkdir(unlocked.c_str(), 0700) != 0) {
        const int cause = errno;
        if (cause == EEXIST) throw Error(kTwice);
        throw Error("cannot make the job directory " + unlocked +
                        " (is there space, and may you write there? `df " + parent + "`, `ls -ld " +
                        parent + "`)",
                    cause);
    }
    directory.lock_.reset(::open(unlocked.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!directory.lock_ || ::flock(directory.lock_.get(), LOCK_EX | LOCK_NB) != 0 ||
        ::renameat2(AT_FDCWD, unlocked.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) != 0) {
        const int cause = errno;
        ::rmdir(unlocked.c_str());
        if (cause == EEXIST) throw Error(kTwice);
        throw Error("cannot lock the job directory " + path, cause);
    }
    directory.path_ = path;
    return directory;
}

JobDirectory::~JobDirectory() {
    if (lock_) remove_tree(path_);
}

}  // namespace poe::pm
