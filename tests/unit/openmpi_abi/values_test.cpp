// Ranks, tags, error codes and statuses of Open MPI's binary interface.
#include "mpi/foreign_abi/values.hpp"

#include <set>

#include <catch2/catch.hpp>

#include "mpi/foreign_abi/statuses.hpp"

using namespace poe::mpi;
using namespace poe::mpi::foreign;

TEST_CASE("ranks and tags keep their meaning, and invalid ones stay invalid", "[openmpi_values]") {
    const std::set<int> special{MPI_ANY_SOURCE, MPI_PROC_NULL, MPI_ROOT};
    std::set<int> found;
    for (int rank = -100; rank < 100; ++rank) {
        const int ours = rank_in(rank);
        if (special.count(ours) != 0) {
            found.insert(ours);
            CHECK(rank_out(ours) == rank);
        }
        if (rank >= 0) CHECK(ours == rank);
    }
    CHECK(found == special);
    CHECK(rank_in(-1) == MPI_ANY_SOURCE);
    CHECK(rank_in(-2) == MPI_PROC_NULL);
    CHECK(rank_in(-4) == MPI_ROOT);
    CHECK(rank_in(-3) < 0);
    CHECK(special.count(rank_in(-3)) == 0);
    CHECK(rank_in(MPI_UNDEFINED) == MPI_UNDEFINED);
    CHECK(tag_in(-1) == MPI_ANY_TAG);
    CHECK(tag_out(MPI_ANY_TAG) == -1);
    CHECK(tag_in(-2) != MPI_ANY_TAG);
}

TEST_CASE("error codes survive both directions", "[openmpi_values]") {
    CHECK(error_out(MPI_SUCCESS) == 0);
    CHECK(error_out(MPI_ERR_TRUNCATE) == 15);
    CHECK(error_in(15) == MPI_ERR_TRUNCATE);
    CHECK(error_out(MPI_ERR_LASTCODE) == kErrLastcode);
    for (int code = 0; code < 54; ++code) CHECK(error_out(error_in(code)) == code);
    CHECK(error_out(error_in(kErrLastcode + 5)) == kErrLastcode + 5);
}

TEST_CASE("a status survives both directions", "[openmpi_values]") {
    Status status = empty_status();
    CHECK(status.source == -1);
    status = {-2, 7, 15, 1, 0x123456789aul};
    const MPI_Status ours = status_in(status);
    CHECK(ours.MPI_SOURCE == MPI_PROC_NULL);
    CHECK(ours.MPI_ERROR == MPI_ERR_TRUNCATE);
    Status back{};
    status_out(ours, back);
    CHECK(back.source == -2);
    CHECK(back.tag == 7);
    CHECK(back.error == 15);
    CHECK(back.cancelled == 1);
    CHECK(back.bytes == 0x123456789aul);
    // What a call has not set stays.
    MPI_Status untouched{};
    mark_untouched(untouched);
    status_out(untouched, back);
    CHECK(back.tag == 7);
    CHECK(back.error == 15);
}
