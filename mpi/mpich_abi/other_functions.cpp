// Functions that need neither our library nor more than a line: versions, names, handles as
// integers, and the lengths of arrays.
#include <algorithm>
#include <cstring>

#include "mpi/mpich_abi/arguments.hpp"
#include "mpi/mpich_abi/by_hand.hpp"

namespace poe::mpi::mpich {

// The version of MPI that MPICH 4.0 has, whose functions and constants this interface has.
int get_version(int* version, int* subversion) {
    *version = 4;
    *subversion = 0;
    return MPI_SUCCESS;
}

// Our names may be longer than the program's variable.
int get_processor_name(char* name, int* resultlen) {
    char ours[MPI_MAX_PROCESSOR_NAME];
    int length = 0;
    const int code = library.Get_processor_name(name == nullptr ? nullptr : ours,
                                                resultlen == nullptr ? nullptr : &length);
    if (code != MPI_SUCCESS) return finish(code);
    length = std::min(length, kMaxProcessorName - 1);
    std::memcpy(name, ours, static_cast<std::size_t>(length));
    name[length] = '\0';
    *resultlen = length;
    return MPI_SUCCESS;
}

int pcontrol(int level) {
    return finish(library.Pcontrol(level));
}

int refuse(int comm) {
    library.Comm_call_errhandler(handle_in<MPI_Comm>(comm), MPI_ERR_UNSUPPORTED_OPERATION);
    return finish(MPI_ERR_UNSUPPORTED_OPERATION);
}

// A handle is an integer, except that of a file.
#define HANDLE(name)                  \
    int name##_fromint(int integer) { \
        return integer;               \
    }                                 \
    int name##_toint(int handle) {    \
        return handle;                \
    }
HANDLE(comm)
HANDLE(errhandler)
HANDLE(group)
HANDLE(info)
HANDLE(message)
HANDLE(op)
HANDLE(request)
HANDLE(session)
HANDLE(type)
HANDLE(win)
#undef HANDLE

File file_fromint(int file) {
    return file == 0 ? nullptr : file_out(library.File_fromint(file));
}
int file_toint(File file) {
    return file == nullptr ? 0 : library.File_toint(file_in(file));
}

int remote_size(int comm) {
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

int sending(const void* sendbuf, int comm) {
    return reinterpret_cast<std::intptr_t>(sendbuf) == kInPlace ? 0 : remote_size(comm);
}

namespace {

struct Neighbors {
    int in = 0;
    int out = 0;
};

Neighbors neighbors(int comm) {
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

int in_neighbors(int comm) {
    return neighbors(comm).in;
}
int out_neighbors(int comm) {
    return neighbors(comm).out;
}

// There are no kinds of events, so nothing of what they would set or call is converted.
int t_event_get_info(int event_index, char*, int*, int*, int[], MPI_Aint[], int*, MPI_T_enum*, int*,
                     char*, int*, int*) {
    return finish(library.T_event_get_info(event_index, nullptr, nullptr, nullptr, nullptr, nullptr,
                                           nullptr, nullptr, nullptr, nullptr, nullptr, nullptr));
}
int t_event_handle_free(MPI_T_event_registration registration, void*, Function) {
    return finish(library.T_event_handle_free(registration, nullptr, nullptr));
}
int t_event_register_callback(MPI_T_event_registration registration, MPI_T_cb_safety safety, int,
                              void*, Function) {
    return finish(
        library.T_event_register_callback(registration, safety, MPI_INFO_NULL, nullptr, nullptr));
}
int t_event_set_dropped_handler(MPI_T_event_registration registration, Function) {
    return finish(library.T_event_set_dropped_handler(registration, nullptr));
}

}  // namespace poe::mpi::mpich
