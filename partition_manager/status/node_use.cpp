// See node_use.hpp.
#include "partition_manager/status/node_use.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

namespace poe::pm {
namespace {

constexpr const char* kProcessors = "processors";
constexpr const char* kAdapter = "adapter";
// The time limit for a conflict with a job that starts or ends. Such a job needs microseconds, but
// on a loaded computer it may wait for a processor.
constexpr std::chrono::seconds kPatience{5};

std::string path_of(const std::string& parent, const std::string& host, const char* resource) {
    return parent + "/poe-use-" + resource + "." + host;
}

// Opens the file, which any user may have created. In a directory that all may write to, the kernel
// refuses O_CREAT for a file of somebody else, so an existing file is opened without it.
UniqueFd open_lock(const std::string& path) {
    UniqueFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
    if (fd || errno != ENOENT) return fd;
    fd.reset(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_CREAT | O_EXCL, 0666));
    if (!fd && errno == EEXIST) fd.reset(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
    if (fd) ::fchmod(fd.get(), 0666);  // whatever the umask is
    return fd;
}

struct flock whole_file(short type) {
    struct flock lock = {};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    return lock;
}

// Locks belong to the open file, so that another descriptor of this process cannot release them.
bool try_lock(int fd, short type) {
    struct flock lock = whole_file(type);
    return ::fcntl(fd, F_OFD_SETLK, &lock) == 0;
}

// Returns the lock that other processes hold: F_UNLCK, F_RDLCK or F_WRLCK.
short held_by_others(int fd) {
    struct flock lock = whole_file(F_WRLCK);
    return ::fcntl(fd, F_OFD_GETLK, &lock) == 0 ? lock.l_type : short{F_UNLCK};
}

// The job that has reserved the resource writes this into the file. While the file is empty, the
// holder of an exclusive lock is about to write it or to remove the file.
std::string own_name() {
    return "a job of user " + std::to_string(::getuid()) + " (pmd " + std::to_string(::getpid()) +
           ")";
}
std::string name_in(int fd) {
    char text[100] = {};
    const ssize_t length = ::pread(fd, text, sizeof text - 1, 0);
    for (char& c : text)
        if (c != '\0' && (c < ' ' || c > '~')) c = '?';
    return length > 0 ? text : "";
}

bool is_still_at(int fd, const std::string& path) {
    struct stat opened = {};
    struct stat now = {};
    return ::fstat(fd, &opened) == 0 && ::lstat(path.c_str(), &now) == 0 &&
           opened.st_ino == now.st_ino && opened.st_dev == now.st_dev;
}

// Returns an empty text if the lock was taken.
std::string lock_one(UniqueFd& fd, const std::string& path, const std::string& resource,
                     bool dedicated) {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (std::chrono::steady_clock::now() < deadline) {
        fd = open_lock(path);
        if (!fd)
            return dedicated ? "cannot reserve its " + resource + ": " + path + ": " +
                                   std::strerror(errno)
                             : std::string();
        if (!try_lock(fd.get(), dedicated ? F_WRLCK : F_RDLCK)) {
            const bool exclusive = held_by_others(fd.get()) != F_RDLCK;
            const std::string holder = exclusive ? name_in(fd.get()) : "other jobs";
            fd.reset();
            if (holder.empty()) {
                ::sched_yield();
                continue;
            }
            return "its " + resource +
                   (exclusive ? " cannot be used: reserved by " : " cannot be reserved: used by ") +
                   holder;
        }
        // A job that has ended meanwhile may have removed the file.
        if (!is_still_at(fd.get(), path)) continue;
        const std::string name = dedicated ? own_name() : "";
        // If there is no room for the name, other jobs learn only that some job has reserved the
        // node.
        if (::ftruncate(fd.get(), 0) == 0 && !name.empty())
            static_cast<void>(::pwrite(fd.get(), name.data(), name.size(), 0) == 0);
        return "";
    }
    fd.reset();
    return "its " + resource + " cannot be used: another job starts or ends on it";
}

std::string use_of(const std::string& path, const std::string& resource) {
    UniqueFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
    const short held = fd ? held_by_others(fd.get()) : short{F_UNLCK};
    if (held == F_UNLCK) return "";
    const std::string name = name_in(fd.get());
    if (held == F_RDLCK) return resource + " shared";
    return resource + " reserved by " + (name.empty() ? "another job" : name);
}

// Releases the own lock, and removes the file if no other job uses it. The own lock is released
// first, so that of several jobs that end at the same time the last one finds no other. The lock
// that this takes ends with the descriptor. In a directory where only the owner may remove a file,
// it stays, empty.
void remove_if_unused(const UniqueFd& fd, const std::string& path) {
    if (!fd) return;
    try_lock(fd.get(), F_UNLCK);
    if (!try_lock(fd.get(), F_WRLCK) || !is_still_at(fd.get(), path)) return;
    if (::ftruncate(fd.get(), 0) == 0) ::unlink(path.c_str());
}

}  // namespace

NodeUse::~NodeUse() {
    remove_if_unused(processors_, processors_path_);
    remove_if_unused(adapter_, adapter_path_);
}

std::string NodeUse::take(const std::string& parent, const std::string& host,
                          const NodeReservation& wanted) {
    processors_path_ = path_of(parent, host, kProcessors);
    adapter_path_ = path_of(parent, host, kAdapter);
    std::string trouble = lock_one(processors_, processors_path_, kProcessors, wanted.processors);
    if (trouble.empty()) trouble = lock_one(adapter_, adapter_path_, kAdapter, wanted.adapter);
    return trouble;
}

std::string node_use_text(const std::string& parent, const std::string& host) {
    const std::string processors = use_of(path_of(parent, host, kProcessors), kProcessors);
    const std::string adapter = use_of(path_of(parent, host, kAdapter), kAdapter);
    if (processors.empty() && adapter.empty()) return "free";
    return processors + (processors.empty() || adapter.empty() ? "" : ", ") + adapter;
}

void remove_unused_reservations(const std::string& parent, const std::string& host) {
    for (const char* resource : {kProcessors, kAdapter}) {
        const std::string path = path_of(parent, host, resource);
        const UniqueFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
        remove_if_unused(fd, path);
    }
}

}  // namespace poe::pm
