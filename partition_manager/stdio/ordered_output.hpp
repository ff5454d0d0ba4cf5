// OrderedOutput: keeps the output of each task until it is released in task order (-stdoutmode
// ordered). It is kept in memory up to a limit, and beyond that in an unlinked temporary file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.hpp"
#include "base/unique_fd.hpp"

namespace poe::pm {

class OrderedOutput {
  public:
    // In bytes.
    static constexpr std::size_t kMemoryLimit = std::size_t{32} << 20;

    // `directory` is where the temporary file is created if it is needed.
    OrderedOutput(TaskId tasks, std::string directory, std::size_t memory_limit = kMemoryLimit);

    // Sets the number of tasks. If it decreases, the output of the removed tasks is discarded.
    void set_tasks(TaskId tasks) { kept_.resize(static_cast<std::size_t>(tasks)); }

    // Keeps `data`. Not allowed while output is being released. Blocks on disk I/O if the memory
    // limit is exceeded. Throws Error if the temporary file cannot be written (disk full).
    void append(TaskId task, std::string_view data);

    // Calls `take` for all that is kept, task by task, in pieces, and forgets what has been passed.
    // If `take` returns false, it stops after that piece. Returns true if nothing is left;
    // otherwise the next call continues where this one stopped. Throws Error if the temporary file
    // cannot be read.
    bool give_out(const std::function<bool(TaskId, std::string_view)>& take);

  private:
    struct Extent {
        std::uint64_t offset;
        std::uint64_t length;
    };
    struct Kept {
        std::vector<Extent> in_file;  // older than what is in memory
        std::string in_memory;
        std::size_t given = 0;  // bytes of in_memory that have been released
    };

    bool give_file(Kept& kept, TaskId task,
                   const std::function<bool(TaskId, std::string_view)>& take);
    bool give_memory(Kept& kept, TaskId task,
                     const std::function<bool(TaskId, std::string_view)>& take);

    void spill();

    std::vector<Kept> kept_;
    std::size_t giving_ = 0;  // tasks before this one have been released
    std::string directory_;
    std::size_t memory_limit_;
    std::size_t in_memory_ = 0;
    std::uint64_t file_size_ = 0;
    UniqueFd file_;
};

}  // namespace poe::pm
