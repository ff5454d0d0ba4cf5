// Long collective calls by single copy; see single_copy_calls.hpp.
#include "collectives/shm/single_copy_calls.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/copy_block.hpp"
#include "base/error.hpp"
#include "base/process_copy.hpp"
#include "collectives/call/groups.hpp"

namespace poe::collectives {
namespace {

using enum CopyDirection;

// The minimum block size, in bytes, for single-copy transfers.
constexpr Bytes kLeast = Bytes{2} << 10;
// The bytes of a piece of a sum: it stays in the core's cache until it has been written to all
// results.
constexpr Bytes kPiece = Bytes{64} << 10;

bool reduces(const Shape& shape) {
    return shape.operation == Operation::kReduce || shape.operation == Operation::kCombine;
}

// Returns how many bytes of a movement the taker reads; the giver writes the rest. If there are two
// members, one of which gives and one takes, each copies one half. In a gather of more members, the
// givers copy everything, at the same time.
Bytes read_of(const Shape& shape, Bytes bytes) {
    const bool gather = shape.operation == Operation::kGather;
    if (shape.n == 2 && (gather || is_from_root(shape))) return bytes / 2;
    return gather ? 0 : bytes;
}

}  // namespace

SingleCopyCalls::SingleCopyCalls(comm::Runtime& runtime, const Group& group, ShmGroup& local,
                                 const CopyCosts& costs)
    : runtime_(runtime),
      group_(group),
      local_(local),
      segment_(local.exchange()),
      n_(group.size()),
      me_(static_cast<std::uint32_t>(group.me)),
      costs_(costs),
      tried_(n_) {}

bool SingleCopyCalls::fits(const Shape& shape) noexcept {
    if (shape.bytes < kLeast || !shape.matrix.empty()) return false;
    switch (shape.operation) {
        case Operation::kBcast:
            return shape.n == 2;
        case Operation::kReduce:
        case Operation::kCombine:
            return shape.element > 0;
        case Operation::kScatter:
        case Operation::kGather:
        case Operation::kConcat:
        case Operation::kIndex:
        case Operation::kShift:
            return true;
        default:
            return false;
    }
}

bool SingleCopyCalls::allowed() {
    if (!allowed_) allowed_ = local_.all_have(may_reach_all());
    return *allowed_;
}

// Reads one byte of each member and writes it back, to find out whether both are permitted. Also
// stores rank 0's costs in costs_.
bool SingleCopyCalls::may_reach_all() {
    publish(tried_.data(), nullptr);
    const NodeSegment& node = *runtime_.segment();
    bool yes = node.facts().single_copy != 0;
    for (std::uint32_t m = 0; m < n_; ++m) {
        const Published its = published_by(m);
        if (m == 0) costs_ = its.costs;
        // A member's pid is valid only after the member has published its address.
        pids_.push_back(node.slot(*node.local_index(group_.members[m])).pid);
        std::byte byte{};
        if (m != me_ && yes)
            yes = copy_process_memory(kRead, pids_[m], &byte, its.given + me_, 1) &&
                  copy_process_memory(kWrite, pids_[m], &byte, its.given + me_, 1);
    }
    segment_.release(call_);
    return yes;
}

void SingleCopyCalls::publish(const std::byte* given, const std::byte* result) {
    const Published mine{reinterpret_cast<std::uintptr_t>(given),
                         reinterpret_cast<std::uintptr_t>(result), costs_};
    call_ = segment_.acquire(GroupSegment::kAll);
    std::memcpy(segment_.slot_of(me_, call_), &mine, sizeof mine);
    segment_.publish(GroupSegment::kAll, call_);
}

SingleCopyCalls::Published SingleCopyCalls::published_by(std::uint32_t member) const {
    segment_.await(member, call_);
    Published its;
    std::memcpy(&its, segment_.slot_of(member, call_), sizeof its);
    return its;
}

void SingleCopyCalls::copy(CopyDirection direction, std::uint32_t member, const std::byte* own,
                           std::uint64_t other, Bytes bytes) const {
    // Memory to which nothing is written is not changed.
    if (copy_process_memory(direction, pids_[member], const_cast<std::byte*>(own), other, bytes))
        return;
    const int error = errno;
    std::string text = direction == kRead ? "cannot read" : "cannot write to";
    text += " the memory of task " + std::to_string(group_.members[member]);
    // The kernel does not say which of the two buffers is invalid.
    if (error == EFAULT) text += ", or its own: a buffer is shorter than the call of its task says";
    errno = error;
    throw_errno(text);
}

void SingleCopyCalls::run(const Shape& shape, const Run& run, bool barrier) {
    publish(given_in(shape, run), run.result);
    if (reduces(shape)) {
        add_slice(shape, run);
    } else {
        move(shape, run);
    }
    for (std::uint32_t i = 1; barrier && i < n_; ++i) segment_.await(after(i), call_);
    segment_.release(call_);
    for (std::uint32_t i = 1; i < n_; ++i) {
        // Waits for the members that read or write the data of this one.
        const std::uint32_t m = after(i);
        const Bytes in = moved(shape, m, me_).bytes;
        const Bytes out = moved(shape, me_, m).bytes;
        if (reduces(shape) || read_of(shape, in) < in || read_of(shape, out) > 0)
            segment_.await_released(m, call_);
    }
    // Every call polls for messages.
    runtime_.messages().progress();
}

// Copies all movements of this member. Each member begins with a different partner, so that not all
// access the same memory.
void SingleCopyCalls::move(const Shape& shape, const Run& run) {
    const std::byte* const given = given_in(shape, run);
    const Movement own = moved(shape, me_, me_);
    put(run.result + own.to, given + own.from, own.bytes);
    for (std::uint32_t i = 1; i < n_; ++i) {
        const std::uint32_t m = after(i);
        const Movement in = moved(shape, m, me_);
        const Movement out = moved(shape, me_, m);
        const Bytes to_read = read_of(shape, in.bytes);
        const Bytes read_by_it = read_of(shape, out.bytes);
        if (to_read > 0)
            copy(kRead, m, run.result + in.to, published_by(m).given + in.from, to_read);
        if (read_by_it < out.bytes)
            copy(kWrite, m, given + out.from + read_by_it,
                 published_by(m).result + out.to + read_by_it, out.bytes - read_by_it);
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
            copy(kRead, m, room, published_by(m).given + at, bytes);
            return room;
        };
        const std::byte* so_far = vector_of(0, sum);
        for (std::uint32_t m = 1; m < n_; ++m) {
            const std::byte* next = vector_of(m, so_far == sum ? sum + step : sum);
            reduce_to(run.reduction, sum, so_far, next, bytes, nullptr);
            so_far = sum;
        }
        for (std::uint32_t i = 1; i <= n_; ++i) {
            const std::uint32_t m = after(i);
            if (shape.operation == Operation::kReduce && static_cast<Rank>(m) != shape.root)
                continue;
            if (m == me_) {
                copy_block(run.result + at, so_far, bytes);
            } else {
                copy(kWrite, m, so_far, published_by(m).result + at, bytes);
            }
        }
    }
}

}  // namespace poe::collectives
