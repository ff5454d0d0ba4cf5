// Strings, and the lengths of arrays.
#include "mpi/fortran/convert.hpp"

#include <algorithm>

namespace poe::mpi::fortran {

std::string text(const char* first, std::size_t length) {
    while (length > 0 && first[length - 1] == ' ') --length;
    return {first, length};
}

std::string trimmed(const char* first, std::size_t length) {
    std::string whole = text(first, length);
    whole.erase(0, std::min(whole.find_first_not_of(' '), whole.size()));
    return whole;
}

void copy_text(const char* from, char* to, std::size_t length) noexcept {
    const std::size_t copied = std::min(std::strlen(from), length);
    std::memcpy(to, from, copied);
    std::memset(to + copied, ' ', length - copied);
}

Texts::Texts(const char* first, std::size_t length, int count, std::size_t step)
    : is_null_(is_argv_null(first)) {
    if (is_null_) return;
    for (int i = 0; i != count; ++i, first += step) {
        std::string one = text(first, length);
        if (count == kUntilBlank && one.empty()) break;
        texts_.push_back(std::move(one));
    }
    for (std::string& one : texts_) pointers_.push_back(one.data());
    pointers_.push_back(nullptr);
}

TextRows::TextRows(const char* first, std::size_t length, int count)
    : is_null_(is_argvs_null(first)) {
    if (is_null_ || count <= 0) return;
    const auto rows = static_cast<std::size_t>(count);
    rows_.reserve(rows);
    // The first index of a matrix varies fastest.
    for (std::size_t i = 0; i < rows; ++i)
        rows_.emplace_back(first + i * length, length, kUntilBlank, rows * length);
    for (Texts& row : rows_) pointers_.push_back(row);
}

int remote_size(const int* comm) {
    const auto handle = from_fortran<MPI_Comm>(*comm);
    int inter = 0;
    int size = 0;
    if (handle == MPI_COMM_NULL || PMPI_Comm_test_inter(handle, &inter) != MPI_SUCCESS) return 0;
    if (inter != 0)
        PMPI_Comm_remote_size(handle, &size);
    else
        PMPI_Comm_size(handle, &size);
    return size;
}

int sending(const void* sendbuf, const int* comm) {
    return is_in_place(sendbuf) ? 0 : remote_size(comm);
}

namespace {

struct Neighbors {
    int in = 0;
    int out = 0;
};

Neighbors neighbors(const int* comm) {
    const auto handle = from_fortran<MPI_Comm>(*comm);
    Neighbors found;
    int topology = MPI_UNDEFINED;
    if (handle == MPI_COMM_NULL || PMPI_Topo_test(handle, &topology) != MPI_SUCCESS) return found;
    if (topology == MPI_CART) {
        PMPI_Cartdim_get(handle, &found.in);
        found.out = found.in *= 2;
    } else if (topology == MPI_GRAPH) {
        int rank = 0;
        PMPI_Comm_rank(handle, &rank);
        PMPI_Graph_neighbors_count(handle, rank, &found.in);
        found.out = found.in;
    } else if (topology == MPI_DIST_GRAPH) {
        int weighted = 0;
        PMPI_Dist_graph_neighbors_count(handle, &found.in, &found.out, &weighted);
    }
    return found;
}

}  // namespace

int in_neighbors(const int* comm) {
    return neighbors(comm).in;
}
int out_neighbors(const int* comm) {
    return neighbors(comm).out;
}

}  // namespace poe::mpi::fortran
