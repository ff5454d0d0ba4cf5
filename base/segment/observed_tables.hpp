// The tables of a task of another MPI library, in the task's own memory, for its daemon
// (mpi/observe writes them, partition_manager/daemon/observed_memory.hpp reads them with
// process_vm_readv). Their address is in the task's slot. The tables change only when a call begins
// or ends. TaskSlot::calls is the number of calls that the task has begun, so a reader that finds
// the same number before and after has read a consistent state. If several threads may call,
// TaskSlot::calls is instead incremented before and after each change of the tables, so it is odd
// during a change.
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

// An entry of the tables of communicators, windows and files.
struct ObservedCommEntry {
    std::uint64_t handle = 0;
    std::uint64_t address = 0;  // of an ObservedComm
    std::uint64_t state = 0;
};
struct ObservedComm {
    std::uint32_t context = 0;
    std::uint32_t operations = 0;  // collective operations that this member has begun
};

// One event that must happen before a call returns (ObservedWait).
struct ObservedNeed {
    enum class Kind : std::uint32_t {
        kUnknown,        // anything may end the wait
        kMessage,        // message `number` of the line; 0: any message that fits
        kReceive,        // a receive for message `number` that this task has sent
        kOperation,      // all members begin collective operation `number` of the communicator
        kFileOperation,  // the same of a file, if the call is not busy with the file itself
        kAll,            // all tasks make the same call
    };
    // Tags of windows: a task opens its window for the receiver, or ends its access to the
    // receiver's window.
    static constexpr std::int32_t kWindowOpens = 0x7ffffff0;
    static constexpr std::int32_t kAccessEnds = 0x7ffffff1;

    Kind kind = Kind::kUnknown;
    TaskId peer = -1;       // -1: any
    std::int32_t tag = -1;  // -1: any
    std::uint32_t context = 0;
    std::uint32_t number = 0;
    bool operator==(const ObservedNeed&) const = default;
};

// The events that must happen before one call returns: all of them, or one if `one_suffices`.
struct ObservedWait {
    static constexpr std::size_t kMostNeeds = 64;

    std::uint64_t needs_count = 0;   // more than kMostNeeds: unknown
    std::uint64_t one_suffices = 0;  // not 0: the call returns as soon as one need is met
    std::array<ObservedNeed, kMostNeeds> needs{};
};

// A thread that is in a call. If only one thread may call, the first entry has only the thread's
// wait, because the slot shows its call.
struct ObservedCaller {
    static constexpr std::size_t kNameBytes = 32;

    std::int32_t thread = 0;  // its id; 0: the entry is not in use
    std::uint32_t inside =
        0;                   // the call that the thread is in; 0: none, and the rest is meaningless
    std::int32_t peer = -1;  // the following as in TaskActivity
    std::int32_t tag = -1;
    std::uint64_t bytes = 0;
    std::uint64_t site = 0;
    std::uint32_t context = 0;
    std::array<char, kNameBytes> communicator{};  // its name, cut if it is long
    ObservedWait wait;
};

struct ObservedTables {
    static constexpr std::uint64_t kMagic = 0x5345'4c42'4154'4f51ull;
    static constexpr std::size_t kMostLibraryThreads = 16;
    static constexpr std::size_t kMostCallers = 64;

    std::uint64_t magic = kMagic;
    ObservedArray sends;     // of ObservedLine: messages sent
    ObservedArray receives;  // of ObservedLine: receives posted, or ended if they have a wildcard
    ObservedArray comms;     // of ObservedCommEntry, as the following two
    ObservedArray windows;
    ObservedArray files;
    std::uint64_t wildcards = 0;  // receives with a wildcard that are pending
    std::array<ObservedCaller, kMostCallers> callers{};

    // The following are used only if several threads may call at the same time
    // (MPI_THREAD_MULTIPLE).
    std::uint32_t many_threads = 0;
    std::uint32_t too_many_callers = 0;  // 1: there were more than kMostCallers at a time
    // The receives that have ended, as elements of type ObservedLine. Two threads that post
    // receives on the same line may count them in different orders, so a receive proves that its
    // message has been taken only when the receive has ended.
    ObservedArray ended;
    std::uint32_t library_threads_count = 0;
    std::array<std::int32_t, kMostLibraryThreads> library_threads{};  // of the MPI library itself
};

}  // namespace poe
