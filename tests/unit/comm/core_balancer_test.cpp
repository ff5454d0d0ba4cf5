// Tasks that yield, spread over the cores: what is decided, and that a thread moves and is free
// again.
#include "comm/progress/core_balancer.hpp"

#include <array>
#include <ctime>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

using namespace poe::comm;

namespace {

cpu_set_t set_of(std::initializer_list<int> cores) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int core : cores) CPU_SET(core, &set);
    return set;
}

std::uint32_t now_ms() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return static_cast<std::uint32_t>(now.tv_sec * 1000 + now.tv_nsec / 1'000'000);
}

std::vector<int> usable() {
    cpu_set_t set;
    CPU_ZERO(&set);
    ::sched_getaffinity(0, sizeof set, &set);
    std::vector<int> cores;
    for (int core = 0; core < CPU_SETSIZE; ++core) {
        if (CPU_ISSET(core, &set)) cores.push_back(core);
    }
    return cores;
}

// Four tasks that say they are on `here`, and one on `there`; the last slot is that of this thread,
// which is on `here` and may be on both.
class Node {
  public:
    Node(int here, int there) : here_(here), there_(there), before_(set_of({})) {
        ::sched_getaffinity(0, sizeof before_, &before_);
        both_ = set_of({here, there});
        stand_here();
    }
    ~Node() { ::sched_setaffinity(0, sizeof before_, &before_); }
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;

    void stand_here() {
        const cpu_set_t one = set_of({here_});
        REQUIRE(::sched_setaffinity(0, sizeof one, &one) == 0);
        REQUIRE(::sched_setaffinity(0, sizeof both_, &both_) == 0);
    }
    void others_yield(std::uint32_t ms_ago = 0) {
        const std::uint64_t when = std::uint64_t{now_ms() - ms_ago} << 32;
        for (std::size_t i = 0; i < 4; ++i) slots[i].core = when | std::uint32_t(here_ + 1);
        slots[4].core = when | std::uint32_t(there_ + 1);
    }
    // Where this thread says it is after looks in about so many milliseconds.
    int where_after(int milliseconds, CoreBalancer& share) {
        const std::uint32_t end = now_ms() + std::uint32_t(milliseconds);
        while (static_cast<std::int32_t>(now_ms() - end) < 0) {
            if (others_tell) others_yield();
            for (int i = 0; i < 64; ++i) share.yielded();
        }
        return static_cast<int>(static_cast<std::uint32_t>(slots[5].core.load())) - 1;
    }
    std::uint32_t rest() const { return static_cast<std::uint32_t>(header.core_move.load()); }
    bool free_again() const {
        cpu_set_t now;
        CPU_ZERO(&now);
        ::sched_getaffinity(0, sizeof now, &now);
        return CPU_EQUAL(&now, &both_);
    }

    bool others_tell = true;
    poe::SegmentHeader header{};
    std::array<poe::TaskSlot, 6> slots{};

  private:
    int here_;
    int there_;
    cpu_set_t before_;
    cpu_set_t both_{};
};

}  // namespace

TEST_CASE("which core is better") {
    const cpu_set_t all = set_of({0, 1, 2, 3});
    const auto better = [](std::vector<std::uint32_t> tasks, const cpu_set_t& allowed, int own) {
        return better_core(tasks, allowed, own);
    };
    CHECK(better({5, 3}, all, 0) == 1);
    CHECK(better({5, 3}, all, 1) == -1);
    CHECK(better({4, 4}, all, 0) == -1);
    CHECK(better({5, 4}, all, 0) == -1);
    CHECK(better({5, 3, 2, 4}, all, 0) == 2);
    CHECK(better({5, 3, 3, 4}, all, 0) == 1);
    // Nobody yields there.
    CHECK(better({5, 0, 4}, all, 0) == -1);
    CHECK(better({8, 0}, all, 0) == -1);
    CHECK(better({5, 3, 1}, set_of({0, 1}), 0) == 1);
    CHECK(better({5, 3}, set_of({0}), 0) == -1);
}

TEST_CASE("moves that are taken back become rare") {
    std::uint32_t rest = rest_after(0, 1'000'000);
    CHECK(rest == 8);
    for (const std::uint32_t expected : {16u, 32u, 64u, 128u, 256u, 512u, 1000u, 1000u}) {
        rest = rest_after(rest, rest);
        CHECK(rest == expected);
    }
    CHECK(rest_after(1000, 4000) == 500);
    CHECK(rest_after(8, 1000) == 8);
}

TEST_CASE("a thread that yields moves to the core with fewer, and may run anywhere again") {
    const std::vector<int> cores = usable();
    if (cores.size() < 2) {
        WARN("one processor: nowhere to move to");
        return;
    }
    // The kernel may move it, too: then there is nothing to do, and it is tried again.
    bool moved = false;
    for (int attempt = 0; attempt < 20 && !moved; ++attempt) {
        Node node(cores[0], cores[1]);
        CoreBalancer share(node.header, node.slots, 5);
        moved = node.where_after(10, share) == cores[1] && node.rest() == 8;
        CHECK(node.free_again());
        // The next one has to wait.
        if (!moved) continue;
        const std::uint64_t before = node.header.core_move;
        node.header.core_move = std::uint64_t{now_ms()} << 32 | 1000;
        const std::uint64_t resting = node.header.core_move;
        node.stand_here();
        node.where_after(20, share);
        CHECK(node.header.core_move == resting);
        CHECK(before != 0);
    }
    CHECK(moved);
}

TEST_CASE("nobody moves while somebody computes") {
    const std::vector<int> cores = usable();
    if (cores.size() < 2) return;
    Node node(cores[0], cores[1]);
    CoreBalancer share(node.header, node.slots, 5);
    node.others_tell = false;
    node.where_after(10, share);
    CHECK(node.header.core_move == 0);
    node.others_yield(1000);
    node.where_after(10, share);
    CHECK(node.header.core_move == 0);
    CHECK(node.free_again());
}

TEST_CASE("anything in the slots is survived") {
    Node node(usable()[0], usable()[0]);
    CoreBalancer share(node.header, node.slots, 5);
    node.others_tell = false;
    for (const std::uint64_t word : {~std::uint64_t{0}, std::uint64_t{now_ms()} << 32 | 0xffffffffu,
                                     std::uint64_t{now_ms()} << 32 | (CPU_SETSIZE + 1)}) {
        for (std::size_t i = 0; i < 5; ++i) node.slots[i].core = word;
        node.where_after(6, share);
        CHECK(node.header.core_move == 0);
    }
}
