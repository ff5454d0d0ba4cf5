// OrderedOutput: what tasks wrote, kept per task until it is given out in task order (stdoutmode
// ordered). In memory up to a limit, beyond it in a temporary file that has no name.
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
    static constexpr std::size_t kMemoryLimit = std::size_t{32} << 20;

    // `directory`: where the temporary file would be made.
    OrderedOutput(TaskId tasks, std::string directory, std::size_t memory_limit = kMemoryLimit);

    // There are so many tasks from now on; what fewer have is forgotten.
    void set_tasks(TaskId tasks) { kept_.resize(static_cast<std::size_t>(tasks)); }

    // Keeps `data`; not while it is being given out. Throws Error when the temporary file cannot be
    // written (disk full).
    void append(TaskId task, std::string_view data);

    // Calls `take` for all that is kept, task by task, in pieces, and forgets what it has taken;
    // `take` says false to stop behind that piece. True when nothing is left; otherwise the next
    // call goes on where this one stopped. Throws Error when the temporary file cannot be read.
    bool give_out(const std::function<bool(TaskId, std::string_view)>& take);

  private:
    struct Extent {
        std::uint64_t offset;
        std::uint64_t length;
    };
    struct Kept {
        std::vector<Extent> in_file;  // older than what is in memory
        std::string in_memory;
        std::size_t given = 0;  // of in_memory
    };

    bool give_file(Kept& kept, TaskId task,
                   const std::function<bool(TaskId, std::string_view)>& take);
    bool give_memory(Kept& kept, TaskId task,
                     const std::function<bool(TaskId, std::string_view)>& take);

    void spill();

    std::vector<Kept> kept_;
    std::size_t giving_ = 0;  // tasks before this one have been given out
    std::string directory_;
    std::size_t memory_limit_;
    std::size_t in_memory_ = 0;
    std::uint64_t file_size_ = 0;
    UniqueFd file_;
};

}  // namespace poe::pm
