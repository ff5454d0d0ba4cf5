// A process in which MPI is initialized, as far as the functions without messages need it. All
// tests of this program share the one Environment.
#pragma once

#include <mpi.h>

#include "mpi/process/environment.hpp"

namespace poe::mpi {

class Process {
  public:
    explicit Process(MPI_Errhandler errhandler = MPI_ERRORS_RETURN) {
        Environment& mpi = environment();
        mpi.task = kTask;
        world_.name = "MPI_COMM_WORLD";
        self_.name = "MPI_COMM_SELF";
        world_.errhandler = self_.errhandler = errhandler;
        mpi.world = &world_;
        mpi.self = &self_;
        mpi.self_has_own_errhandler = false;
        mpi.state = State::kActive;
        mpi.users.fetch_add(1);
    }
    ~Process() {
        Environment& mpi = environment();
        mpi.world = outer_world_;
        mpi.self = outer_self_;
        mpi.state = outer_state_;
        mpi.users.fetch_sub(1);
    }
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    static constexpr TaskId kTask = 5;

    CommBase& self() { return self_; }
    CommBase& world() { return world_; }

  private:
    // What was before, because a test may use a helper that makes a process of its own.
    CommBase* outer_world_ = environment().world;
    CommBase* outer_self_ = environment().self;
    State outer_state_ = environment().state;
    CommBase world_;
    CommBase self_;
};

// A group of these tasks.
inline MPI_Group group_of(std::vector<TaskId> tasks) {
    return environment().make_group(std::make_shared<const Members>(std::move(tasks)));
}

}  // namespace poe::mpi
