// Numbers of communicators; see numbers.hpp.
#include "mpi/communicator/numbers.hpp"

#include <algorithm>

#include "mpi/process/environment.hpp"

namespace poe::mpi {

Fault fill_in(Comm& comm, const CommBase& parent, NewComm made) {
    const bool inter = made.remote != nullptr;
    if (made.number == Reservation::kFailed)
        return {MPI_ERR_PROC_ABORTED, "", "another member of the communicator has failed",
                "look for the first error message of the job"};
    if (made.number < 0 || (inter && made.remote_number < 0))
        return {MPI_ERR_INTERN, "", "the numbers of communicators have run out",
                "make fewer communicators, or duplicate them in turn at different tasks"};
    const int number = inter ? std::min(made.number, made.remote_number) : made.number;
    set_up(comm, made.number, std::move(made.local), std::move(made.remote), context_of(number),
           environment().task, &parent);
    return {};
}

MadeComm make_comm(const CommBase& parent, NewComm made) {
    Comm& comm = comm_pool().make();
    if (Fault fault = fill_in(comm, parent, std::move(made))) {
        comm_pool().release(comm);
        return {nullptr, std::move(fault)};
    }
    return {&comm, {}};
}

}  // namespace poe::mpi
