// Reads files of /proc; see proc_files.hpp.
#include "base/proc_files.hpp"

#include <algorithm>
#include <cerrno>
#include <dirent.h>
#include <memory>
#include <string>

#include "base/parse.hpp"

namespace poe {

std::vector<pid_t> threads_of(pid_t process) {
    const std::string path = "/proc/" + std::to_string(process) + "/task";
    const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(path.c_str()), ::closedir);
    if (!directory) return {};
    std::vector<pid_t> threads;
    for (;;) {
        errno = 0;
        const dirent* const entry = ::readdir(directory.get());
        if (entry == nullptr) break;
        if (const auto thread = parse_number<pid_t>(entry->d_name)) threads.push_back(*thread);
    }
    // The process has ended meanwhile.
    if (errno != 0) return {};
    return threads;
}

std::optional<std::uint64_t> number_after(std::string_view text, std::string_view name) noexcept {
    for (std::size_t at = 0; at < text.size();) {
        if (text.substr(at).starts_with(name)) {
            std::string_view rest = text.substr(at + name.size());
            rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
            return take_number<std::uint64_t>(rest).value_or(0);
        }
        const std::size_t feed = text.find('\n', at);
        if (feed == std::string_view::npos) break;
        at = feed + 1;
    }
    return std::nullopt;
}

}  // namespace poe
