// What a task of another MPI library keeps in its own memory, for its daemon to read (mpi/observe writes it,
// partition_manager/daemon/observed_memory.hpp reads it with process_vm_readv). The address is in the task's
// slot. It is consistent while the task stays in one call, which the number of its calls tells.
#pragma once

#include <array>
#include <cstdint>

#include "base/types.hpp"

namespace poe {

// A hash table in one array (mpi/observe/flat_table.hpp).
struct ObservedArray {
    std::uint64_t address = 0;
    std::uint64_t places = 0;
};

// An entry of the tables of messages. Entries with state 0 are empty.
struct ObservedLine {
    std::uint32_t context = 0;
    TaskId peer = 0;
    std::int32_t tag = 0;
    std::uint32_t count = 0;
    std::uint64_t state = 0;
};

// An entry of the table of communicators.
struct ObservedCommEntry {
    std::uint64_t handle = 0;
    std::uint64_t address = 0;  // of an ObservedComm
    std::uint64_t state = 0;
};
struct ObservedComm {
    std::uint32_t context = 0;
    std::uint32_t operations = 0;  // collective operations that this member has begun
};

// What must happen before the call of the task returns. It needs all of them, or one if `one_suffices`.
struct ObservedNeed {
    enum class Kind : std::uint32_t {
        kUnknown,    // anything may end the wait
        kMessage,    // message `number` of the line; 0: any message that fits
        kReceive,    // a receive for message `number` that this task has sent
        kOperation,  // all members begin collective operation `number` of the communicator
        kAll,        // all tasks make the same call
    };
    Kind kind = Kind::kUnknown;
    TaskId peer = -1;       // -1: any
    std::int32_t tag = -1;  // -1: any
    std::uint32_t context = 0;
    std::uint32_t number = 0;
};

struct ObservedTables {
    static constexpr std::uint64_t kMagic = 0x5345'4c42'4154'4f50ull;
    static constexpr std::size_t kMostNeeds = 64;
    static constexpr std::size_t kMostLibraryThreads = 16;

    std::uint64_t magic = kMagic;
    ObservedArray sends;     // of ObservedLine: messages sent
    ObservedArray receives;  // of ObservedLine: receives posted, or ended if they have a wildcard
    ObservedArray comms;     // of ObservedCommEntry
    std::uint64_t wildcards = 0;     // receives with a wildcard that are pending
    std::uint64_t needs_count = 0;   // more than kMostNeeds: unknown
    std::uint64_t one_suffices = 0;  // not 0: the call returns as soon as one need is met
    std::array<ObservedNeed, kMostNeeds> needs{};
    // If several threads may call at the same time (MPI_THREAD_MULTIPLE): what is here is complete only as long as
    // one thread calls, and other threads may end its wait.
    std::uint32_t many_threads = 0;
    std::uint32_t several_callers = 0;  // 1: another thread has called
    std::int32_t caller = 0;            // the id of the thread that calls
    std::uint32_t library_threads_count = 0;
    std::array<std::int32_t, kMostLibraryThreads> library_threads{};  // of the MPI library itself
};

}  // namespace poe
