// Long collective calls by single copy; see single_copy_calls.hpp.
#include "collectives/shm/single_copy_calls.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/uio.h>

#include "base/error.hpp"
#include "collectives/call/groups.hpp"

namespace poe::collectives {
namespace {

// The minimum block size, in bytes, for single-copy transfers.
constexpr Bytes kLeast = Bytes{2} << 10;
// The bytes of a piece of a sum: it stays in the core's cache until it has been written to all
// results.
constexpr Bytes kPiece = Bytes{64} << 10;

// Repeats `copy` (process_vm_readv or process_vm_writev) until all bytes are copied. False: it
// failed.
template <typename Copy>
bool copy_all(Copy copy, pid_t pid, const std::byte* own, std::uint64_t other, Bytes bytes) {
    for (Bytes done = 0; done < bytes;) {
        const iovec here{const_cast<std::byte*>(own) + done, bytes - done};
        // An address of the other process. NOLINTNEXTLINE(performance-no-int-to-ptr)
        const iovec there{reinterpret_cast<void*>(static_cast<std::uintptr_t>(other + done)),
                          bytes - done};
        const ssize_t copied = copy(pid, &here, 1, &there, 1, 0);
        if (copied <= 0) return false;
        done += static_cast<Bytes>(copied);
    }
    return true;
}

bool read_memory(pid_t pid, std::uint64_t from, std::byte* to, Bytes bytes) {
    return copy_all(::process_vm_readv, pid, to, from, bytes);
}
bool write_memory(pid_t pid, const std::byte* from, std::uint64_t to, Bytes bytes) {
    return copy_all(::process_vm_writev, pid, from, to, bytes);
}

std::uint64_t address_of(const void* memory) {
    return reinterpret_cast<std::uintptr_t>(memory);
}

}  // namespace

SingleCopyCalls::SingleCopyCalls(comm::Runtime& runtime, const Group& group, ShmGroup& local,
                                 const CopyCosts& costs)
    : runtime_(runtime),
      group_(group),
      local_(local),
      n_(group.size()),
      me_(static_cast<std::uint32_t>(group.me)),
      costs_(costs),
      tried_(n_) {}

bool SingleCopyCalls::fits(const Shape& shape) noexcept {
    if (shape.bytes < kLeast) return false;
    switch (shape.operation) {
        case Operation::kBcast:
            return shape.n == 2;
        case Operation::kConcat:
        case Operation::kReduce:
        case Operation::kCombine:
            return shape.element > 0;
        case Operation::kScatter:
        case Operation::kGather:
        case Operation::kShift:
            return true;
        case Operation::kIndex:
            return shape.matrix.empty();
        default:
            return false;
    }
}

bool SingleCopyCalls::allowed() {
    if (allowed_ == Allowed::kNotTried) {
        const bool yes = local_.all_have(may_reach_all());
        allowed_ = yes ? Allowed::kYes : Allowed::kNo;
    }
    return allowed_ == Allowed::kYes;
}

// Reads one word of each member and writes it back, to find out whether both are permitted. Takes the
// costs that rank 0 has measured.
bool SingleCopyCalls::may_reach_all() {
    struct Opening {
        std::uint64_t words;  // the address of this member's words
        CopyCosts costs;
    };
    const Opening mine{address_of(tried_.data()), costs_};
    const std::uint64_t call = tell(&mine, sizeof mine);
    bool yes = runtime_.segment()->facts().single_copy != 0;
    for (std::uint32_t m = 0; m < n_; ++m) {
        Opening its{};
        std::memcpy(&its, told_by(m, call), sizeof its);
        if (m == 0) costs_ = its.costs;
        // A member's pid is valid only after the member has published its address.
        const NodeSegment& segment = *runtime_.segment();
        pids_.push_back(segment.slot(*segment.local_index(group_.members[m])).pid);
        if (m == me_ || !yes) continue;
        std::uint64_t word = 0;
        const auto bytes = reinterpret_cast<std::byte*>(&word);
        const std::uint64_t own = its.words + me_ * sizeof word;
        yes = read_memory(pids_[m], own, bytes, sizeof word) &&
              write_memory(pids_[m], bytes, own, sizeof word);
    }
    local_.exchange().release(call, local_);
    return yes;
}

SingleCopyCalls::Places SingleCopyCalls::places_of(std::uint32_t member) {
    Places places;
    std::memcpy(&places, told_by(member, call_), sizeof places);
    return places;
}

std::uint64_t SingleCopyCalls::tell(const void* what, Bytes bytes) {
    GroupSegment& segment = local_.exchange();
    const std::uint64_t call = segment.acquire(local_);
    std::memcpy(segment.slot_of(me_, call), what, bytes);
    segment.publish(call, local_);
    return call;
}

const std::byte* SingleCopyCalls::told_by(std::uint32_t member, std::uint64_t call) {
    local_.exchange().await_published(member, call, local_);
    return local_.exchange().slot_of(member, call);
}

// The kernel does not say which of the two buffers is invalid.
void SingleCopyCalls::fail_copy(const std::string& what, std::uint32_t member) const {
    const int error = errno;
    std::string text =
        "cannot " + what + " the memory of task " + std::to_string(group_.members[member]);
    if (error == EFAULT) text += ", or its own: a buffer is shorter than the call of its task says";
    errno = error;
    throw_errno(text);
}

void SingleCopyCalls::read(std::uint32_t member, std::uint64_t from, std::byte* to,
                           Bytes bytes) const {
    if (!read_memory(pids_[member], from, to, bytes)) fail_copy("read", member);
}

void SingleCopyCalls::write(std::uint32_t member, const std::byte* from, std::uint64_t to,
                            Bytes bytes) const {
    if (!write_memory(pids_[member], from, to, bytes)) fail_copy("write to", member);
}

// Calls work(member) for all other members. Each member begins with a different one.
template <typename Work>
void SingleCopyCalls::for_others(Work&& work) const {
    for (std::uint32_t i = 1; i < n_; ++i) work((me_ + i) % n_);
}

void SingleCopyCalls::run(const Shape& shape, const Run& run, bool barrier) {
    GroupSegment& segment = local_.exchange();
    GroupSegment::Host& host = local_;
    const Places mine{address_of(run.given), address_of(run.result)};
    call_ = tell(&mine, sizeof mine);
    move(shape, run);
    if (barrier) for_others([&](std::uint32_t m) { segment.await_published(m, call_, host); });
    segment.release(call_, host);
    for_others([&](std::uint32_t m) {
        if (touched_by(shape, m)) segment.await_released(m, call_, host);
    });
    // Every call polls for messages.
    runtime_.messages().progress();
}

// True if that member reads or writes the data of this one.
bool SingleCopyCalls::touched_by(const Shape& shape, std::uint32_t member) const noexcept {
    switch (shape.operation) {
        case Operation::kShift:
            return shifted(shape, me_, shape.step) == member;
        case Operation::kScatter:
        case Operation::kGather:
            return shape.n == 2 || static_cast<Rank>(me_) == shape.root;
        default:
            return true;
    }
}

void SingleCopyCalls::move(const Shape& shape, const Run& run) {
    const bool is_root = static_cast<Rank>(me_) == shape.root;
    const auto root = static_cast<std::uint32_t>(shape.root);
    const std::uint32_t other = 1 - me_;  // if there are two members
    const Bytes own = shape.offset(me_);
    const Bytes length = shape.length(me_);
    switch (shape.operation) {
        case Operation::kBcast:
            if (is_root) {
                write_half(other, run.result, places_of(other).result, shape.bytes);
            } else {
                read_half(other, places_of(other).result, run.result, shape.bytes);
            }
            break;
        case Operation::kScatter:
            if (!is_root) {
                const std::uint64_t from = places_of(root).given + own;
                if (n_ == 2) {
                    read_half(root, from, run.result, length);
                } else {
                    read(root, from, run.result, length);
                }
                break;
            }
            std::memmove(run.result, run.given + own, length);
            if (n_ == 2)
                write_half(other, run.given + shape.offset(other), places_of(other).result,
                           shape.length(other));
            break;
        case Operation::kGather:
            if (!is_root) {
                const std::uint64_t to = places_of(root).result + own;
                if (n_ == 2) {
                    write_half(root, run.given, to, length);
                } else {
                    write(root, run.given, to, length);
                }
                break;
            }
            std::memmove(run.result + own, run.given, length);
            if (n_ == 2)
                read_half(other, places_of(other).given, run.result + shape.offset(other),
                          shape.length(other));
            break;
        case Operation::kReduce:
        case Operation::kCombine:
            add_slice(shape, run);
            break;
        case Operation::kConcat:
            std::memmove(run.result + own, run.given, length);
            for_others([&](std::uint32_t m) {
                read(m, places_of(m).given, run.result + shape.offset(m), shape.length(m));
            });
            break;
        case Operation::kIndex:
            std::memmove(run.result + own, run.given + own, length);
            for_others([&](std::uint32_t m) {
                read(m, places_of(m).given + own, run.result + shape.offset(m), length);
            });
            break;
        case Operation::kShift: {
            const std::uint32_t giver = shifted(shape, me_, -std::int64_t{shape.step});
            if (giver == me_) {
                std::memmove(run.result, run.given, length);
            } else if (giver < n_) {
                read(giver, places_of(giver).given, run.result, length);
            }
            break;
        }
        default:
            break;
    }
}

// Each member reduces one slice of all vectors, in rank order, and writes it to each result.
void SingleCopyCalls::add_slice(const Shape& shape, const Run& run) {
    const Bytes elements = shape.bytes / shape.element;
    const auto begin_of = [&](std::uint32_t m) { return elements * m / n_ * shape.element; };
    const Bytes end = begin_of(me_ + 1);
    const Bytes step = kPiece / shape.element * shape.element;
    sums_.resize(2 * step);
    std::byte* const sum = sums_.data();
    for (Bytes at = begin_of(me_); at < end; at += step) {
        const Bytes bytes = std::min(step, end - at);
        const auto vector_of = [&](std::uint32_t m, std::byte* room) -> const std::byte* {
            if (m == me_) return run.given + at;
            read(m, places_of(m).given + at, room, bytes);
            return room;
        };
        const std::byte* so_far = vector_of(0, sum);
        for (std::uint32_t m = 1; m < n_; ++m) {
            const std::byte* next = vector_of(m, so_far == sum ? sum + step : sum);
            reduce_to(run.reduction, sum, so_far, next, bytes, nullptr);
            so_far = sum;
        }
        const auto put = [&](std::uint32_t m) {
            if (m == me_) {
                std::memcpy(run.result + at, so_far, bytes);
            } else {
                write(m, so_far, places_of(m).result + at, bytes);
            }
        };
        if (shape.operation == Operation::kReduce) {
            put(static_cast<std::uint32_t>(shape.root));
        } else {
            for_others(put);
            put(me_);
        }
    }
}

// Between two members, the receiver reads the first half while the sender writes the second.
void SingleCopyCalls::read_half(std::uint32_t member, std::uint64_t from, std::byte* to,
                                Bytes bytes) const {
    read(member, from, to, bytes / 2);
}

void SingleCopyCalls::write_half(std::uint32_t member, const std::byte* from, std::uint64_t to,
                                 Bytes bytes) const {
    write(member, from + bytes / 2, to + bytes / 2, bytes - bytes / 2);
}

}  // namespace poe::collectives
