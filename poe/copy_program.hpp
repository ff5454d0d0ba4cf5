// The common part of the three copy programs, which run as tasks of a job: links based on MPL
// calls, a link to the task itself, options, and the end.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "poe/file_transfer.hpp"

namespace poe::copy {

struct Program {
    std::string name;
    int tasks = 1;
    int me = 0;
    std::vector<std::string> operands;
    std::string flags;  // the flags that were given

    bool has(char flag) const { return flags.find(flag) != std::string::npos; }
};

// Becomes a task (or poe, if there are flags of poe), then reads the program's own arguments. Flags
// are single letters of `allowed`. If a flag is wrong or there are fewer than `least` operands,
// task 0 prints `usage`, and the program exits with status 2. --help and --version end the program
// with status 0.
Program begin(int argc, char** argv, std::string_view allowed, std::size_t least,
              const std::string& usage);

// Blocks until all tasks have called it.
void meet();

// A link from task 0 to all other tasks.
Link to_all();
// A link between this task and another one.
Link to_task(int other);

// Runs `send` with a link whose bytes also go to this task itself, which receives them with
// `options`. `others` is the link to the other tasks; if it is empty, the bytes go only to this
// task. Returns the errors of the local receiver.
std::vector<std::string> send_here_too(const Link& others, const ReceiveOptions& options,
                                       const std::function<void(const Link&)>& send);

// Prints the errors, blocks until all tasks have called it, and returns the program's status: 1 if
// there are errors.
int finish(const Program& program, const std::vector<std::string>& troubles);

// Returns the last part of a path; for "a/b/" this is "b".
std::string last_name(const std::string& path);

}  // namespace poe::copy
