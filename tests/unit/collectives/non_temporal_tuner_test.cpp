// How pieces are written that another core takes.
#include "collectives/shm/non_temporal_tuner.hpp"

#include <catch2/catch.hpp>

using namespace poe;
using namespace poe::collectives;

namespace {

constexpr Bytes kPiece = 64 << 10;

// Nanoseconds to write and to take a piece, of ordinary stores and of those past the cache.
struct Machine {
    std::uint64_t write[2];
    std::uint64_t read[2];
};
constexpr Machine kNear{{2000, 4000}, {2500, 4500}};
// To write is cheaper in the caches, to take is not.
constexpr Machine kFar{{3000, 5000}, {40000, 5000}};

// Two that swap pieces: how many of them the first wrote past the cache.
int non_temporal(NonTemporalTuner (&members)[2], Bytes bytes, int pieces, const Machine& machine) {
    int count = 0;
    for (int i = 0; i < pieces; ++i) {
        NonTemporalTuner::Pick picks[2];
        for (int m = 0; m < 2; ++m) {
            picks[m] = members[m].choose(bytes);
            const auto store = static_cast<unsigned>(picks[m].store);
            if (picks[m].timed) members[m].wrote(picks[m].store, bytes, machine.write[store]);
        }
        if (picks[0].store == Store::kNonTemporal) ++count;
        for (int m = 0; m < 2; ++m) {
            const Store taken = picks[1 - m].store;
            if (picks[m].timed)
                members[m].read(taken, bytes, machine.read[static_cast<unsigned>(taken)]);
        }
    }
    return count;
}

}  // namespace

#if defined(__x86_64__)
TEST_CASE("what is cheaper to write and to take together is used, and the other tried") {
    NonTemporalTuner near[2];
    non_temporal(near, kPiece, 1000, kNear);
    const int dear = non_temporal(near, kPiece, 100000, kNear);
    CHECK(dear > 0);
    CHECK(dear < 1000);
    NonTemporalTuner far[2];
    non_temporal(far, kPiece, 1000, kFar);
    const int cheap = non_temporal(far, kPiece, 100000, kFar);
    CHECK(cheap > 99000);
    CHECK(cheap < 100000);
}

TEST_CASE("that the cores are elsewhere now is noticed") {
    NonTemporalTuner members[2];
    non_temporal(members, kPiece, 50000, kNear);
    CHECK(non_temporal(members, kPiece, 200, kFar) > 100);
    CHECK(non_temporal(members, kPiece, 10000, kFar) > 9800);
    non_temporal(members, kPiece, 20000, kNear);
    CHECK(non_temporal(members, kPiece, 10000, kNear) < 200);
}

TEST_CASE("members that have come to other views agree again") {
    NonTemporalTuner members[2];
    for (int i = 0; i < 20; ++i) {
        for (const Store store : {Store::kOrdinary, Store::kNonTemporal}) {
            const bool dear = store == Store::kOrdinary;
            members[0].wrote(store, kPiece, dear ? 90000 : 1000);
            members[0].read(store, kPiece, dear ? 90000 : 1000);
            members[1].wrote(store, kPiece, dear ? 1000 : 90000);
            members[1].read(store, kPiece, dear ? 1000 : 90000);
        }
    }
    non_temporal(members, kPiece, 200, kNear);
    CHECK(non_temporal(members, kPiece, 10000, kNear) < 200);
}
#endif

TEST_CASE("a few bytes are neither timed nor written past the cache") {
    NonTemporalTuner choice;
    for (int i = 0; i < 1000; ++i) {
        const NonTemporalTuner::Pick pick = choice.choose(1000);
        CHECK(pick.store == Store::kOrdinary);
        CHECK_FALSE(pick.timed);
    }
}
