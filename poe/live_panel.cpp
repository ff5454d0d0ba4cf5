// See live_panel.hpp.
#include "poe/live_panel.hpp"

#include <clocale>
#include <cstdlib>
#include <langinfo.h>
#include <string_view>
#include <unistd.h>

#include "partition_manager/job/local_names.hpp"
#include "partition_manager/status/job_directory.hpp"

namespace poe::cli {
namespace {

std::string_view variable(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
}

// Returns -1 if there is no terminal that can move its cursor.
int terminal_for(const Options& options) {
    const std::string_view kind = variable("TERM");
    if (kind.empty() || kind == "dumb") return -1;
    if (options.pmarray && ::isatty(STDOUT_FILENO) == 1) return STDOUT_FILENO;
    return ::isatty(STDERR_FILENO) == 1 ? STDERR_FILENO : -1;
}

}  // namespace

std::unique_ptr<markers::Panel> make_panel(const Options& options, const std::string& job,
                                           std::size_t tasks) {
    if (!options.pmarray && !options.progress) return nullptr;
    const int terminal = terminal_for(options);
    if (terminal < 0) return nullptr;
    std::setlocale(LC_CTYPE, "");
    const bool many = variable("TERM").find("256color") != std::string_view::npos ||
                      !variable("COLORTERM").empty();
    return std::make_unique<markers::Panel>(markers::Panel::Settings{
        .place = options.pmarray ? markers::Panel::Place::kAbove : markers::Panel::Place::kBelow,
        .terminal = terminal,
        .job = job,
        .tasks = static_cast<std::uint32_t>(tasks),
        .parent = pm::kJobDirectoryParent,
        .node_name = pm::local_host_name(),
        .colors = variable("NO_COLOR").empty(),
        .many_colors = many,
        .unicode = std::string_view(::nl_langinfo(CODESET)) == "UTF-8"});
}

}  // namespace poe::cli
