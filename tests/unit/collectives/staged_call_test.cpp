// Long calls in shared memory, piece by piece, by threads: random shapes with many seeds against an
// oracle, with a function that is not commutative.
#include "collectives/staged_call.hpp"

#include <atomic>
#include <cstring>
#include <random>
#include <sched.h>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

using namespace poe;
using namespace poe::collectives;

namespace {

struct YieldingHost : Commons::Host {
    void wait(const std::function<bool()>& over, const std::function<std::uint32_t()>&) override {
        while (!over()) ::sched_yield();
    }
    void fence() noexcept override { std::atomic_thread_fence(std::memory_order_seq_cst); }
    void wake_others() noexcept override {}
};

// x -> a x + b, one after the other.
struct Affine {
    std::uint16_t a, b;
};
Affine then(const Affine& x, const Affine& y) {
    return {static_cast<std::uint16_t>(unsigned{x.a} * y.a),
            static_cast<std::uint16_t>(unsigned{x.b} * y.a + y.b)};
}
void compose(void* one, void* two, void* out, int* bytes) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(*bytes) / sizeof(Affine); ++i)
        static_cast<Affine*>(out)[i] =
            then(static_cast<Affine*>(one)[i], static_cast<Affine*>(two)[i]);
}
constexpr Reduction kCompose{compose, "compose", sizeof(Affine), false};

std::byte byte_of(std::uint32_t rank, unsigned call, Bytes at) {
    return static_cast<std::byte>(rank * 37 + call * 101 + at * 7 + at / 251);
}
std::vector<std::byte> bytes_of(std::uint32_t rank, unsigned call, Bytes from, Bytes length) {
    std::vector<std::byte> all(length);
    for (Bytes i = 0; i < length; ++i) all[i] = byte_of(rank, call, from + i);
    return all;
}

std::vector<std::byte> reduced(unsigned call, std::uint32_t last, Bytes bytes) {
    std::vector<std::byte> sum = bytes_of(0, call, 0, bytes);
    for (std::uint32_t r = 1; r <= last; ++r) {
        std::vector<std::byte> next = bytes_of(r, call, 0, bytes);
        int length = static_cast<int>(bytes);
        compose(sum.data(), next.data(), sum.data(), &length);
    }
    return sum;
}

Shape random_shape(std::minstd_rand& random, std::uint32_t n) {
    constexpr Operation kAll[] = {Operation::kBcast,  Operation::kReduce,  Operation::kCombine,
                                  Operation::kPrefix, Operation::kScatter, Operation::kGather,
                                  Operation::kConcat, Operation::kIndex,   Operation::kShift};
    constexpr Bytes kLengths[] = {0, 4, 100, 4000, 32768, 65540, 150000};
    Shape shape;
    shape.operation = kAll[random() % std::size(kAll)];
    shape.n = n;
    shape.root = static_cast<Rank>(random() % n);
    shape.bytes = kLengths[random() % (random() % 4 == 0 ? 7 : 4)];
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
std::vector<std::byte> expected(const Shape& shape, std::uint32_t me, unsigned call) {
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

void run_member(std::byte* memory, std::uint32_t n, std::uint32_t me, unsigned seed, unsigned calls,
                std::atomic<unsigned>& wrong) {
    Commons commons(memory, n, me, StagedCall::sizes(n));
    YieldingHost host;
    std::minstd_rand same(seed);
    for (unsigned call = 0; call < calls; ++call) {
        const Shape shape = random_shape(same, n);
        const bool in_place = same() % 4 == 0 && shape.operation == Operation::kCombine;
        if (!StagedCall::fits(shape)) wrong += 1000;
        std::vector<std::byte> given =
            bytes_of(me, call, 0, shape.offset(n - 1) + shape.bytes + shape.length(n - 1));
        const std::vector<std::byte> wanted = expected(shape, me, call);
        std::vector<std::byte> result(shape.bytes * n + shape.offset(n - 1) + shape.length(n - 1) +
                                      8);
        if (shape.operation == Operation::kBcast && static_cast<Rank>(me) == shape.root)
            result = given;
        Run run{given.data(), in_place ? given.data() : result.data(), kCompose, 0};
        StagedCall(shape, run, commons, host, me).run();
        // What a member gives is its own again.
        const std::vector<std::byte>& got = in_place ? given : result;
        if (!std::equal(wanted.begin(), wanted.end(), got.begin())) ++wrong;
        std::fill(given.begin(), given.end(), std::byte{0xee});
    }
}

}  // namespace

TEST_CASE("random long calls in shared memory") {
    for (const std::uint32_t n : {2u, 3u, 6u}) {
        for (unsigned seed = 1; seed <= 8; ++seed) {
            std::vector<std::byte> bytes(Commons::bytes_for(n, StagedCall::sizes(n)) + kLine);
            const auto at = reinterpret_cast<std::uintptr_t>(bytes.data());
            std::byte* memory = bytes.data() + (kLine - at % kLine) % kLine;
            std::atomic<unsigned> wrong = 0;
            std::vector<std::thread> threads;
            for (std::uint32_t me = 0; me < n; ++me)
                threads.emplace_back([&, me] { run_member(memory, n, me, seed, 60, wrong); });
            for (std::thread& thread : threads) thread.join();
            INFO("members " << n << " seed " << seed);
            CHECK(wrong == 0);
        }
    }
}

TEST_CASE("all groups' memory for long data has room in a common piece") {
    for (std::uint32_t local : {1u, 2u, 3u, 31u, 32u, 33u, 100u, 512u, 513u, 4096u}) {
        for (std::uint32_t n = 1; n <= local; n += n < 40 ? 1 : 37)
            CHECK(Commons::bytes_for(n, StagedCall::sizes(n)) <= staging_bytes(local));
    }
}
