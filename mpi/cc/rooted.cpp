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

Arguments bcast_of(MPIX_CC_BCAST_ARGUMENTS, MPI_Comm) {
    return std::move(Arguments()
                         .add("buffer", buffer)
                         .add("count", count)
                         .add("datatype", datatype)
                         .add("root", root));
}
Arguments scatter_of(MPIX_CC_SCATTER_ARGUMENTS, MPI_Comm) {
    return std::move(Arguments()
                         .add("sendcount", sendcount)
                         .add("recvcount", recvcount)
                         .add("root", root)
                         .add("sendtype", sendtype)
                         .add("recvtype", recvtype)
                         .add("sendbuf", sendbuf)
                         .add("recvbuf", recvbuf));
}
Arguments scatterv_of(MPIX_CC_SCATTERV_ARGUMENTS, MPI_Comm comm) {
    const int blocks = blocks_at(comm, root);
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
Arguments gatherv_of(MPIX_CC_GATHERV_ARGUMENTS, MPI_Comm comm) {
    const int blocks = blocks_at(comm, root);
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
Arguments reduce_of(MPIX_CC_REDUCE_ARGUMENTS, MPI_Comm) {
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

// The names of the parameters of each kind of operation.
#define BCAST_NAMES buffer, count, datatype, root
#define SCATTER_NAMES sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root
#define SCATTERV_NAMES sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root
#define GATHERV_NAMES sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root
#define REDUCE_NAMES sendbuf, recvbuf, count, datatype, op, root

// The three functions of an operation, which has the parameters of this kind.
#define ROOTED_FUNCTIONS(Operation, KIND, arguments_of)                                            \
    int MPIX_##Operation##_open_group(MPIX_CC_##KIND##_ARGUMENTS, MPI_Comm comm, MPIX_Cc* group) { \
        return open(#Operation, comm, arguments_of(KIND##_NAMES, comm), group,                     \
                    [&](MPI_Request* request) {                                                    \
                        return MPI_##Operation##_init(KIND##_NAMES, comm, MPI_INFO_NULL, request); \
                    });                                                                            \
    }                                                                                              \
    int MPIX_##Operation##_data_movement(MPIX_CC_##KIND##_ARGUMENTS, MPI_Comm comm,                \
                                         MPIX_Cc group) {                                          \
        return move(#Operation, comm, arguments_of(KIND##_NAMES, comm), group);                    \
    }                                                                                              \
    int MPIX_##Operation##_close_group(MPIX_Cc* group) {                                           \
        return close(group, #Operation);                                                           \
    }

ROOTED_FUNCTIONS(Bcast, BCAST, bcast_of)
ROOTED_FUNCTIONS(Scatter, SCATTER, scatter_of)
ROOTED_FUNCTIONS(Scatterv, SCATTERV, scatterv_of)
ROOTED_FUNCTIONS(Gather, SCATTER, scatter_of)
ROOTED_FUNCTIONS(Gatherv, GATHERV, gatherv_of)
ROOTED_FUNCTIONS(Reduce, REDUCE, reduce_of)

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
