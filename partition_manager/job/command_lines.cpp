// See command_lines.hpp.
#include "partition_manager/job/command_lines.hpp"

#include <cstdio>
#include <memory>

#include "base/error.hpp"

namespace poe::pm {

std::vector<std::string> lines_of_command(const std::string& command) {
    const std::unique_ptr<FILE, int (*)(FILE*)> output(::popen(command.c_str(), "re"), ::pclose);
    if (!output) throw_errno("cannot run \"" + command + "\"");
    std::vector<std::string> lines(1);
    for (int c = std::fgetc(output.get()); c != EOF; c = std::fgetc(output.get())) {
        if (c == '\n')
            lines.emplace_back();
        else
            lines.back() += static_cast<char>(c);
    }
    if (lines.back().empty()) lines.pop_back();
    return lines;
}

}  // namespace poe::pm
