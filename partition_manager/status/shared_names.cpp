// See shared_names.hpp.
#include "partition_manager/status/shared_names.hpp"

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "base/error.hpp"
#include "base/hash.hpp"
#include "base/parse.hpp"

namespace poe::pm {

namespace {

// A longer file is none of ours.
constexpr std::size_t kLongestFile = std::size_t{1} << 20;
constexpr const char* kNewFile = "new";

// If two names of one job had the same hash, only one could be shared; the file says which one is.
std::string file_of(std::string_view name) {
    const std::uint64_t hash = Hash64().add(name).value();
    std::array<char, 17> digits{};
    std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(hash));
    return digits.data();
}

// The value, if the contents are those of the name.
std::optional<std::string> value_in(std::string_view contents, std::string_view name) {
    const std::size_t line = contents.find('\n');
    if (line == std::string_view::npos) return std::nullopt;
    const auto length = parse_number<std::size_t>(std::string(contents.substr(0, line)));
    contents.remove_prefix(line + 1);
    if (!length || *length != name.size() || !contents.starts_with(name)) return std::nullopt;
    return std::string(contents.substr(name.size()));
}

struct Found {
    std::string value;
    timespec published{};
};

bool is_later(const timespec& one, const timespec& two) noexcept {
    return std::pair(one.tv_sec, one.tv_nsec) > std::pair(two.tv_sec, two.tv_nsec);
}

std::optional<Found> find_in(int directory, uid_t uid, const std::string& name) {
    // A pipe of that name must not block poe.
    const UniqueFd file(
        ::openat(directory, file_of(name).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat facts {};
    if (!file || ::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode) ||
        facts.st_uid != uid || static_cast<std::size_t>(facts.st_size) > kLongestFile)
        return std::nullopt;
    std::string contents(static_cast<std::size_t>(facts.st_size), '\0');
    if (::pread(file.get(), contents.data(), contents.size(), 0) != facts.st_size)
        return std::nullopt;
    std::optional<std::string> value = value_in(contents, name);
    if (!value) return std::nullopt;
    return Found{std::move(*value), facts.st_mtim};
}

}  // namespace

void SharedNames::publish(const std::string& name, std::string_view value) {
    if (!own_) own_.emplace(JobDirectory::create(parent_, uid_, job_id_, kNamesKind));
    const std::string path = own_->file(file_of(name));
    const std::string unfinished = own_->file(kNewFile);
    const std::string contents = std::to_string(name.size()) + "\n" + name + std::string(value);
    ::unlink(unfinished.c_str());
    const UniqueFd file(
        ::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file ||
        ::write(file.get(), contents.data(), contents.size()) !=
            static_cast<ssize_t>(contents.size()) ||
        ::rename(unfinished.c_str(), path.c_str()) != 0) {
        const int cause = errno;
        ::unlink(unfinished.c_str());
        throw Error("cannot write " + path, cause);
    }
}

void SharedNames::withdraw(const std::string& name) noexcept {
    if (own_) ::unlink(own_->file(file_of(name)).c_str());
}

std::optional<std::string> SharedNames::look_up(const std::string& name) const {
    std::optional<Found> last;
    visit_job_directories(parent_, uid_, kNamesKind, [&](const std::string&, int directory) {
        // Its poe holds an exclusive lock as long as it lives.
        if (::flock(directory, LOCK_SH | LOCK_NB) == 0) return;
        std::optional<Found> found = find_in(directory, uid_, name);
        if (found && (!last || is_later(found->published, last->published)))
            last = std::move(found);
    });
    if (!last) return std::nullopt;
    return std::move(last->value);
}

}  // namespace poe::pm
