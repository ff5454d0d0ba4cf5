// FileUse: finds out whether a process uses files. A call for a file of MPI may last long because
// of the file system and not because of other tasks.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <sys/types.h>

namespace poe::pm {

// For one thread.
class FileUse {
  public:
    // True if the process has neither read nor written since an earlier call of this function, at
    // least `apart` ago, and none of its threads is in a system call that could be for a file.
    // False in the first call, and if the kernel does not report enough. Never blocks.
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
