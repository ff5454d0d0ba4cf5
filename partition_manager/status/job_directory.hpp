// The job's directory on one node: everything of a job that has a name in the file system lives in
// /dev/shm/poe-<uid>-<job>/ (memory, mode 0700), and goes with it.
//
// Its owner holds a lock on it (flock) for as long as it lives. A directory that nobody has locked
// was left by owners who were killed together; the next job of the user on the node removes it.
#pragma once

#include <string>
#include <sys/types.h>

#include "base/unique_fd.hpp"

namespace poe::pm {

inline constexpr const char* kJobDirectoryParent = "/dev/shm";

// "<parent>/poe-<uid>-<job>".
std::string job_directory_path(const std::string& parent, uid_t uid, const std::string& job_id);

// Removes a directory and all below it, following no links. Says nothing when it is not there.
void remove_tree(const std::string& path) noexcept;

// Removes this user's job directories below `parent` that no living owner holds.
void remove_stale_job_directories(const std::string& parent, uid_t uid) noexcept;

// Owns one job's directory; the destructor removes it. Move-only.
class JobDirectory {
  public:
    // Throws Error that says what to do when it cannot be made.
    static JobDirectory create(const std::string& parent, uid_t uid, const std::string& job_id);

    JobDirectory(JobDirectory&&) noexcept = default;
    ~JobDirectory();

    const std::string& path() const { return path_; }
    std::string file(const std::string& name) const { return path_ + "/" + name; }

  private:
    JobDirectory() = default;

    std::string path_;
    UniqueFd lock_;
};

}  // namespace poe::pm
