// What the three copy programs do in the same way as tasks of a job: links made of MPL calls, a
// link to the task itself, options, and the end.
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
    std::string flags;  // those that were given

    bool has(char flag) const { return flags.find(flag) != std::string::npos; }
};

// Becomes a task (or, with poe's flags, poe), then reads the program's own arguments: flags are
// single letters of `allowed`. Wrong ones, or fewer than `least` operands, are told by task 0 with
// `usage`, and end the program with status 2; so do --help and --version, with 0.
Program begin(int argc, char** argv, std::string_view allowed, std::size_t least,
              const std::string& usage);

// Until all tasks are here.
void meet();

// From task 0 to all others.
Link to_all();
// Between this task and another.
Link to_task(int other);

// Runs `send` with a link whose bytes also go to this task itself, where they are received with
// `options`. `others`: where they go besides; an empty Link: nowhere.
std::vector<std::string> send_here_too(const Link& others, const ReceiveOptions& options,
                                       const std::function<void(const Link&)>& send);

// Tells what went wrong, waits for all tasks, and gives the program's status: 1 when something did.
int finish(const Program& program, const std::vector<std::string>& troubles);

// The last part of a path; of "a/b/", "b".
std::string last_name(const std::string& path);

}  // namespace poe::copy
