// Reads and replaces the tuning file; see tuning_store.hpp.
#include "collectives/mptune/tuning_store.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

#include "base/segment/tuning_text.hpp"
#include "base/unique_fd.hpp"

namespace poe::collectives {
namespace {

namespace fs = std::filesystem;

// Returns the file that a path names through symbolic links, whether it exists or not. For a
// dangling link this is the link's target; for a cycle of links it is one of them.
fs::path behind_links(fs::path path) {
    constexpr int kMostLinks = 40;
    std::error_code fault;
    for (int i = 0; i < kMostLinks && fs::is_symlink(path, fault); ++i) {
        const fs::path target = fs::read_symlink(path, fault);
        if (fault) break;
        path = path.parent_path() / target;  // or the target alone if it is absolute
    }
    return path;
}

// Returns an empty text, or why the file cannot be replaced.
std::string objection_to(const fs::path& path) {
    struct stat found = {};
    if (::lstat(path.c_str(), &found) != 0 || S_ISREG(found.st_mode)) return {};
    return S_ISLNK(found.st_mode) ? std::strerror(ELOOP) : "it is no regular file";
}

// Returns the mode of the file that is replaced, or that of a new file.
mode_t mode_for(const fs::path& path) {
    struct stat found = {};
    if (::stat(path.c_str(), &found) == 0) return found.st_mode & 0777;
    const mode_t masked = ::umask(0);
    ::umask(masked);
    return 0666 & ~masked;
}

bool write_all(int file, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(file, text.data(), text.size());
        if (written < 0 && errno != EINTR) return false;
        text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
    }
    return true;
}

UserError error_of(std::string text) {
    UserError error;
    error.text = std::move(text);
    return error;
}

}  // namespace

std::string head_of(std::string_view text) {
    std::string head;
    while (text.starts_with('#')) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::size_t start = text.starts_with("# ") ? 2 : 1;
        head += std::string(text.substr(start, std::max(end, start) - start)) + "\n";
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return head;
}

Result<StoredTuning> read_stored(const std::string& path, unsigned cores) {
    if (const std::string objection = objection_to(behind_links(path)); !objection.empty())
        return error_of("cannot write " + path + ": " + objection);
    const TuningText read = read_tuning_text(path);
    if (read.missing) return StoredTuning{built_in_tuning(cores), {}};
    if (!read.failure.empty()) return error_of("cannot read " + path + ": " + read.failure);
    const Result<Tuning> tuning = read_tuning(read.text, path, cores);
    if (!tuning) return tuning.error();
    return StoredTuning{tuning.value(), head_of(read.text)};
}

std::string replace_file(const std::string& path, const std::string& text) {
    const fs::path target = behind_links(path);
    if (const std::string objection = objection_to(target); !objection.empty()) return objection;
    std::error_code ignored;
    if (target.has_parent_path()) fs::create_directories(target.parent_path(), ignored);
    // A temporary file in the same directory, with a unique name.
    std::string fresh = target.string() + ".XXXXXX";
    UniqueFd file(::mkostemp(fresh.data(), O_CLOEXEC));
    if (!file) return std::strerror(errno);
    const bool written =
        write_all(file.get(), text) && ::fchmod(file.get(), mode_for(target)) == 0 &&
        ::close(file.release()) == 0 && ::rename(fresh.c_str(), target.c_str()) == 0;
    if (written) return {};
    const std::string why = std::strerror(errno);
    ::unlink(fresh.c_str());
    return why;
}

}  // namespace poe::collectives
