// See sleep_watch.hpp.
#include "partition_manager/sampling/sleep_watch.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/uio.h>
#include <unistd.h>

#include "base/proc_files.hpp"
#include "partition_manager/sampling/perf_event.hpp"

namespace poe::pm {
namespace {

constexpr std::size_t kPageBytes = 4096;

std::string_view read_start(const UniqueFd& file, std::span<char> buffer) {
    const ssize_t count = ::pread(file.get(), buffer.data(), buffer.size(), 0);
    return {buffer.data(), count > 0 ? static_cast<std::size_t>(count) : 0};
}

// Copies from `address` on as much as is mapped, up to kCopiedStack bytes.
std::vector<std::byte> copy_stack(pid_t process, std::uint64_t address) {
    std::vector<std::byte> bytes(kCopiedStack);
    const iovec here{bytes.data(), bytes.size()};
    // Read page by page, because the top of the stack is nearer than that.
    iovec there[kCopiedStack / kPageBytes + 1];
    unsigned count = 0;
    for (std::size_t at = 0; at < bytes.size();) {
        const std::size_t part =
            std::min(bytes.size() - at, kPageBytes - (address + at) % kPageBytes);
        there[count++] = {reinterpret_cast<void*>(address + at), part};
        at += part;
    }
    const ssize_t got = ::process_vm_readv(process, &here, 1, there, count, 0);
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return bytes;
}

}  // namespace

std::optional<Registers> sleeping_registers(std::string_view text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
    Registers registers;
    for (const unsigned number : {kReturnAddress, kStackPointer}) {
        const std::size_t space = text.rfind(' ');
        if (space == std::string_view::npos) return std::nullopt;
        std::string_view word = text.substr(space + 1);
        if (!word.starts_with("0x")) return std::nullopt;
        word.remove_prefix(2);
        std::uint64_t value = 0;
        const auto end = std::from_chars(word.data(), word.data() + word.size(), value, 16);
        if (end.ptr != word.data() + word.size() || value == 0) return std::nullopt;
        registers.set(number, value);
        text = text.substr(0, space);
    }
    return registers;
}

void SleepWatch::add(TaskId task, pid_t process) {
    processes_[process] = task;
}

void SleepWatch::list_threads() {
    for (auto process = processes_.begin(); process != processes_.end();) {
        const std::string folder = "/proc/" + std::to_string(process->first) + "/task/";
        const std::vector<pid_t> threads = threads_of(process->first);
        for (const pid_t id : threads) {
            const auto [known, is_new] = threads_.try_emplace(id);
            if (!is_new && known->second.process == process->first) continue;
            const std::string of_thread = folder + std::to_string(id) + "/";
            Thread& thread = known->second;
            thread = {.task = process->second, .process = process->first};
            thread.ran.reset(::open((of_thread + "schedstat").c_str(), O_RDONLY | O_CLOEXEC));
            thread.position.reset(::open((of_thread + "syscall").c_str(), O_RDONLY | O_CLOEXEC));
        }
        if (threads.empty() && on_ended) on_ended(process->first);
        process = threads.empty() ? processes_.erase(process) : std::next(process);
    }
}

// Returns false if the thread has ended.
bool SleepWatch::look_at(pid_t id, Thread& thread, std::vector<Sleeper>& found) {
    char buffer[256];
    const std::string_view ran_text = read_start(thread.ran, buffer);
    if (ran_text.empty()) return false;
    std::uint64_t ran = 0;
    std::from_chars(ran_text.data(), ran_text.data() + ran_text.size(), ran);
    Sleeper sleeper{.task = thread.task, .process = thread.process, .thread = id};
    sleeper.unchanged = thread.reported && ran == thread.known_ran;
    thread.known_ran = ran;
    if (!sleeper.unchanged) {
        thread.reported = false;
        errno = 0;
        const std::string_view position = read_start(thread.position, buffer);
        if (position.empty()) {
            refused_ = refused_ || errno == EPERM || errno == EACCES || errno == EBADF;
            return true;
        }
        const auto registers = sleeping_registers(position);
        if (!registers) return true;
        sleeper.registers = *registers;
        sleeper.stack = copy_stack(thread.process, sleeper.registers[kStackPointer]);
        thread.reported = true;
    }
    found.push_back(std::move(sleeper));
    return true;
}

std::vector<Sleeper> SleepWatch::look(bool list) {
    if (list) list_threads();
    std::vector<Sleeper> found;
    for (auto thread = threads_.begin(); thread != threads_.end();)
        thread = look_at(thread->first, thread->second, found) ? std::next(thread)
                                                               : threads_.erase(thread);
    return found;
}

}  // namespace poe::pm
