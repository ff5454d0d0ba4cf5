// See foreign_library.hpp. The numbers are facts of the libraries' headers: Open MPI 4 and 5, MPICH
// from 3.1 on (the MPICH ABI), MPI 5.0 (chapter 20).
#include "mpi/observe/foreign_library.hpp"

#include <cstring>
#include <dlfcn.h>
#include <string_view>

namespace poe::observe {
namespace {

Word address(void* object) noexcept {
    return reinterpret_cast<Word>(object);
}

template <typename Integer>
Integer read(const void* status, std::size_t offset) noexcept {
    Integer value;
    std::memcpy(&value, static_cast<const char*>(status) + offset, sizeof value);
    return value;
}

// True if the function is in a library whose name the standard prescribes for its ABI.
bool is_standard(void* function) noexcept {
    Dl_info info = {};
    if (::dladdr(function, &info) == 0 || info.dli_fname == nullptr) return false;
    const std::string_view path = info.dli_fname;
    return path.substr(path.rfind('/') + 1).starts_with("libmpi_abi.so");
}

}  // namespace

std::optional<ForeignLibrary> ForeignLibrary::recognize(Find find) {
    ForeignLibrary library;
    library.find_functions(find);
    if (library.comm_rank_ == nullptr) return std::nullopt;
    if (void* world = find("ompi_mpi_comm_world")) {
        // Handles are addresses of objects. If a program has copies of them, the name leads to
        // these.
        library.name_ = "Open MPI";
        library.layout_ = Layout::kOpenMpi;
        library.comm_world = address(world);
        library.comm_null = address(find("ompi_mpi_comm_null"));
        library.request_null = address(find("ompi_request_null"));
        library.type_null = address(find("ompi_mpi_datatype_null"));
        library.byte_ = address(find("ompi_mpi_byte"));
        library.proc_null = -2;
        library.status_bytes = 24;
    } else if (is_standard(library.comm_rank_)) {
        library.name_ = "a library of the standard's ABI";
        library.layout_ = Layout::kStandard;
        library.comm_null = 0x100;
        library.comm_world = 0x101;
        library.request_null = 0x180;
        library.type_null = 0x200;
        library.byte_ = 0x247;
        library.proc_null = -3;
        library.any_tag = -2;
        library.thread_multiple_ = 4096;
        library.cart_ = 211;
        library.graph_ = 212;
        library.status_bytes = 32;
    } else {
        library.name_ = "MPICH";
        library.layout_ = Layout::kMpich;
        library.wide_handles_ = false;
        library.comm_null = 0x04000000;
        library.comm_world = 0x44000000;
        library.request_null = 0x2c000000;
        library.type_null = 0x0c000000;
        library.byte_ = 0x4c00010d;
        library.in_place = ~Word{0};
        library.status_ignore = 1;
        library.any_source = -2;
        library.proc_null = -1;
        library.root = -3;
        library.cart_ = 2;
        library.graph_ = 1;
        library.status_bytes = 20;
    }
    return library;
}

void ForeignLibrary::find_functions(Find find) {
    comm_rank_ = find("PMPI_Comm_rank");
    comm_size_ = find("PMPI_Comm_size");
    comm_group_ = find("PMPI_Comm_group");
    comm_remote_group_ = find("PMPI_Comm_remote_group");
    comm_test_inter_ = find("PMPI_Comm_test_inter");
    comm_get_name_ = find("PMPI_Comm_get_name");
    win_get_name_ = find("PMPI_Win_get_name");
    group_size_ = find("PMPI_Group_size");
    group_translate_ = find("PMPI_Group_translate_ranks");
    group_free_ = find("PMPI_Group_free");
    type_size_ = find("PMPI_Type_size");
    get_count_ = find("PMPI_Get_count");
    test_cancelled_ = find("PMPI_Test_cancelled");
    query_thread_ = find("PMPI_Query_thread");
    topo_test_ = find("PMPI_Topo_test");
    cart_dimensions_ = find("PMPI_Cartdim_get");
    graph_neighbors_ = find("PMPI_Graph_neighbors_count");
    dist_graph_neighbors_ = find("PMPI_Dist_graph_neighbors_count");
}

template <typename... Arguments>
int ForeignLibrary::call(void* function, Arguments... arguments) const noexcept {
    // Words and addresses are passed alike; a handle of 32 bits is the lower half of its word.
    return reinterpret_cast<int (*)(Arguments...)>(function)(arguments...);
}

Arrival ForeignLibrary::arrival(const void* statuses, std::size_t index) const noexcept {
    const void* status = static_cast<const char*>(statuses) + index * status_bytes;
    switch (layout_) {
        case Layout::kOpenMpi:
            return {read<int>(status, 0), read<int>(status, 4), read<std::uint64_t>(status, 16),
                    read<int>(status, 12) != 0};
        case Layout::kMpich: {
            // The lowest bit of the upper word says whether the operation was cancelled.
            const auto upper = read<std::uint32_t>(status, 4);
            const auto count = std::uint64_t{upper >> 1} << 32 | read<std::uint32_t>(status, 0);
            return {read<int>(status, 8), read<int>(status, 12), count, (upper & 1) != 0};
        }
        case Layout::kStandard:
            break;
    }
    int bytes = 0;
    int cancelled = 0;
    call(get_count_, status, byte_, &bytes);
    call(test_cancelled_, status, &cancelled);
    return {read<int>(status, 0), read<int>(status, 4), bytes > 0 ? Bytes(bytes) : 0,
            cancelled != 0};
}

Bytes ForeignLibrary::type_size(Word type) const noexcept {
    if (type == type_null || type == 0) return 0;
    int size = 0;
    if (call(type_size_, type, &size) != 0 || size < 0) return 0;
    return static_cast<Bytes>(size);
}

int ForeignLibrary::rank(Word comm) const noexcept {
    int rank = -1;
    call(comm_rank_, comm, &rank);
    return rank;
}

int ForeignLibrary::size(Word comm) const noexcept {
    int size = 0;
    call(comm_size_, comm, &size);
    return size;
}

bool ForeignLibrary::is_inter(Word comm) const noexcept {
    int inter = 0;
    call(comm_test_inter_, comm, &inter);
    return inter != 0;
}

std::vector<int> ForeignLibrary::world_ranks(Word comm, bool remote) const {
    Word group = 0;
    if (call(remote ? comm_remote_group_ : comm_group_, comm, &group) != 0) return {};
    std::vector<int> ranks = ranks_of_group(handle(static_cast<long>(group)));
    call(group_free_, &group);
    return ranks;
}

std::vector<int> ForeignLibrary::ranks_of_group(Word group) const {
    Word world = 0;
    if (call(comm_group_, comm_world, &world) != 0) return {};
    int size = 0;
    call(group_size_, group, &size);
    std::vector<int> own(static_cast<std::size_t>(size));
    std::vector<int> ranks(own.size(), -1);
    for (int i = 0; i < size; ++i) own[static_cast<std::size_t>(i)] = i;
    if (size > 0)
        call(group_translate_, group, size, own.data(), handle(static_cast<long>(world)),
             ranks.data());
    for (int& rank : ranks)
        if (rank < 0) rank = -1;
    call(group_free_, &world);
    return ranks;
}

std::size_t ForeignLibrary::neighbors(Word comm) const noexcept {
    int topology = 0;
    int count = 0;
    if (call(topo_test_, comm, &topology) != 0) return 0;
    if (topology == cart_) {
        if (call(cart_dimensions_, comm, &count) != 0) return 0;
        count *= 2;
    } else if (topology == graph_) {
        if (call(graph_neighbors_, comm, rank(comm), &count) != 0) return 0;
    } else {
        int incoming = 0;
        int weighted = 0;
        if (call(dist_graph_neighbors_, comm, &incoming, &count, &weighted) != 0) return 0;
    }
    return count > 0 ? static_cast<std::size_t>(count) : 0;
}

std::string ForeignLibrary::comm_name(Word comm) const {
    char text[1024] = {};
    int length = 0;
    if (call(comm_get_name_, comm, text, &length) != 0) return {};
    return {text, ::strnlen(text, sizeof text)};
}

std::string ForeignLibrary::window_name(Word window) const {
    char text[1024] = {};
    int length = 0;
    if (win_get_name_ == nullptr || call(win_get_name_, window, text, &length) != 0) return {};
    return {text, ::strnlen(text, sizeof text)};
}

bool ForeignLibrary::many_threads() const noexcept {
    int level = 0;
    if (query_thread_ == nullptr || call(query_thread_, &level) != 0) return false;
    return level == thread_multiple_;
}

}  // namespace poe::observe
