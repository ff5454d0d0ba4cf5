// mcp: copies a file, or a directory with everything below it, from task 0 to every task of a job.
// An MPL program: mcp data.bin /tmp/data.bin -procs 16
#include <filesystem>

#include "poe/copy_program.hpp"

namespace {

namespace copy = poe::copy;
namespace fs = std::filesystem;

constexpr const char* kUsage =
    "usage: mcp [-i] SOURCE [TARGET] [poe flags]\n"
    "Copies the file or directory SOURCE of task 0 to TARGET of all tasks: to SOURCE if there "
    "is no TARGET, into TARGET if it is a directory. -i: existing files stay. See mcp(1).\n";

std::string target_of(const std::string& source, const std::string& target) {
    if (target.back() != '/' && !fs::is_directory(target)) return target;
    return (fs::path(target) / copy::last_name(source)).string();
}

}  // namespace

int main(int argc, char** argv) {
    const copy::Program program = copy::begin(argc, argv, "i", 1, kUsage);
    const std::string source = program.operands[0];
    const std::string wanted = program.operands.size() > 1 ? program.operands[1] : source;
    copy::ReceiveOptions options;
    options.whole_name = true;
    options.keep_existing = program.has('i');
    // Without a target a directory must be copied to its own path, not into itself.
    options.target = program.operands.size() > 1 ? target_of(source, wanted) : source;
    copy::meet();  // tasks may share a file system, so all must look before any task writes
    if (program.me != 0) return finish(program, receive_entries(copy::to_all(), options));

    std::vector<std::string> troubles;
    const auto entries = copy::expand_tree({source, ""}, troubles);
    const auto send = [&](const copy::Link& link) {
        for (const copy::Source& entry : entries) {
            std::string trouble;
            if (!send_entry(link, entry, trouble)) troubles.push_back(std::move(trouble));
        }
        send_end(link);
    };
    std::error_code error;
    if (fs::equivalent(source, options.target, error)) {
        send(copy::to_all());
    } else {
        const auto more = send_here_too(copy::to_all(), options, send);
        troubles.insert(troubles.end(), more.begin(), more.end());
    }
    return finish(program, troubles);
}
