// What the tests of calls in shared memory by threads have in common: random shapes, a function
// that is not commutative, and what must come of a call.
#pragma once

#include <atomic>
#include <cstddef>
#include <random>
#include <sched.h>
#include <span>
#include <thread>
#include <vector>

#include "collectives/call/call.hpp"
#include "collectives/shm/group_segment.hpp"

namespace poe::collectives::oracle {

struct YieldingHost : GroupSegment::Host {
    void wait(const std::atomic<std::uint64_t>& word, std::uint64_t call,
              const GroupSegment::AwaitedMember&) override {
        while (word.load(std::memory_order_acquire) <= call) ::sched_yield();
    }
    void fence() noexcept override { std::atomic_thread_fence(std::memory_order_seq_cst); }
    void wake(std::uint32_t) noexcept override {}
};

// Memory for the segments of a group.
class Memory {
  public:
    explicit Memory(Bytes bytes) : bytes_(bytes + kLine) {}
    std::byte* start() {
        const auto at = reinterpret_cast<std::uintptr_t>(bytes_.data());
        return bytes_.data() + (kLine - at % kLine) % kLine;
    }

  private:
    std::vector<std::byte> bytes_;
};

// Calls work(member) in a thread for each member.
template <typename Work>
void by_all(std::uint32_t n, const Work& work) {
    std::vector<std::thread> threads;
    for (std::uint32_t me = 0; me < n; ++me) threads.emplace_back([&work, me] { work(me); });
    for (std::thread& thread : threads) thread.join();
}

// x -> a x + b, one after the other.
struct Affine {
    std::uint16_t a, b;
};
inline Affine then(const Affine& x, const Affine& y) {
    return {static_cast<std::uint16_t>(unsigned{x.a} * y.a),
            static_cast<std::uint16_t>(unsigned{x.b} * y.a + y.b)};
}
inline void compose(void* one, void* two, void* out, int* bytes) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(*bytes) / sizeof(Affine); ++i)
        static_cast<Affine*>(out)[i] =
            then(static_cast<Affine*>(one)[i], static_cast<Affine*>(two)[i]);
}
inline constexpr Reduction kCompose{compose, "compose", sizeof(Affine)};

inline std::byte byte_of(std::uint32_t rank, unsigned call, Bytes at) {
    return static_cast<std::byte>(rank * 37 + call * 101 + at * 7 + at / 251);
}
inline std::vector<std::byte> bytes_of(std::uint32_t rank, unsigned call, Bytes from,
                                       Bytes length) {
    std::vector<std::byte> all(length);
    for (Bytes i = 0; i < length; ++i) all[i] = byte_of(rank, call, from + i);
    return all;
}

inline std::vector<std::byte> reduced(unsigned call, std::uint32_t last, Bytes bytes) {
    std::vector<std::byte> sum = bytes_of(0, call, 0, bytes);
    for (std::uint32_t r = 1; r <= last; ++r) {
        std::vector<std::byte> next = bytes_of(r, call, 0, bytes);
        int length = static_cast<int>(bytes);
        compose(sum.data(), next.data(), sum.data(), &length);
    }
    return sum;
}

// Lengths: the short half comes more often.
inline Shape random_shape(std::minstd_rand& random, std::uint32_t n,
                          std::span<const Bytes> lengths) {
    constexpr Operation kAll[] = {Operation::kBcast,  Operation::kReduce,  Operation::kCombine,
                                  Operation::kPrefix, Operation::kScatter, Operation::kGather,
                                  Operation::kConcat, Operation::kIndex,   Operation::kShift};
    Shape shape;
    shape.operation = kAll[random() % std::size(kAll)];
    shape.n = n;
    shape.root = static_cast<Rank>(random() % n);
    const std::size_t half = (lengths.size() + 1) / 2;
    shape.bytes = lengths[random() % (random() % 4 == 0 ? lengths.size() : half)];
    shape.element = sizeof(Affine);
    shape.step = static_cast<int>(random() % (2 * n + 1)) - static_cast<int>(n);
    shape.circular = random() % 2 == 0;
    const bool blocks = shape.operation == Operation::kScatter ||
                        shape.operation == Operation::kGather ||
                        shape.operation == Operation::kConcat;
    if (blocks && random() % 2 == 0) {
        shape.offsets = {0};
        for (std::uint32_t r = 0; r < n; ++r)
            shape.offsets.push_back(shape.offsets.back() + random() % (shape.bytes + 1));
    }
    return shape;
}

// What must come; nothing where nothing comes.
inline std::vector<std::byte> expected(const Shape& shape, std::uint32_t me, unsigned call) {
    const auto root = static_cast<std::uint32_t>(shape.root);
    std::vector<std::byte> all;
    const auto append = [&all](const std::vector<std::byte>& more) {
        all.insert(all.end(), more.begin(), more.end());
    };
    switch (shape.operation) {
        case Operation::kBcast:
            return bytes_of(root, call, 0, shape.bytes);
        case Operation::kReduce:
            return me == root ? reduced(call, shape.n - 1, shape.bytes) : all;
        case Operation::kCombine:
            return reduced(call, shape.n - 1, shape.bytes);
        case Operation::kPrefix:
            return reduced(call, me, shape.bytes);
        case Operation::kScatter:
            return bytes_of(root, call, shape.offset(me), shape.length(me));
        case Operation::kGather:
        case Operation::kConcat:
            if (shape.operation == Operation::kGather && me != root) return all;
            for (std::uint32_t r = 0; r < shape.n; ++r)
                append(bytes_of(r, call, 0, shape.length(r)));
            return all;
        case Operation::kIndex:
            for (std::uint32_t r = 0; r < shape.n; ++r)
                append(bytes_of(r, call, me * shape.bytes, shape.bytes));
            return all;
        case Operation::kShift: {
            const int n = static_cast<int>(shape.n);
            const int from = static_cast<int>(me) - shape.step;
            if (!shape.circular && (from < 0 || from >= n)) return all;
            return bytes_of(static_cast<std::uint32_t>((from % n + n) % n), call, 0, shape.bytes);
        }
        case Operation::kSync:
            break;
    }
    return all;
}

}  // namespace poe::collectives::oracle
