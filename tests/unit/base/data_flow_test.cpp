// The data flow of collective calls, by their names.
#include "base/data_flow.hpp"

#include <catch2/catch.hpp>

using namespace poe;

TEST_CASE("the name of a call tells its data flow") {
    for (const char* name : {"mpc_sync", "MPI_Barrier", "MPI_Ibarrier", "MPI_Barrier_init",
                             "MPI_Finalize", "MPI_Win_free"})
        CHECK(data_flow_of(name) == DataFlow::kBarrier);
    CHECK(data_flow_of("MPI_Win_fence") == DataFlow::kFence);
    for (const char* name : {"mpc_bcast", "MPI_Bcast_init", "MPI_Scatterv_init", "MPI_Iscatter"})
        CHECK(data_flow_of(name) == DataFlow::kOneToAll);
    for (const char* name : {"mpc_reduce", "MPI_Reduce_init", "MPI_Gatherv_init", "mpc_gather"})
        CHECK(data_flow_of(name) == DataFlow::kAllToOne);
    for (const char* name : {"mpc_prefix", "MPI_Exscan_init", "MPI_Scan"})
        CHECK(data_flow_of(name) == DataFlow::kPrefix);
    for (const char* name : {"mpc_index", "MPI_Alltoallw_init", "MPI_Allreduce", "MPI_Iallgather",
                             "MPI_Reduce_scatter_block_init", "MPI_Neighbor_allgather_init",
                             "MPI_Comm_dup", "MPI_File_write_all"})
        CHECK(data_flow_of(name) == DataFlow::kAllToAll);
}
