// Communicators: what the observer knows of the communicators of a foreign library. Each has a
// number that all its members compute alike and without messages, so that calls and messages of
// different tasks can be brought together.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/contexts.hpp"
#include "base/types.hpp"
#include "mpi/observe/flat_table.hpp"
#include "mpi/observe/foreign_library.hpp"

namespace poe::observe {

struct Communicator : ObservedComm {
    Word handle = 0;
    std::string name;
    bool inter = false;
    int own_rank = 0;         // of this task in its group
    std::size_t members = 0;  // with which data are exchanged: of the remote group, if there is one
    std::size_t own_members = 0;  // of the task's own group
    // The task of each rank that a message may go to or come from; -1: not a task of this job.
    // Empty: rank and task are the same number.
    std::vector<TaskId> tasks;
    std::vector<TaskId> own_tasks;  // of an intercommunicator: its local group
    // Of a window: what MPI_Win_complete will wait for at the end of the current access epoch, and
    // MPI_Win_wait at the end of the current exposure epoch.
    std::vector<ObservedNeed> access;
    std::vector<ObservedNeed> exposure;

    // -1 if the rank is none, as MPI_PROC_NULL is.
    TaskId task(int rank) const noexcept {
        if (rank < 0) return -1;
        if (tasks.empty()) return rank;
        return static_cast<std::size_t>(rank) < tasks.size() ? tasks[static_cast<std::size_t>(rank)]
                                                             : -1;
    }
    // This task, as a member of an intercommunicator.
    TaskId own_task() const noexcept {
        const auto rank = static_cast<std::size_t>(own_rank);
        return rank < own_tasks.size() ? own_tasks[rank] : -1;
    }
};

// Not for several threads.
class Communicators {
  public:
    // `tasks`: of the job. `world_task`: task of a rank of MPI_COMM_WORLD if this world is one task
    // alone; -1: its ranks are the tasks of the job.
    Communicators(const ForeignLibrary& library, TaskId world_task, ObservedArray* raw);

    // The communicator of this handle; null for the null handle. One that was made by a call that
    // is not observed becomes known here.
    Communicator* find(Word handle) { return handle == last_handle_ ? last_ : find_other(handle); }
    // A call on `parent` has made this communicator.
    void made(Word handle, const Communicator* parent);
    // True if MPI_COMM_WORLD is this task alone, while the job has others.
    bool is_alone() const noexcept { return world_task_ >= 0; }
    // Returns the communicator; null: it is not known.
    const Communicator* renamed(Word handle);
    // The handle is not valid any more. The communicator exists until the process ends, because
    // operations of it may still be pending.
    void freed(Word handle);
    // For the tasks of `parent`, with a number of its own: what a window or a file is to the
    // observer. Exists until the process ends. `kind` is the same for all windows, and for all
    // files.
    Communicator* derived(const Communicator& parent, const char* kind);

  private:
    Communicator* find_other(Word handle);
    Communicator* add(Word handle, ContextId parent);
    ContextId next_context(std::uint64_t sum);

    const ForeignLibrary& library_;
    const TaskId world_task_;
    static_assert(FlatTable<Word, std::unique_ptr<Communicator>>::kEntryBytes ==
                  sizeof(ObservedCommEntry));
    FlatTable<Word, std::unique_ptr<Communicator>> known_;
    std::vector<std::unique_ptr<Communicator>> kept_;  // that have no handle here
    Word last_handle_;
    Communicator* last_ = nullptr;
    // How many communicators with this parent and these members exist so far.
    std::map<std::uint64_t, std::uint32_t> generations_;
};

}  // namespace poe::observe
