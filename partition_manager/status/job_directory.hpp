// The job's directory on one node. Everything of a job that has a name in the file system is in
// /dev/shm/poe-<uid>-<job>/ (memory, mode 0700) and is removed with it.
//
// The owner of a directory holds a lock on it (flock) as long as the owner lives. If a directory is
// not locked, all its owners were killed; the user's next job on the node removes it.
//
//   kind        directory                     owner          contents
//   poe         /dev/shm/poe-<uid>-<job>/      pmd            everything of a job on its node
//   poe.names   /dev/shm/poe.names-<uid>-<job>/  poe          published names (shared_names.hpp)
#pragma once

#include <functional>
#include <string>
#include <sys/types.h>

#include "base/unique_fd.hpp"

namespace poe::pm {

inline constexpr const char* kJobDirectoryParent = "/dev/shm";
inline constexpr const char* kJobKind = "poe";
inline constexpr const char* kNamesKind = "poe.names";

// "<parent>/<kind>-<uid>-<job>".
std::string job_directory_path(const std::string& parent, uid_t uid, const std::string& job_id,
                               const std::string& kind = kJobKind);

// Removes a directory and everything below it, without following links. Errors are ignored.
void remove_tree(const std::string& path) noexcept;

// Calls visit(path, descriptor) for each of this user's directories of a kind below `parent`.
// Links, and what others have made under such a name, are skipped.
void visit_job_directories(
    const std::string& parent, uid_t uid, const std::string& kind,
    const std::function<void(const std::string& path, int descriptor)>& visit);

// Removes this user's job directories of all kinds below `parent` that no living owner has locked.
void remove_stale_job_directories(const std::string& parent, uid_t uid) noexcept;

// Owns one job's directory; the destructor removes it. Move-only.
class JobDirectory {
  public:
    // Creates and locks the directory. Throws Error with advice if it cannot be created.
    static JobDirectory create(const std::string& parent, uid_t uid, const std::string& job_id,
                               const std::string& kind = kJobKind);

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
