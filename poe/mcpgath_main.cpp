// mcpgath: collects files of all tasks of a job at task 0. An MPL program: mcpgath -a
// /tmp/result.dat results -procs 16
#include <filesystem>

#include "poe/copy_program.hpp"

namespace {

namespace copy = poe::copy;

constexpr const char* kUsage =
    "usage: mcpgath [-ai] SOURCE... DIRECTORY [poe flags]\n"
    "Copies the files and directories SOURCE of every task into DIRECTORY of task 0; wildcards "
    "in quotes are expanded by each task. -a: the task's number is appended to each name. -i: "
    "existing files stay. See mcpgath(1).\n";

void send_all(const copy::Link& link, const copy::Program& program,
              std::vector<std::string>& troubles) {
    for (std::size_t i = 0; i + 1 < program.operands.size(); ++i)
        for (const std::string& path : copy::expand_pattern(program.operands[i]))
            for (const copy::Source& entry :
                 copy::expand_tree({path, copy::last_name(path)}, troubles)) {
                std::string trouble;
                if (!send_entry(link, entry, trouble)) troubles.push_back(std::move(trouble));
            }
    send_end(link);
}

}  // namespace

int main(int argc, char** argv) {
    const copy::Program program = copy::begin(argc, argv, "ai", 2, kUsage);
    std::vector<std::string> troubles;
    if (program.me != 0) {
        send_all(copy::to_task(0), program, troubles);
        return finish(program, troubles);
    }
    copy::ReceiveOptions options;
    options.keep_existing = program.has('i');
    options.target = program.operands.back();
    std::error_code error;
    std::filesystem::create_directories(options.target, error);
    for (int task = 0; task < program.tasks; ++task) {
        if (program.has('a')) options.suffix = "." + std::to_string(task);
        const auto more =
            task == 0
                ? send_here_too({}, options,
                                [&](const copy::Link& here) { send_all(here, program, troubles); })
                : receive_entries(copy::to_task(task), options);
        troubles.insert(troubles.end(), more.begin(), more.end());
    }
    return finish(program, troubles);
}
