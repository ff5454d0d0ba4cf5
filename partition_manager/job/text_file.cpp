// Text files of users; see text_file.hpp.
#include "partition_manager/job/text_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/unique_fd.hpp"

namespace poe::pm {
namespace {

constexpr std::size_t kLongestFile = 64 << 20;

UserError unreadable(const std::string& path, const std::string& what_it_is, int cause) {
    UserError error;
    error.source = path;
    error.text = "cannot read the " + what_it_is + ": " + std::strerror(cause);
    return error;
}

}  // namespace

Result<std::string> read_text_file(const std::string& path, const std::string& what_it_is) {
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
    if (!fd) return unreadable(path, what_it_is, errno);
    std::string text;
    std::array<char, 16384> chunk;
    for (;;) {
        const ssize_t count = ::read(fd.get(), chunk.data(), chunk.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return unreadable(path, what_it_is, errno);
        if (count == 0) return text;
        text.append(chunk.data(), static_cast<std::size_t>(count));
        if (text.size() > kLongestFile) return unreadable(path, what_it_is, EFBIG);
    }
}

bool file_exists(const std::string& path) {
    struct stat status;
    return ::lstat(path.c_str(), &status) == 0;
}

TextLines::TextLines(std::string_view text) : rest_(text) {
    if (rest_.substr(0, 3) == "\xef\xbb\xbf") rest_.remove_prefix(3);
}

std::optional<std::string_view> TextLines::next() {
    if (rest_.empty()) return std::nullopt;
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    ++line_;
    return line;
}

}  // namespace poe::pm
