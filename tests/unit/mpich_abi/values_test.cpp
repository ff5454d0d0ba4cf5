// Ranks, tags, error codes, attribute keys and statuses of MPICH's binary interface.
#include "mpi/foreign_abi/values.hpp"

#include <set>

#include <catch2/catch.hpp>

#include "mpi/foreign_abi/statuses.hpp"

using namespace poe::mpi;
using namespace poe::mpi::foreign;

TEST_CASE("ranks and tags keep their meaning, and invalid ones stay invalid", "[mpich_values]") {
    const std::set<int> special{MPI_ANY_SOURCE, MPI_PROC_NULL, MPI_ROOT};
    std::set<int> found;
    for (int rank = -100; rank < 100; ++rank) {
        const int ours = rank_in(rank);
        if (special.count(ours) != 0) found.insert(ours);
        if (rank >= 0) CHECK(ours == rank);
        if (rank < -3) CHECK(special.count(ours) == 0);
        if (rank >= -3) CHECK(rank_out(ours) == rank);
    }
    CHECK(found == special);
    CHECK(rank_in(-1) == MPI_PROC_NULL);
    CHECK(rank_in(-2) == MPI_ANY_SOURCE);
    CHECK(rank_in(-3) == MPI_ROOT);
    CHECK(rank_in(MPI_UNDEFINED) == MPI_UNDEFINED);
    CHECK(rank_out(MPI_UNDEFINED) == MPI_UNDEFINED);
    CHECK(tag_in(-1) == MPI_ANY_TAG);
    CHECK(tag_out(MPI_ANY_TAG) == -1);
    for (int tag = -100; tag < -1; ++tag) CHECK((tag_in(tag) < 0 && tag_in(tag) != MPI_ANY_TAG));
    CHECK(tag_in(5) == 5);
}

TEST_CASE("error codes survive both directions", "[mpich_values]") {
    CHECK(error_out(MPI_SUCCESS) == 0);
    CHECK(error_out(MPI_ERR_TRUNCATE) == 14);
    CHECK(error_in(14) == MPI_ERR_TRUNCATE);
    CHECK(error_out(MPI_ERR_LASTCODE) == 0x3fffffff);
    // Every code of MPICH, those that a program adds, and those that its functions invent.
    for (int code = 0; code < 200; ++code) CHECK(error_out(error_in(code)) == code);
    for (const int code : {0x40000000, 0x40000123, 4711, 0x3ffffff0})
        CHECK(error_out(error_in(code)) == code);
    for (int code = MPI_ERR_LASTCODE; code < MPI_ERR_LASTCODE + 100; ++code)
        CHECK(error_in(error_out(code)) == code);
    // Classes that MPICH does not have.
    CHECK(error_out(MPI_ERR_ABI) == 15);
}

TEST_CASE("keys of attributes", "[mpich_values]") {
    CHECK(keyval_in(0x64400001) == MPI_TAG_UB);
    CHECK(keyval_out(MPI_TAG_UB) == 0x64400001);
    CHECK(keyval_in(0x24000000) == MPI_KEYVAL_INVALID);
    CHECK(keyval_in(4096) == 4096);
    CHECK(keyval_in(MPI_TAG_UB) == kNoValue);
}

TEST_CASE("lists of constants, and sums of them", "[mpich_values]") {
    CHECK(value_in<kThreadLevel>(3) == MPI_THREAD_MULTIPLE);
    CHECK(value_out<kComparison>(MPI_SIMILAR) == 2);
    CHECK(value_in<kArrayOrder>(56) == MPI_ORDER_C);
    CHECK(value_in<kArrayOrder>(MPI_ORDER_C) == kNoValue);
    CHECK(bits_in<kFileMode>(8 | 1 | 0x10000) == (MPI_MODE_RDWR | MPI_MODE_CREATE | 0x10000));
    CHECK(bits_out<kFileMode>(MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL) == (2 | 256));
    for (int bits = 0; bits < 512; ++bits)
        CHECK(bits_out<kFileMode>(bits_in<kFileMode>(bits)) == bits);
}

TEST_CASE("statuses hold 63 bits of length and the cancelled flag", "[mpich_values]") {
    for (const std::int64_t bytes : {std::int64_t{0}, std::int64_t{1}, std::int64_t{0xffffffff},
                                     std::int64_t{0x100000000}, std::int64_t{0x3fffffffffffffff}})
        for (const bool cancelled : {false, true}) {
            MPI_Status ours{};
            mark_untouched(ours);
            set_status(ours, MPI_PROC_NULL, MPI_ANY_TAG, bytes);
            set_cancelled(ours, cancelled);
            Status theirs{1, 1, 1, 1, 77};
            status_out(ours, theirs);
            CHECK(theirs.source == -1);
            CHECK(theirs.tag == -1);
            CHECK(theirs.error == 77);  // not set
            CHECK((theirs.count_high & 1) == (cancelled ? 1 : 0));
            const MPI_Status again = status_in(theirs);
            CHECK(received_bytes(again) == bytes);
            CHECK(is_cancelled(again) == cancelled);
            CHECK(again.MPI_SOURCE == MPI_PROC_NULL);
            CHECK(again.MPI_TAG == MPI_ANY_TAG);
        }
    MPI_Status ours{};
    mark_untouched(ours);
    Status theirs{1, 2, 3, 4, 5};
    status_out(ours, theirs);
    CHECK((theirs.count_low == 1 && theirs.count_high == 2 && theirs.source == 3 &&
           theirs.tag == 4 && theirs.error == 5));
    CHECK(is_ignored(nullptr));
    CHECK(is_ignored(reinterpret_cast<Status*>(1)));
    CHECK_FALSE(is_ignored(&theirs));
}
