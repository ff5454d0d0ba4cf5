// What the bodies of the collective functions share: the three forms of a call, which execute what
// a function of mpi/collective composes.
#pragma once

#include <memory>
#include <mpi.h>
#include <utility>

#include "collectives/engine/process_collectives.hpp"
#include "comm/bootstrap/runtime.hpp"
#include "mpi/api/checked_call.hpp"
#include "mpi/api/request_call.hpp"
#include "mpi/collective/sequence.hpp"
#include "mpi/communicator/comm.hpp"
#include "mpi/point/works.hpp"

namespace poe::mpi {

// Makes a blocking call. Precondition of all three: `comm` was checked. `root` is the argument of
// the function.
template <typename Compose>
int complete(Call& call, MPI_Comm comm, Compose&& compose, int root = kNoRoot) {
    Comm& members = *find_comm(comm);
    VisibleCollective visible(call, members, root);
    if (environment().checking) [[unlikely]]
        return complete_checked(call, members, compose);
    Fault fault;
    // The sequence ends before an error handler is called, which may free the communicator.
    {
        Sequence sequence(collectives::the_collectives(call.runtime()), members,
                          Sequence::Form::kImmediate);
        compose(sequence);
        visible.moved(sequence.bytes());
        if (sequence.ok()) return MPI_SUCCESS;
        fault = sequence.fault();
    }
    return call.fail(fault);
}

// The same for a reduction, which may call a function of the program.
template <typename Compose>
int complete_reduction(Call& call, MPI_Comm comm, MPI_Op op, Compose&& compose,
                       int root = kNoRoot) {
    if (find<Operation>(op) == nullptr) return complete(call, comm, compose, root);
    // The function is called while the members exchange messages, that is inside of the call.
    if (environment().checking) [[unlikely]]
        return call.outside([&] { return complete(call, comm, compose, root); });
    return complete(
        call, comm,
        [&](Sequence& sequence) {
            call.outside([&] {
                compose(sequence);
                return 0;
            });
        },
        root);
}

// Makes the request of a call that does not block.
template <typename Compose>
Request* make_collective(Call& call, Comm& members, Sequence::Form form, Compose&& compose) {
    Fault fault;
    // The sequence ends before an error handler is called, which may free the communicator.
    {
        Sequence sequence(collectives::the_collectives(call.runtime()), members, form);
        compose(sequence);
        if (sequence.ok())
            return &make_work(call.runtime(), sequence.recording(), &members,
                              form == Sequence::Form::kPersistent);
        fault = sequence.fault();
    }
    call.fail(fault);
    return nullptr;
}

// Starts a non-blocking call.
template <typename Compose>
int start(Call& call, MPI_Comm comm, MPI_Request* request, Compose&& compose, int root = kNoRoot) {
    Comm& members = *find_comm(comm);
    Noted noted(call, about_all_of(members));
    const std::uint32_t operation = note_start(noted, members, facts_of(members, root));
    Request* made = environment().checking
                        ? start_checked(call, members, compose)
                        : make_collective(call, members, Sequence::Form::kOnce, compose);
    if (made == nullptr) return call.code();
    made->operation = operation;
    *request = handle_of(*made);
    return MPI_SUCCESS;
}

// Makes a persistent request.
template <typename Compose>
int prepare(Call& call, MPI_Comm comm, MPI_Request* request, Compose&& compose,
            int root = kNoRoot) {
    Comm& members = *find_comm(comm);
    Request* made = environment().checking
                        ? prepare_checked(call, members, compose)
                        : make_collective(call, members, Sequence::Form::kPersistent, compose);
    if (made == nullptr) return call.code();
    made->facts = facts_of(members, root, data_flow_of(call_name(call_of(call.function()))));
    *request = handle_of(*made);
    return MPI_SUCCESS;
}

}  // namespace poe::mpi
