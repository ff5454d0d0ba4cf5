// Long collective calls by reading each other's memory; see direct_calls.hpp.
#include "collectives/direct_calls.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/uio.h>

#include "collectives/groups.hpp"
#include "comm/base/error.hpp"

namespace poe::collectives {
namespace {

// Of what a member gets: below that, messages are as fast.
constexpr Bytes kWorthReading = Bytes{512} << 10;

// The part of `copy` that process_vm_readv and its like do not do in one call. False: it failed.
template <typename Copy>
bool copy_all(std::byte* own, std::uint64_t other, Bytes bytes, const Copy& copy) {
    for (Bytes done = 0; done < bytes;) {
        const iovec here{own + done, bytes - done};
        // An address of the other process. NOLINTNEXTLINE(performance-no-int-to-ptr)
        const iovec there{reinterpret_cast<void*>(static_cast<std::uintptr_t>(other + done)),
                          bytes - done};
        const ssize_t copied = copy(here, there);
        if (copied <= 0) return false;
        done += static_cast<Bytes>(copied);
    }
    return true;
}

bool read_memory(pid_t pid, std::uint64_t from, std::byte* to, Bytes bytes) {
    return copy_all(to, from, bytes, [pid](const iovec& here, const iovec& there) {
        return ::process_vm_readv(pid, &here, 1, &there, 1, 0);
    });
}

Shape shape_of(Operation operation, std::uint32_t n, Bytes bytes, std::uint32_t root = 0) {
    Shape shape;
    shape.operation = operation;
    shape.n = n;
    shape.bytes = bytes;
    shape.root = static_cast<Rank>(root);
    return shape;
}

}  // namespace

DirectCalls::DirectCalls(comm::Runtime& runtime, const Group& group, LocalCalls& local)
    : runtime_(runtime),
      group_(group),
      local_(local),
      n_(group.size()),
      me_(static_cast<std::uint32_t>(group.me)),
      all_(n_) {}

bool DirectCalls::fits(const Shape& shape) noexcept {
    return shape.operation == Operation::kIndex && shape.matrix.empty() &&
           shape.bytes * shape.n >= kWorthReading;
}

bool DirectCalls::allowed() {
    if (allowed_ == Allowed::kNotTried) {
        const std::uint32_t mine = may_reach_all() ? 1 : 0;
        std::vector<std::uint32_t> all(n_);
        local_.run(shape_of(Operation::kConcat, n_, sizeof mine),
                   {reinterpret_cast<const std::byte*>(&mine),
                    reinterpret_cast<std::byte*>(all.data()),
                    {},
                    0},
                   false);
        const bool yes = std::all_of(all.begin(), all.end(), [](auto one) { return one == 1; });
        allowed_ = yes ? Allowed::kYes : Allowed::kNo;
    }
    return allowed_ == Allowed::kYes;
}

// Reads a word of each member, no matter which.
bool DirectCalls::may_reach_all() {
    tell_all(all_.data());
    // Only now all are known to have said who they are.
    const NodeSegment& segment = *runtime_.segment();
    for (const TaskId task : group_.members)
        pids_.push_back(segment.slot(*segment.local_index(task)).pid);
    if (!segment.facts().single_copy) return false;
    for (std::uint32_t m = 0; m < n_; ++m) {
        std::uint64_t read = 0;
        if (m != me_ &&
            !read_memory(pids_[m], all_[m], reinterpret_cast<std::byte*>(&read), sizeof read))
            return false;
    }
    return true;
}

// Tells all where it is, and hears it of them.
void DirectCalls::tell_all(const void* memory) {
    const std::uint64_t own = reinterpret_cast<std::uintptr_t>(memory);
    local_.run(shape_of(Operation::kConcat, n_, sizeof own),
               {reinterpret_cast<const std::byte*>(&own),
                reinterpret_cast<std::byte*>(all_.data()),
                {},
                0},
               false);
}

void DirectCalls::meet() {
    local_.run(shape_of(Operation::kSync, n_, 0), {}, false);
}

void DirectCalls::read(std::uint32_t member, std::uint64_t from, std::byte* to, Bytes bytes) const {
    if (!read_memory(pids_[member], from, to, bytes))
        throw_errno("cannot read the memory of task " + std::to_string(group_.members[member]));
}

// work(member) for all others, each beginning with another one.
template <typename Work>
void DirectCalls::for_others(Work&& work) const {
    for (std::uint32_t i = 1; i < n_; ++i) work((me_ + i) % n_);
}

void DirectCalls::run(const Shape& shape, const Run& run) {
    const Bytes bytes = shape.bytes;
    tell_all(run.given);
    std::memmove(run.result + me_ * bytes, run.given + me_ * bytes, bytes);
    for_others(
        [&](std::uint32_t m) { read(m, all_[m] + me_ * bytes, run.result + m * bytes, bytes); });
    meet();
}

}  // namespace poe::collectives
