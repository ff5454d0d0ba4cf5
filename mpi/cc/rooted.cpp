// Groups of rooted operations: persistent collective operations of MPI with their own names. The
// schedule is computed when the group is opened; data are moved by MPI_Start and MPI_Wait.
#include "mpi/cc/groups.hpp"

namespace poe::mpi::cc {
namespace {

struct RootedGroup final : Group {
    RootedGroup(const char* its_operation, MPI_Comm its_comm, Arguments its_arguments)
        : Group(its_operation, its_comm), arguments(std::move(its_arguments)) {}
    ~RootedGroup() override {
        if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
    }
    Arguments arguments;
    MPI_Request request = MPI_REQUEST_NULL;
};

// The number of blocks that count at this member: all at the root, none elsewhere.
int blocks_at(MPI_Comm comm, int root) {
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    return rank == root ? size : 0;
}

template <typename Init>
int open(const char* operation, MPI_Comm comm, Arguments arguments, MPIX_Cc* group,
         const Init& init) {
    const std::string function = std::string(operation) + "_open_group";
    if (group == nullptr)
        return refuse(comm, function, "the pointer to the group is null",
                      "give the address of a handle");
    *group = MPIX_CC_NULL;
    auto made = std::make_unique<RootedGroup>(operation, comm, std::move(arguments));
    const int code = init(&made->request);
    if (code != MPI_SUCCESS) return code;
    *group = keep(std::move(made));
    return MPI_SUCCESS;
}

int move(const char* operation, MPI_Comm comm, const Arguments& arguments, MPIX_Cc handle) {
    const std::string function = std::string(operation) + "_data_movement";
    int code = MPI_SUCCESS;
    auto* group = static_cast<RootedGroup*>(find(handle, operation, function.c_str(), comm, code));
    if (group == nullptr) return code;
    if (const char* differs = group->arguments.difference(arguments))
        return refuse(comm, function,
                      std::string(differs) + " is not that with which group " +
                          std::to_string(handle) + " was opened",
                      "open another group for other buffers or lengths");
    code = MPI_Start(&group->request);
    return code == MPI_SUCCESS ? MPI_Wait(&group->request, MPI_STATUS_IGNORE) : code;
}

Arguments bcast_of(MPIX_CC_BCAST_ARGUMENTS) {
    return std::move(Arguments()
                         .add("buffer", buffer)
                         .add("count", count)
                         .add("datatype", datatype)
                         .add("root", root));
}
Arguments scatter_of(MPIX_CC_SCATTER_ARGUMENTS) {
    return std::move(Arguments()
                         .add("sendcount", sendcount)
                         .add("recvcount", recvcount)
                         .add("root", root)
                         .add("sendtype", sendtype)
                         .add("recvtype", recvtype)
                         .add("sendbuf", sendbuf)
                         .add("recvbuf", recvbuf));
}
Arguments scatterv_of(MPIX_CC_SCATTERV_ARGUMENTS, int blocks) {
    return std::move(Arguments()
                         .add("sendcounts", sendcounts, blocks)
                         .add("displs", displs, blocks)
                         .add("recvcount", recvcount)
                         .add("root", root)
                         .add("sendtype", sendtype)
                         .add("recvtype", recvtype)
                         .add("sendbuf", sendbuf)
                         .add("recvbuf", recvbuf));
}
Arguments gatherv_of(MPIX_CC_GATHERV_ARGUMENTS, int blocks) {
    return std::move(Arguments()
                         .add("recvcounts", recvcounts, blocks)
                         .add("displs", displs, blocks)
                         .add("sendcount", sendcount)
                         .add("root", root)
                         .add("sendtype", sendtype)
                         .add("recvtype", recvtype)
                         .add("sendbuf", sendbuf)
                         .add("recvbuf", recvbuf));
}
Arguments reduce_of(MPIX_CC_REDUCE_ARGUMENTS) {
    return std::move(Arguments()
                         .add("count", count)
                         .add("datatype", datatype)
                         .add("op", op)
                         .add("root", root)
                         .add("sendbuf", sendbuf)
                         .add("recvbuf", recvbuf));
}

}  // namespace
}  // namespace poe::mpi::cc

using namespace poe::mpi::cc;

int MPIX_Bcast_open_group(MPIX_CC_BCAST_ARGUMENTS, MPI_Comm comm, MPIX_Cc* group) {
    return open(
        "Bcast", comm, bcast_of(buffer, count, datatype, root), group, [&](MPI_Request* request) {
            return MPI_Bcast_init(buffer, count, datatype, root, comm, MPI_INFO_NULL, request);
        });
}
int MPIX_Bcast_data_movement(MPIX_CC_BCAST_ARGUMENTS, MPI_Comm comm, MPIX_Cc group) {
    return move("Bcast", comm, bcast_of(buffer, count, datatype, root), group);
}
int MPIX_Bcast_close_group(MPIX_Cc* group) {
    return close(group, "Bcast");
}

int MPIX_Scatter_open_group(MPIX_CC_SCATTER_ARGUMENTS, MPI_Comm comm, MPIX_Cc* group) {
    return open("Scatter", comm,
                scatter_of(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root), group,
                [&](MPI_Request* request) {
                    return MPI_Scatter_init(sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                            recvtype, root, comm, MPI_INFO_NULL, request);
                });
}
int MPIX_Scatter_data_movement(MPIX_CC_SCATTER_ARGUMENTS, MPI_Comm comm, MPIX_Cc group) {
    return move("Scatter", comm,
                scatter_of(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root),
                group);
}
int MPIX_Scatter_close_group(MPIX_Cc* group) {
    return close(group, "Scatter");
}

int MPIX_Scatterv_open_group(MPIX_CC_SCATTERV_ARGUMENTS, MPI_Comm comm, MPIX_Cc* group) {
    return open("Scatterv", comm,
                scatterv_of(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype,
                            root, blocks_at(comm, root)),
                group, [&](MPI_Request* request) {
                    return MPI_Scatterv_init(sendbuf, sendcounts, displs, sendtype, recvbuf,
                                             recvcount, recvtype, root, comm, MPI_INFO_NULL,
                                             request);
                });
}
int MPIX_Scatterv_data_movement(MPIX_CC_SCATTERV_ARGUMENTS, MPI_Comm comm, MPIX_Cc group) {
    return move("Scatterv", comm,
                scatterv_of(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype,
                            root, blocks_at(comm, root)),
                group);
}
int MPIX_Scatterv_close_group(MPIX_Cc* group) {
    return close(group, "Scatterv");
}
int MPIX_Scatterv_dynamic(MPIX_CC_SCATTERV_ARGUMENTS, MPI_Comm comm) {
    MPIX_Cc group = MPIX_CC_NULL;
    int code = MPIX_Scatterv_open_group(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount,
                                        recvtype, root, comm, &group);
    if (code != MPI_SUCCESS) return code;
    code = MPIX_Scatterv_data_movement(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount,
                                       recvtype, root, comm, group);
    const int closed = MPIX_Scatterv_close_group(&group);
    return code != MPI_SUCCESS ? code : closed;
}

int MPIX_Gather_open_group(MPIX_CC_SCATTER_ARGUMENTS, MPI_Comm comm, MPIX_Cc* group) {
    return open("Gather", comm,
                scatter_of(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root), group,
                [&](MPI_Request* request) {
                    return MPI_Gather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                           recvtype, root, comm, MPI_INFO_NULL, request);
                });
}
int MPIX_Gather_data_movement(MPIX_CC_SCATTER_ARGUMENTS, MPI_Comm comm, MPIX_Cc group) {
    return move("Gather", comm,
                scatter_of(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root),
                group);
}
int MPIX_Gather_close_group(MPIX_Cc* group) {
    return close(group, "Gather");
}

int MPIX_Gatherv_open_group(MPIX_CC_GATHERV_ARGUMENTS, MPI_Comm comm, MPIX_Cc* group) {
    return open("Gatherv", comm,
                gatherv_of(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                           root, blocks_at(comm, root)),
                group, [&](MPI_Request* request) {
                    return MPI_Gatherv_init(sendbuf, sendcount, sendtype, recvbuf, recvcounts,
                                            displs, recvtype, root, comm, MPI_INFO_NULL, request);
                });
}
int MPIX_Gatherv_data_movement(MPIX_CC_GATHERV_ARGUMENTS, MPI_Comm comm, MPIX_Cc group) {
    return move("Gatherv", comm,
                gatherv_of(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                           root, blocks_at(comm, root)),
                group);
}
int MPIX_Gatherv_close_group(MPIX_Cc* group) {
    return close(group, "Gatherv");
}

int MPIX_Reduce_open_group(MPIX_CC_REDUCE_ARGUMENTS, MPI_Comm comm, MPIX_Cc* group) {
    return open("Reduce", comm, reduce_of(sendbuf, recvbuf, count, datatype, op, root), group,
                [&](MPI_Request* request) {
                    return MPI_Reduce_init(sendbuf, recvbuf, count, datatype, op, root, comm,
                                           MPI_INFO_NULL, request);
                });
}
int MPIX_Reduce_data_movement(MPIX_CC_REDUCE_ARGUMENTS, MPI_Comm comm, MPIX_Cc group) {
    return move("Reduce", comm, reduce_of(sendbuf, recvbuf, count, datatype, op, root), group);
}
int MPIX_Reduce_close_group(MPIX_Cc* group) {
    return close(group, "Reduce");
}
