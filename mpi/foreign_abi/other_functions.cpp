// Spawning, the version, and the lengths of arrays.
#include <algorithm>
#include <cstring>
#include <vector>

#include "mpi/foreign_abi/arguments.hpp"
#include "mpi/foreign_abi/by_hand.hpp"

namespace poe::mpi::foreign {

// The version of MPI whose functions and constants this interface has.
int get_version(int* version, int* subversion) {
    *version = kVersion;
    *subversion = kSubversion;
    return MPI_SUCCESS;
}

// The codes are set at the root, and at the other members of the communicator if they are
// MPI_SUCCESS, whose number is the same in both interfaces. Only the root knows how many there are.
template <typename Spawn>
int spawn(int root, Theirs<MPI_Comm> comm, int total, Theirs<MPI_Comm>* intercomm, int* codes,
          const Spawn& spawn_ours) {
    MPI_Comm made = MPI_COMM_NULL;
    const int code = spawn_ours(intercomm == nullptr ? nullptr : &made);
    int rank = -1;
    if (code != MPI_SUCCESS && codes != nullptr &&
        library.Comm_rank(handle_in<MPI_Comm>(comm), &rank) == MPI_SUCCESS && rank == root)
        std::transform(codes, codes + total, codes, [](int each) { return error_out(each); });
    if (intercomm != nullptr) *intercomm = handle_out(made);
    return finish(code);
}

int comm_spawn(const char* command, char** argv, int maxprocs, Theirs<MPI_Info> info, int root,
               Theirs<MPI_Comm> comm, Theirs<MPI_Comm>* intercomm, int* array_of_errcodes) {
    return spawn(
        root, comm, std::max(maxprocs, 0), intercomm, array_of_errcodes, [&](MPI_Comm* made) {
            return library.Comm_spawn(command, argv, maxprocs, handle_in<MPI_Info>(info), root,
                                      handle_in<MPI_Comm>(comm), made, array_of_errcodes);
        });
}

// Arrays are significant at the root only.
int comm_spawn_multiple(int count, char** array_of_commands, char*** array_of_argv,
                        const int* array_of_maxprocs, const Theirs<MPI_Info>* array_of_info,
                        int root, Theirs<MPI_Comm> comm, Theirs<MPI_Comm>* intercomm,
                        int* array_of_errcodes) {
    int rank = -1;
    const bool is_root =
        library.Comm_rank(handle_in<MPI_Comm>(comm), &rank) == MPI_SUCCESS && rank == root;
    std::vector<MPI_Info> infos;
    int total = 0;
    for (int i = 0; is_root && i < count; ++i) {
        if (array_of_info != nullptr) infos.push_back(handle_in<MPI_Info>(array_of_info[i]));
        if (array_of_maxprocs != nullptr) total += std::max(array_of_maxprocs[i], 0);
    }
    return spawn(root, comm, total, intercomm, array_of_errcodes, [&](MPI_Comm* made) {
        return library.Comm_spawn_multiple(count, array_of_commands, array_of_argv,
                                           array_of_maxprocs,
                                           infos.empty() ? nullptr : infos.data(), root,
                                           handle_in<MPI_Comm>(comm), made, array_of_errcodes);
    });
}

int pcontrol(int level) {
    return finish(library.Pcontrol(level));
}

int refuse(Theirs<MPI_Comm> comm) {
    library.Comm_call_errhandler(handle_in<MPI_Comm>(comm), MPI_ERR_UNSUPPORTED_OPERATION);
    return finish(MPI_ERR_UNSUPPORTED_OPERATION);
}

int remote_size(Theirs<MPI_Comm> comm) {
    const auto ours = handle_in<MPI_Comm>(comm);
    int inter = 0;
    int size = 0;
    if (ours == nullptr || ours == MPI_COMM_NULL ||
        library.Comm_test_inter(ours, &inter) != MPI_SUCCESS)
        return 0;
    if (inter != 0)
        library.Comm_remote_size(ours, &size);
    else
        library.Comm_size(ours, &size);
    return size;
}

int sending(const void* sendbuf, Theirs<MPI_Comm> comm) {
    return reinterpret_cast<std::intptr_t>(sendbuf) == kInPlace ? 0 : remote_size(comm);
}

namespace {

struct Neighbors {
    int in = 0;
    int out = 0;
};

Neighbors neighbors(Theirs<MPI_Comm> comm) {
    const auto ours = handle_in<MPI_Comm>(comm);
    Neighbors found;
    int topology = MPI_UNDEFINED;
    if (ours == nullptr || ours == MPI_COMM_NULL ||
        library.Topo_test(ours, &topology) != MPI_SUCCESS)
        return found;
    if (topology == MPI_CART) {
        library.Cartdim_get(ours, &found.in);
        found.out = found.in *= 2;
    } else if (topology == MPI_GRAPH) {
        int rank = 0;
        library.Comm_rank(ours, &rank);
        library.Graph_neighbors_count(ours, rank, &found.in);
        found.out = found.in;
    } else if (topology == MPI_DIST_GRAPH) {
        int weighted = 0;
        library.Dist_graph_neighbors_count(ours, &found.in, &found.out, &weighted);
    }
    return found;
}

}  // namespace

int in_neighbors(Theirs<MPI_Comm> comm) {
    return neighbors(comm).in;
}
int out_neighbors(Theirs<MPI_Comm> comm) {
    return neighbors(comm).out;
}

}  // namespace poe::mpi::foreign
