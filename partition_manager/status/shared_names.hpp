// SharedNames: the names that the tasks of a job have published by MPI_Publish_name, for the other
// jobs of the same user whose poe runs on the same computer. NameTable (name_table.hpp) has the
// names of one poe and is asked first.
//
//   directory   /dev/shm/poe.names-<uid>-<job>/, mode 0700, locked by poe as long as it lives (job_directory.hpp)
//   file        one for each name; it is called by a hash of the name, because a name may have any bytes and any length
//   contents    the length of the name in digits, a line feed, the name, the value
//
// Invariants:
//   - A file is complete when it has its name, because it is written under another one and renamed.
//   - A name is known only as long as its poe lives: the system ends the lock with the process,
//     however it ends.
//   - Only directories and files of the user are read, and no link is followed, because everybody
//     may write to /dev/shm.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>

#include "partition_manager/status/job_directory.hpp"

namespace poe::pm {

// Every function accesses a few files in memory and blocks for that time.
class SharedNames {
  public:
    // Makes nothing: the directory is made for the first name.
    SharedNames(std::string parent, uid_t uid, std::string job_id)
        : parent_(std::move(parent)), uid_(uid), job_id_(std::move(job_id)) {}

    // Makes the name known to other jobs. Throws Error if it cannot be written.
    void publish(const std::string& name, std::string_view value);
    // Does nothing if it is not known.
    void withdraw(const std::string& name) noexcept;
    // Returns the value that another job has published under the name; if several have, the latest.
    std::optional<std::string> look_up(const std::string& name) const;

  private:
    std::string parent_;
    uid_t uid_;
    std::string job_id_;
    std::optional<JobDirectory> own_;
};

}  // namespace poe::pm
