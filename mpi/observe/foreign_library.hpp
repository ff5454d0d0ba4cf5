// ForeignLibrary: what differs between the binary interfaces of MPI libraries (how handles,
// statuses and special values look), and those functions of the library that the observer itself
// calls. Every handle is a word here: an address in Open MPI and in the standard's ABI, an int in
// MPICH's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/types.hpp"

namespace poe::observe {

using Word = unsigned long;

// A status after it was read.
struct Arrival {
    int source = 0;
    int tag = 0;
    Bytes bytes = 0;
    bool cancelled = false;
};

class ForeignLibrary {
  public:
    using Find = void* (*)(const char* name);

    // Recognizes Open MPI, libraries of MPICH's ABI, and libraries of the standard's ABI. Returns
    // nothing for any other library. `find` returns the address of the library's function or object
    // with that name.
    static std::optional<ForeignLibrary> recognize(Find find);

    const char* name() const noexcept { return name_; }

    // Special values. The default is that of most libraries.
    Word comm_world = 0;
    Word comm_null = 0;
    Word request_null = 0;
    Word type_null = 0;
    Word in_place = 1;
    Word status_ignore = 0;  // also MPI_STATUSES_IGNORE
    int any_source = -1;
    int any_tag = -1;
    int proc_null = 0;
    int root = -4;  // MPI_ROOT
    std::size_t status_bytes = 0;

    // A handle that was passed as an argument, or that is at this address.
    Word handle(long argument) const noexcept {
        return wide_handles_ ? static_cast<Word>(argument) : static_cast<std::uint32_t>(argument);
    }
    // A handle of a file, which is an address in every library.
    static Word file_handle(long argument) noexcept { return static_cast<Word>(argument); }
    static Word file_handle_at(const void* address) noexcept {
        return *static_cast<const Word*>(address);
    }
    Word handle_at(const void* address, std::size_t index = 0) const noexcept {
        return wide_handles_ ? static_cast<const Word*>(address)[index]
                             : static_cast<const std::uint32_t*>(address)[index];
    }
    // Reads status `index` of an array.
    Arrival arrival(const void* statuses, std::size_t index = 0) const noexcept;

    // The following functions ask the library. They may be called only for handles that the library
    // has accepted in a call, because for others it may end the program.

    // The size of an element in bytes; 0 for MPI_DATATYPE_NULL.
    Bytes type_size(Word type) const noexcept;
    int rank(Word comm) const noexcept;
    int size(Word comm) const noexcept;
    bool is_inter(Word comm) const noexcept;
    // The rank in MPI_COMM_WORLD of each member of the communicator's group, or of its remote
    // group; -1: the member does not belong to it.
    std::vector<int> world_ranks(Word comm, bool remote) const;
    // The number of tasks to which this task sends in a neighborhood collective call.
    std::size_t neighbors(Word comm) const noexcept;
    std::string comm_name(Word comm) const;
    std::string window_name(Word window) const;
    // The rank in MPI_COMM_WORLD of each member of the group, as world_ranks.
    std::vector<int> ranks_of_group(Word group) const;
    // True if several threads may call at the same time (MPI_THREAD_MULTIPLE).
    bool many_threads() const noexcept;

  private:
    enum class Layout : std::uint8_t { kOpenMpi, kMpich, kStandard };
    template <typename... Arguments>
    int call(void* function, Arguments... arguments) const noexcept;
    void find_functions(Find find);

    const char* name_ = "";
    Layout layout_ = Layout::kOpenMpi;
    bool wide_handles_ = true;
    Word byte_ = 0;
    int thread_multiple_ = 3;
    void* comm_rank_ = nullptr;
    void* comm_size_ = nullptr;
    void* comm_group_ = nullptr;
    void* comm_remote_group_ = nullptr;
    void* comm_test_inter_ = nullptr;
    void* comm_get_name_ = nullptr;
    void* win_get_name_ = nullptr;
    void* group_size_ = nullptr;
    void* group_translate_ = nullptr;
    void* group_free_ = nullptr;
    void* type_size_ = nullptr;
    void* get_count_ = nullptr;
    void* test_cancelled_ = nullptr;
    void* query_thread_ = nullptr;
    void* topo_test_ = nullptr;
    void* cart_dimensions_ = nullptr;
    void* graph_neighbors_ = nullptr;
    void* dist_graph_neighbors_ = nullptr;
    int cart_ = 1;  // values of MPI_Topo_test
    int graph_ = 2;
};

}  // namespace poe::observe
