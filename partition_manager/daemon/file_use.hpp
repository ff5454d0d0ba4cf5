// Whether a process uses files: a call for a file of MPI may last long because of the file system,
// and not because of other tasks.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <sys/types.h>

namespace poe::pm {

// Not for several threads.
class FileUse {
  public:
    // True if the process has neither read nor written between the call of this function before and
    // this one, and none of its threads is in a system call that could be for a file. Needs two
    // calls that are at least `apart` from each other: the first one answers false, and so does one
    // for which the kernel does not tell enough. Never blocks.
    bool rests(pid_t process, std::chrono::steady_clock::time_point now,
               std::chrono::milliseconds apart);

  private:
    struct Seen {
        std::uint64_t calls = 0;                        // that have read or written
        std::chrono::steady_clock::time_point since{};  // since when there were as many
    };
    std::map<pid_t, Seen> seen_;
};

}  // namespace poe::pm
