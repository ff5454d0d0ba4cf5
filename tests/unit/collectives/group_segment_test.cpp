// The protocol of a group's shared memory, by threads: random calls with many seeds, in which some
// get nothing and run ahead, others dawdle.
#include "collectives/shm/group_segment.hpp"

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

// Zero, from a cache line on.
class Memory {
  public:
    explicit Memory(Bytes bytes) : bytes_(bytes + kLine) {}
    std::byte* start() const {
        const auto address = reinterpret_cast<std::uintptr_t>(bytes_.data());
        return const_cast<std::byte*>(bytes_.data()) + (kLine - address % kLine) % kLine;
    }

  private:
    std::vector<std::byte> bytes_;
};

struct YieldingHost : GroupSegment::Host {
    void wait(const std::atomic<std::uint64_t>& word, std::uint64_t call,
              const GroupSegment::AwaitedMember& whom) override {
        while (word.load(std::memory_order_acquire) <= call) {
            last_whom = whom.find();
            ::sched_yield();
        }
    }
    void fence() noexcept override { std::atomic_thread_fence(std::memory_order_seq_cst); }
    void wake(std::uint32_t) noexcept override {}
    std::uint32_t last_whom = 0;
};

std::uint64_t number(std::uint32_t member, std::uint32_t call) {
    return (member + 1ull) * 1'000'003 + call * 17ull;
}

std::uint64_t word_at(const std::byte* slot) {
    std::uint64_t word = 0;
    std::memcpy(&word, slot, sizeof word);
    return word;
}

// The sum of all at all members; the last one to arrive adds them up.
std::uint64_t to_all(GroupSegment& segment, std::uint32_t members, std::uint32_t me,
                     std::uint64_t own) {
    const std::uint64_t call = segment.acquire(GroupSegment::kNobody);
    std::memcpy(segment.slot_of(me, call), &own, sizeof own);
    std::byte* result = segment.result(call, sizeof own);
    if (segment.arrive(call)) {
        std::uint64_t sum = 0;
        for (std::uint32_t m = 0; m < members; ++m) sum += word_at(segment.slot_of(m, call));
        std::memcpy(result, &sum, sizeof sum);
        segment.publish_result(call);
    } else {
        segment.await_result(call, GroupSegment::kAll);
    }
    const std::uint64_t got = word_at(result);
    segment.release(call);
    return got;
}

// What the root has.
std::uint64_t from_root(GroupSegment& segment, std::uint32_t me, std::uint32_t root,
                        std::uint64_t own) {
    const bool gives = me == root;
    const std::uint64_t call =
        gives ? segment.acquire_all(GroupSegment::kNobody) : segment.begin(GroupSegment::kNobody);
    std::byte* result = segment.result(call, sizeof own);
    if (gives) {
        std::memcpy(result, &own, sizeof own);
        segment.publish_result(call);
    } else {
        segment.await_result(call, root);
    }
    const std::uint64_t got = word_at(result);
    segment.release(call);
    return got;
}

// What `giver` has, when `taker` gets what this member has.
std::uint64_t from_neighbour(GroupSegment& segment, std::uint32_t me, std::uint32_t giver,
                             std::uint32_t taker, std::uint64_t own) {
    const std::uint64_t each = segment.acquire(taker);
    std::memcpy(segment.slot_of(me, each), &own, sizeof own);
    segment.publish(taker, each);
    segment.await(giver, each, 4);
    const std::uint64_t got = word_at(segment.slot_of(giver, each));
    segment.release(each);
    return got;
}

// The sum of all at the root; the others go on, and get nothing.
std::uint64_t to_root(GroupSegment& segment, std::uint32_t members, std::uint32_t me,
                      std::uint32_t root, std::uint64_t own) {
    const std::uint64_t each = segment.acquire(me == root ? GroupSegment::kNobody : root);
    std::uint64_t sum = me == root ? own : 0;
    if (me != root) {
        std::memcpy(segment.slot_of(me, each), &own, sizeof own);
        segment.publish(root, each);
    }
    for (std::uint32_t m = 0; m < members && me == root; ++m) {
        if (m == root) continue;
        segment.await(m, each, 4);
        sum += word_at(segment.slot_of(m, each));
    }
    segment.release(each);
    return sum;
}

// The sum of all members up to this one.
std::uint64_t along_chain(GroupSegment& segment, std::uint32_t members, std::uint32_t me,
                          std::uint64_t own) {
    const std::uint32_t taker = me + 1 == members ? GroupSegment::kNobody : me + 1;
    const std::uint64_t each = segment.acquire(taker);
    if (me > 0) {
        segment.await(me - 1, each, 4);
        own += word_at(segment.slot_of(me - 1, each));
    }
    std::memcpy(segment.slot_of(me, each), &own, sizeof own);
    segment.publish(taker, each);
    segment.release(each);
    return own;
}

// The sum of all at all members; each reads the slots of all.
std::uint64_t from_all(GroupSegment& segment, std::uint32_t members, std::uint32_t me,
                       std::uint64_t own) {
    const std::uint64_t each = segment.acquire(GroupSegment::kAll);
    std::memcpy(segment.slot_of(me, each), &own, sizeof own);
    segment.publish(GroupSegment::kAll, each);
    std::uint64_t sum = 0;
    for (std::uint32_t m = 0; m < members; ++m) {
        segment.await(m, each);
        sum += word_at(segment.slot_of(m, each));
    }
    segment.release(each);
    return sum;
}

// Two exchanges at once: in the second round of each, one member adds all numbers up in a slot of
// another, and all take the sum.
std::uint64_t exchange(GroupSegment& segment, std::uint32_t members, std::uint32_t me,
                       std::uint32_t call) {
    std::uint64_t calls[2];
    for (std::uint32_t i = 0; i < 2; ++i) {
        calls[i] = segment.acquire_all(GroupSegment::kAll);
        const std::uint64_t own = number(me, call + i);
        std::memcpy(segment.slot_of(me, calls[i]), &own, sizeof own);
        segment.publish(GroupSegment::kAll, calls[i]);
    }
    std::uint64_t sum = 0;
    for (const std::uint64_t each : calls) {
        const auto worker = static_cast<std::uint32_t>(each % members);
        const std::uint32_t where = (worker + 1) % members;
        if (me == worker) {
            std::uint64_t all = 0;
            for (std::uint32_t m = 0; m < members; ++m) {
                segment.await(m, each);
                all += word_at(segment.slot_of(m, each));
            }
            std::memcpy(segment.slot_of(where, each), &all, sizeof all);
            segment.publish_reduced(each);
        }
        segment.await_reduced(worker, each);
        sum += word_at(segment.slot_of(where, each));
        segment.release(each);
    }
    return sum;
}

// The root fills the slots of all, and waits until they have taken it.
std::uint64_t from_root(GroupSegment& segment, std::uint32_t members, std::uint32_t me,
                        std::uint32_t root, std::uint32_t call) {
    if (me != root) {
        const std::uint64_t each = segment.begin(GroupSegment::kAll);
        segment.await(root, each);
        const std::uint64_t got = word_at(segment.slot_of(me, each));
        segment.release(each);
        return got;
    }
    const std::uint64_t each = segment.acquire_all(GroupSegment::kAll);
    for (std::uint32_t m = 0; m < members; ++m) {
        const std::uint64_t its = number(root, call) + m;
        std::memcpy(segment.slot_of(m, each), &its, sizeof its);
    }
    segment.publish(GroupSegment::kAll, each);
    segment.release(each);
    for (std::uint32_t m = 0; m < members; ++m) segment.await_released(m, each);
    return number(root, call) + me;
}

void run_member(std::byte* memory, const GroupSegment::Sizes& sizes, std::uint32_t members,
                std::uint32_t me, unsigned seed, std::uint32_t calls,
                std::atomic<std::uint32_t>& wrong) {
    YieldingHost host;
    GroupSegment segment(memory, members, me, sizes, host);
    std::minstd_rand same(seed);
    std::minstd_rand pauses(seed * 31 + me);
    std::uint32_t kind = 0;
    std::uint32_t more = 0;  // calls of that kind
    for (std::uint32_t call = 0; call < calls; ++call) {
        const std::uint32_t root = static_cast<std::uint32_t>(same() % members);
        if (more-- == 0) {
            kind = static_cast<std::uint32_t>(same() % 8);
            // Long runs too: in chains members get more than the depth apart.
            more = same() % 4 == 0 ? static_cast<std::uint32_t>(same() % 40) : 0;
        }
        if (pauses() % 8 == 0) ::sched_yield();
        const std::uint64_t own = number(me, call);
        std::uint64_t got = 0;
        std::uint64_t expected = number(root, call);
        if (kind == 0) {
            got = from_root(segment, me, root, own);
        } else if (kind == 3) {
            // Each gets its neighbour's.
            const std::uint32_t giver = (me + 1 + root) % members;
            const std::uint32_t taker = (me + 2 * members - 1 - root) % members;
            got = from_neighbour(segment, me, giver, taker, own);
            expected = number(giver, call);
        } else if (kind == 4) {
            got = along_chain(segment, members, me, own);
            expected = 0;
            for (std::uint32_t m = 0; m <= me; ++m) expected += number(m, call);
        } else if (kind == 5) {
            got = exchange(segment, members, me, call);
            expected = 0;
            for (std::uint32_t m = 0; m < members; ++m)
                expected += number(m, call) + number(m, call + 1);
        } else if (kind == 6) {
            got = from_root(segment, members, me, root, call);
            expected = number(root, call) + me;
        } else {
            expected = 0;
            for (std::uint32_t m = 0; m < members; ++m) expected += number(m, call);
            if (kind == 2) {
                got = to_root(segment, members, me, root, own);
                if (me != root) expected = 0;
            } else if (kind == 7) {
                got = from_all(segment, members, me, own);
            } else {
                got = to_all(segment, members, me, own);
            }
        }
        if (got != expected) ++wrong;
    }
    // One is the last.
    if (segment.leave()) wrong += 1000;
}

}  // namespace

TEST_CASE("random calls of a group in shared memory") {
    constexpr GroupSegment::Sizes kTight{4, 64, 64, kLine, false};
    constexpr GroupSegment::Sizes kSpanned{4, 64, 64, kLine, true};
    const auto kind = GENERATE(0, 1, 2, 3, 4);
    const GroupSegment::Sizes sizes = kind == 0   ? GroupSegment::kLong
                                      : kind == 1 ? GroupSegment::short_of(7)
                                      : kind == 2 ? GroupSegment::packed_of(7)
                                      : kind == 3 ? kTight
                                                  : kSpanned;
    for (const std::uint32_t members : {2u, 3u, 7u}) {
        for (unsigned seed = 1; seed <= 20; ++seed) {
            const Memory memory(sizes.bytes_for(members));
            std::atomic<std::uint32_t> wrong = 0;
            std::vector<std::thread> threads;
            for (std::uint32_t me = 0; me < members; ++me)
                threads.emplace_back([&, me] {
                    run_member(memory.start(), sizes, members, me, seed, 3 * sizes.depth + 250,
                               wrong);
                });
            for (std::thread& thread : threads) thread.join();
            INFO("members " << members << " seed " << seed);
            CHECK(wrong == 1000);
        }
    }
}

TEST_CASE("one member alone never waits") {
    const Memory memory(GroupSegment::kLong.bytes_for(1));
    std::atomic<std::uint32_t> wrong = 0;
    run_member(memory.start(), GroupSegment::kLong, 1, 0, 1, 100, wrong);
    CHECK(wrong == 1000);
}
