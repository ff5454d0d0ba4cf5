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
    void wait(const std::function<bool()>& over,
              const std::function<std::uint32_t()>& whom) override {
        while (!over()) {
            last_whom = whom();
            ::sched_yield();
        }
    }
    void fence() noexcept override { std::atomic_thread_fence(std::memory_order_seq_cst); }
    void wake_others() noexcept override {}
    void wake(std::uint32_t) noexcept override {}
    std::uint32_t last_whom = 0;
};

// Every member gives a number that follows from the call; the result is their sum.
struct NumberPart : GroupSegment::Part {
    void give(std::byte* slot) override { std::memcpy(slot, &own, sizeof own); }
    void collect(std::byte* result) override {
        std::uint64_t sum = 0;
        for (std::uint32_t m = 0; m < members; ++m) {
            std::uint64_t one = 0;
            std::memcpy(&one, commons->slot(m), sizeof one);
            sum += one;
        }
        std::memcpy(result, &sum, sizeof sum);
    }
    Bytes result_bytes() const override { return sizeof own; }
    void take(const std::byte* result) override { std::memcpy(&got, result, sizeof got); }

    const GroupSegment* commons = nullptr;
    std::uint32_t members = 0;
    std::uint64_t own = 0;
    std::uint64_t got = 0;
};

std::uint64_t number(std::uint32_t member, std::uint32_t call) {
    return (member + 1ull) * 1'000'003 + call * 17ull;
}

std::uint64_t word_at(const std::byte* slot) {
    std::uint64_t word = 0;
    std::memcpy(&word, slot, sizeof word);
    return word;
}

// What the root has.
std::uint64_t from_root(GroupSegment& commons, GroupSegment::Host& host, std::uint32_t me,
                        std::uint32_t root, std::uint64_t own) {
    const bool gives = me == root;
    const std::uint64_t call =
        gives ? commons.enter_to_publish(host) : commons.enter_published(root, host);
    std::byte* result = commons.result(call, sizeof own);
    if (gives) {
        std::memcpy(result, &own, sizeof own);
        commons.publish(call, host);
    }
    const std::uint64_t got = word_at(result);
    commons.through(call, host);
    return got;
}

// What `giver` has, when `taker` gets what this member has.
std::uint64_t from_neighbour(GroupSegment& commons, GroupSegment::Host& host, std::uint32_t me,
                             std::uint32_t giver, std::uint32_t taker, std::uint64_t own) {
    const std::uint64_t each = commons.enter_for(taker, host);
    std::memcpy(commons.slot_of(me, each), &own, sizeof own);
    commons.tell_one(taker, each, host);
    commons.await_one(giver, each, 4, host);
    const std::uint64_t got = word_at(commons.slot_of(giver, each));
    commons.through(each, host);
    return got;
}

// The sum of all at the root; the others go on, and get nothing.
std::uint64_t to_root(GroupSegment& commons, GroupSegment::Host& host, std::uint32_t members,
                      std::uint32_t me, std::uint32_t root, std::uint64_t own) {
    const std::uint64_t each = commons.enter_for(me == root ? GroupSegment::kNobody : root, host);
    std::uint64_t sum = me == root ? own : 0;
    if (me != root) {
        std::memcpy(commons.slot_of(me, each), &own, sizeof own);
        commons.tell_one(root, each, host);
    }
    for (std::uint32_t m = 0; m < members && me == root; ++m) {
        if (m == root) continue;
        commons.await_one(m, each, 4, host);
        sum += word_at(commons.slot_of(m, each));
    }
    commons.through(each, host);
    return sum;
}

// The sum of all members up to this one.
std::uint64_t along_chain(GroupSegment& commons, GroupSegment::Host& host, std::uint32_t members,
                          std::uint32_t me, std::uint64_t own) {
    const std::uint32_t taker = me + 1 == members ? GroupSegment::kNobody : me + 1;
    const std::uint64_t each = commons.enter_for(taker, host);
    if (me > 0) {
        commons.await_one(me - 1, each, 4, host);
        own += word_at(commons.slot_of(me - 1, each));
    }
    std::memcpy(commons.slot_of(me, each), &own, sizeof own);
    commons.tell_one(taker, each, host);
    commons.through(each, host);
    return own;
}

// Two exchanges at once: in the second round of each, one member adds all numbers up in a slot of
// another, and all take the sum.
std::uint64_t exchange(GroupSegment& commons, GroupSegment::Host& host, std::uint32_t members,
                       std::uint32_t me, std::uint32_t call) {
    std::uint64_t calls[2];
    for (std::uint32_t i = 0; i < 2; ++i) {
        calls[i] = commons.enter(host);
        const std::uint64_t own = number(me, call + i);
        std::memcpy(commons.slot_of(me, calls[i]), &own, sizeof own);
        commons.tell(calls[i], host);
    }
    std::uint64_t sum = 0;
    for (const std::uint64_t each : calls) {
        const auto worker = static_cast<std::uint32_t>(each % members);
        const std::uint32_t where = (worker + 1) % members;
        if (me == worker) {
            std::uint64_t all = 0;
            for (std::uint32_t m = 0; m < members; ++m) {
                commons.await_told(m, each, host);
                all += word_at(commons.slot_of(m, each));
            }
            std::memcpy(commons.slot_of(where, each), &all, sizeof all);
            commons.tell_worked(each, host);
        }
        commons.await_worked(worker, each, host);
        sum += word_at(commons.slot_of(where, each));
        commons.through(each, host);
    }
    return sum;
}

// The root fills the slots of all, and waits until they have taken it.
std::uint64_t from_root(GroupSegment& commons, GroupSegment::Host& host, std::uint32_t members,
                        std::uint32_t me, std::uint32_t root, std::uint32_t call) {
    if (me != root) {
        const std::uint64_t each = commons.pass_by();
        commons.await_told(root, each, host);
        const std::uint64_t got = word_at(commons.slot_of(me, each));
        commons.through(each, host);
        return got;
    }
    const std::uint64_t each = commons.enter(host);
    for (std::uint32_t m = 0; m < members; ++m) {
        const std::uint64_t its = number(root, call) + m;
        std::memcpy(commons.slot_of(m, each), &its, sizeof its);
    }
    commons.tell(each, host);
    commons.through(each, host);
    for (std::uint32_t m = 0; m < members; ++m) commons.await_through(m, each, host);
    return number(root, call) + me;
}

void run_member(std::byte* memory, const GroupSegment::Sizes& sizes, std::uint32_t members,
                std::uint32_t me, unsigned seed, std::uint32_t calls,
                std::atomic<std::uint32_t>& wrong) {
    GroupSegment commons(memory, members, me, sizes);
    YieldingHost host;
    std::minstd_rand same(seed);
    std::minstd_rand own(seed * 31 + me);
    std::uint32_t kind = 0;
    std::uint32_t more = 0;  // calls of that kind
    for (std::uint32_t call = 0; call < calls; ++call) {
        const std::uint32_t root = static_cast<std::uint32_t>(same() % members);
        if (more-- == 0) {
            kind = static_cast<std::uint32_t>(same() % 7);
            // Long runs too: in chains members get more than the depth apart.
            more = same() % 4 == 0 ? static_cast<std::uint32_t>(same() % 40) : 0;
        }
        if (own() % 8 == 0) ::sched_yield();
        NumberPart part;
        part.commons = &commons;
        part.members = members;
        part.own = number(me, call);
        std::uint64_t expected = number(root, call);
        if (kind == 0) {
            part.got = from_root(commons, host, me, root, part.own);
        } else if (kind == 3) {
            // Each gets its neighbour's.
            const std::uint32_t giver = (me + 1 + root) % members;
            const std::uint32_t taker = (me + 2 * members - 1 - root) % members;
            part.got = from_neighbour(commons, host, me, giver, taker, part.own);
            expected = number(giver, call);
        } else if (kind == 4) {
            part.got = along_chain(commons, host, members, me, part.own);
            expected = 0;
            for (std::uint32_t m = 0; m <= me; ++m) expected += number(m, call);
        } else if (kind == 5) {
            part.got = exchange(commons, host, members, me, call);
            expected = 0;
            for (std::uint32_t m = 0; m < members; ++m)
                expected += number(m, call) + number(m, call + 1);
        } else if (kind == 6) {
            part.got = from_root(commons, host, members, me, root, call);
            expected = number(root, call) + me;
        } else {
            expected = 0;
            for (std::uint32_t m = 0; m < members; ++m) expected += number(m, call);
            if (kind == 2) {
                part.got = to_root(commons, host, members, me, root, part.own);
                if (me != root) expected = 0;
            } else {
                commons.all_give(part, host);
            }
        }
        if (part.got != expected) ++wrong;
    }
    // One is the last.
    if (commons.leave()) wrong += 1000;
}

}  // namespace

TEST_CASE("random calls of a group in shared memory") {
    constexpr GroupSegment::Sizes kTight{4, 64, 64, 0, kLine};
    const auto kind = GENERATE(0, 1, 2, 3);
    const GroupSegment::Sizes sizes = kind == 0   ? GroupSegment::kLong
                                      : kind == 1 ? GroupSegment::short_of(7)
                                      : kind == 2 ? GroupSegment::packed_of(7)
                                                  : kTight;
    for (const std::uint32_t members : {2u, 3u, 7u}) {
        for (unsigned seed = 1; seed <= 20; ++seed) {
            const Memory memory(GroupSegment::bytes_for(members, sizes));
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
    const Memory memory(GroupSegment::bytes_for(1, GroupSegment::kLong));
    std::atomic<std::uint32_t> wrong = 0;
    run_member(memory.start(), GroupSegment::kLong, 1, 0, 1, 100, wrong);
    CHECK(wrong == 1000);
}
