// Long collective calls by reading each other's memory; see direct_calls.hpp.
#include "collectives/direct_calls.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/uio.h>

#include "collectives/algorithms/blocks.hpp"
#include "collectives/groups.hpp"
#include "comm/base/error.hpp"

namespace poe::collectives {
namespace {

// Of one member's data: below that, messages are as fast.
constexpr Bytes kWorthReading = Bytes{16} << 10;
constexpr Bytes kWorthWriting = Bytes{32} << 10;
// So much of one member is reduced before the next one's: it stays in the cache.
constexpr Bytes kPiece = Bytes{32} << 10;

std::uint64_t address_of(const void* memory) {
    return reinterpret_cast<std::uintptr_t>(memory);
}

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

bool write_memory(pid_t pid, const std::byte* from, std::uint64_t to, Bytes bytes) {
    return copy_all(const_cast<std::byte*>(from), to, bytes,
                    [pid](const iovec& here, const iovec& there) {
                        return ::process_vm_writev(pid, &here, 1, &there, 1, 0);
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
      all_(n_) {
    const NodeSegment& segment = *runtime.segment();
    for (const TaskId task : group.members)
        pids_.push_back(segment.slot(*segment.local_index(task)).pid);
}

bool DirectCalls::fits(const Shape& shape, bool barrier) noexcept {
    if (!shape.offsets.empty() || !shape.matrix.empty()) return false;
    switch (shape.operation) {
        case Operation::kReduce:
        case Operation::kCombine:
        case Operation::kPrefix:
            return shape.element > 0 && shape.bytes >= kWorthReading;
        case Operation::kConcat:
        case Operation::kIndex:
            return shape.bytes * shape.n >= kWorthReading;
        case Operation::kGather:
            // Those who give do not wait for each other.
            return shape.bytes >= kWorthWriting && !barrier;
        case Operation::kBcast:
        case Operation::kScatter:
        case Operation::kShift:
        case Operation::kSync:
            break;
    }
    return false;
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

// Reads a word of each member, and writes it back. Its memory lives until all have told the
// outcome.
bool DirectCalls::may_reach_all() {
    work_.resize(std::max<std::size_t>(work_.size(), n_ * sizeof(std::uint64_t)));
    tell_all(n_ * sizeof(std::uint64_t));
    if (!runtime_.segment()->facts().single_copy) return false;
    for (std::uint32_t m = 0; m < n_; ++m) {
        std::uint64_t word = 0;
        auto* bytes = reinterpret_cast<std::byte*>(&word);
        // Each has a word of its own there.
        const std::uint64_t there = all_[m].work + me_ * sizeof word;
        if (m != me_ && !(read_memory(pids_[m], there, bytes, sizeof word) &&
                          write_memory(pids_[m], bytes, there, sizeof word)))
            return false;
    }
    return true;
}

// Everybody's addresses, and `work` bytes of work memory; no member may still need what is there.
void DirectCalls::tell_all(Bytes work) {
    if (work_.size() < work) work_.resize(work);
    const Addresses own{address_of(run_.given), address_of(run_.result), address_of(work_.data())};
    local_.run(shape_of(Operation::kConcat, n_, sizeof own),
               {reinterpret_cast<const std::byte*>(&own),
                reinterpret_cast<std::byte*>(all_.data()),
                {},
                0},
               false);
}

std::uint64_t DirectCalls::tell_from(std::uint32_t root, std::uint64_t own) {
    local_.run(shape_of(Operation::kBcast, n_, sizeof own, root),
               {nullptr, reinterpret_cast<std::byte*>(&own), {}, 0}, false);
    return own;
}

// The root waits until all have come here.
void DirectCalls::await_all(std::uint32_t root) {
    local_.run(shape_of(Operation::kGather, n_, 0, root), {}, false);
}

void DirectCalls::meet() {
    local_.run(shape_of(Operation::kSync, n_, 0), {}, false);
}

void DirectCalls::read(std::uint32_t member, std::uint64_t from, std::byte* to, Bytes bytes) const {
    if (!read_memory(pids_[member], from, to, bytes))
        throw_errno("cannot read the memory of task " + std::to_string(group_.members[member]));
}

void DirectCalls::write(std::uint32_t member, const std::byte* from, std::uint64_t to,
                        Bytes bytes) const {
    if (!write_memory(pids_[member], from, to, bytes))
        throw_errno("cannot write the memory of task " + std::to_string(group_.members[member]));
}

// work(member) for all others, each beginning with another one.
template <typename Work>
void DirectCalls::for_others(Work&& work) const {
    for (std::uint32_t i = 1; i < n_; ++i) work((me_ + i) % n_);
}

// `to` = `to` op what that member has at `from`.
void DirectCalls::add(std::uint32_t member, std::uint64_t from, std::byte* to, Bytes bytes) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    const auto* own = reinterpret_cast<const std::byte*>(static_cast<std::uintptr_t>(from));
    if (member != me_) {
        read(member, from, piece_.data(), bytes);
        own = piece_.data();
    }
    reduce_into(run_.reduction, to, own, bytes, true, nullptr);
}

void DirectCalls::concat(const Shape& shape) {
    tell_all(0);
    const Bytes bytes = shape.bytes;
    std::memmove(run_.result + me_ * bytes, run_.given, bytes);
    for_others([&](std::uint32_t m) { read(m, all_[m].given, run_.result + m * bytes, bytes); });
    meet();
}

void DirectCalls::index(const Shape& shape) {
    tell_all(0);
    const Bytes bytes = shape.bytes;
    std::memmove(run_.result + me_ * bytes, run_.given + me_ * bytes, bytes);
    for_others([&](std::uint32_t m) {
        read(m, all_[m].given + me_ * bytes, run_.result + m * bytes, bytes);
    });
    meet();
}

// The own part of all members' vectors, reduced, at the beginning of the work memory.
void DirectCalls::reduce_part(const Parts& parts) {
    piece_.resize(kPiece);
    const Bytes start = parts.offset(me_);
    const Bytes bytes = parts.length(me_, 1);
    const Bytes step = kPiece / parts.element * parts.element;
    for (Bytes at = 0; at < bytes; at += step) {
        const Bytes now = std::min(step, bytes - at);
        std::byte* sum = work_.data() + at;
        if (me_ == 0) {
            std::memcpy(sum, run_.given + start + at, now);
        } else {
            read(0, all_[0].given + start + at, sum, now);
        }
        for (std::uint32_t m = 1; m < n_; ++m) add(m, all_[m].given + start + at, sum, now);
    }
}

void DirectCalls::reduce(const Shape& shape) {
    const Parts parts{shape.bytes, shape.element, n_};
    tell_all(parts.largest(1));
    reduce_part(parts);
    if (static_cast<Rank>(me_) != shape.root) {
        await_all(static_cast<std::uint32_t>(shape.root));
        return;
    }
    await_all(me_);
    std::memcpy(run_.result + parts.offset(me_), work_.data(), parts.length(me_, 1));
    for_others([&](std::uint32_t m) {
        read(m, all_[m].work, run_.result + parts.offset(m), parts.length(m, 1));
    });
}

void DirectCalls::combine(const Shape& shape) {
    const Parts parts{shape.bytes, shape.element, n_};
    tell_all(parts.largest(1));
    reduce_part(parts);
    meet();
    std::memcpy(run_.result + parts.offset(me_), work_.data(), parts.length(me_, 1));
    for_others([&](std::uint32_t m) {
        read(m, all_[m].work, run_.result + parts.offset(m), parts.length(m, 1));
    });
}

// Each member works out one part of all members' results, and puts them one behind the other.
void DirectCalls::prefix(const Shape& shape) {
    const Parts parts{shape.bytes, shape.element, n_};
    const Bytes largest = parts.largest(1);
    tell_all(n_ * largest);
    piece_.resize(std::max<std::size_t>(piece_.size(), largest));
    const Bytes start = parts.offset(me_);
    const Bytes bytes = parts.length(me_, 1);
    for (std::uint32_t m = 0; m < n_; ++m) {
        std::byte* sum = work_.data() + m * largest;
        if (m > 0) {
            std::memcpy(sum, sum - largest, bytes);
            add(m, all_[m].given + start, sum, bytes);
        } else if (me_ == 0) {
            std::memcpy(sum, run_.given + start, bytes);
        } else {
            read(0, all_[0].given + start, sum, bytes);
        }
    }
    meet();
    std::memcpy(run_.result + start, work_.data() + me_ * largest, bytes);
    for_others([&](std::uint32_t m) {
        read(m, all_[m].work + me_ * largest, run_.result + parts.offset(m), parts.length(m, 1));
    });
}

void DirectCalls::run(const Shape& shape, const Run& run) {
    run_ = run;
    switch (shape.operation) {
        case Operation::kConcat:
            concat(shape);
            break;
        case Operation::kIndex:
            index(shape);
            break;
        case Operation::kReduce:
            reduce(shape);
            break;
        case Operation::kCombine:
            combine(shape);
            break;
        case Operation::kPrefix:
            prefix(shape);
            break;
        case Operation::kGather: {
            const auto root = static_cast<std::uint32_t>(shape.root);
            const std::uint64_t result = tell_from(root, address_of(run.result));
            if (me_ == root) {
                std::memmove(run.result + me_ * shape.bytes, run.given, shape.bytes);
            } else {
                write(root, run.given, result + me_ * shape.bytes, shape.bytes);
            }
            await_all(root);
            break;
        }
        case Operation::kBcast:
        case Operation::kScatter:
        case Operation::kShift:
        case Operation::kSync:
            break;
    }
}

}  // namespace poe::collectives
