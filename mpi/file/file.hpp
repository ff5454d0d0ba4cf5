// File: an open file of a group of tasks (MPI 5.0, chapter 14). Each member has a descriptor of its
// own.
//
// A file has a communicator of its own, whose number makes the contexts of its messages. All
// functions of this room are for the thread that has the turn.
#pragma once

#include <cstdint>
#include <memory>
#include <mpi.h>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include "base/contexts.hpp"
#include "base/unique_fd.hpp"
#include "mpi/communicator/comm.hpp"
#include "mpi/file/hints.hpp"
#include "mpi/file/view.hpp"
#include "mpi/object/error_handler.hpp"
#include "mpi/object/fault.hpp"
#include "mpi/object/info.hpp"
#include "mpi/point/request.hpp"
#include "mpi/window/target_type.hpp"

namespace poe::mpi {

class SharedPointer;  // shared_pointer.hpp

// The context of the data of collective calls: bits that are added to the context of the file's
// communicator and that no communicator uses.
inline constexpr ContextId kFileDataContext = 0x90000000u;

// The view of another member, as an aggregator knows it.
struct MemberView {
    TargetType type;  // owns the tree of `stream`
    Stream stream;
};

// Memory for a part of the file that an aggregator reads or writes for all members.
struct FileWindow {
    // Begins with a page, as windows in files usually do: then the kernel copies fast
    // (base/copy_block.hpp).
    static constexpr std::align_val_t kPlace{kPage};
    struct Free {
        void operator()(std::byte* memory) const noexcept { ::operator delete[](memory, kPlace); }
    };

    std::unique_ptr<std::byte[], Free> data;
    std::unique_ptr<std::byte[]> covered;  // for each byte: 0 or 0xff; null until a write needs it
    Bytes bytes = 0;
};

struct File final : ErrorHandlerOwner {
    Comm* comm = nullptr;  // owned
    std::string name;
    int amode = 0;
    UniqueFd descriptor;
    bool on_network = false;  // the file system is shared with other computers that keep caches
    bool atomic = false;
    mutable std::mutex locking;  // see FileLock (transfer.hpp)
    // With several threads: one of them is in system calls of an access of its own, without the
    // turn. The others begin theirs later, because they have the file pointer in common
    // (threads.hpp).
    bool in_use = false;
    MPI_Info info = MPI_INFO_NULL;  // the hints; owned
    FileHints hints;

    // A collective access in progress keeps the view with which it was started.
    std::shared_ptr<const View> view = initial_view();
    Bytes position = 0;  // the individual file pointer, in bytes of the stream
    // Null: the file has only one member, and `own_pointer` is the shared file pointer.
    std::shared_ptr<SharedPointer> shared;
    std::int64_t own_pointer = 0;  // in etypes

    // The members that read and write for all in collective calls, by rank.
    std::vector<int> aggregators;
    // If this task is one of them: the views of all members, by rank. Null: all have the initial
    // view.
    std::shared_ptr<const std::vector<MemberView>> member_views;
    std::uint32_t collective_calls = 0;  // the same at all members
    // Kept from the last collective access, because new memory costs more than the copies into it.
    // `covered` is all 0.
    FileWindow spare_window;
    // The request of a split collective call that has begun; null: none. `split_name` says which.
    Request* split = nullptr;
    const char* split_name = "";
    const void* split_buffer = nullptr;
    Bytes split_position = 0;
    bool split_individual = false;  // it moves the individual file pointer
    bool split_reads = false;

    int rank() const noexcept { return comm->rank; }
    int size() const noexcept { return comm->size(); }
    bool readable() const noexcept { return (amode & MPI_MODE_WRONLY) == 0; }
    bool writable() const noexcept { return (amode & MPI_MODE_RDONLY) == 0; }
    bool sequential() const noexcept { return (amode & MPI_MODE_SEQUENTIAL) != 0; }

    void reset() noexcept;
};

Pool<File>& file_pool() noexcept;

inline File* find_file(MPI_File handle) noexcept {
    return find<File>(handle);
}
inline MPI_File handle_of(File& file) noexcept {
    return handle_of<MPI_File>(static_cast<Object&>(file));
}

// The fault of a system call on a file that has failed with `error`, an errno. `doing` is for
// instance "cannot open"; the message names the file and the task.
Fault system_fault(int error, const char* doing, const std::string& name);

}  // namespace poe::mpi
