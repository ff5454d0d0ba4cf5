// What the bodies of the collective functions share: the three forms of a call, which execute what a
// function of mpi/collective composes.
#pragma once

#include <memory>
#include <mpi.h>
#include <utility>

#include "collectives/engine/process_collectives.hpp"
#include "comm/bootstrap/runtime.hpp"
#include "mpi/api/call.hpp"
#include "mpi/collective/sequence.hpp"
#include "mpi/communicator/comm.hpp"
#include "mpi/point/works.hpp"

namespace poe::mpi {

// Makes a blocking call. Precondition of all three: `comm` was checked.
template <typename Compose>
int complete(Call& call, MPI_Comm comm, Compose&& compose) {
    Sequence sequence(collectives::the_collectives(call.runtime()), *find_comm(comm),
                      Sequence::Form::kImmediate);
    compose(sequence);
    return sequence.ok() ? MPI_SUCCESS : call.fail(sequence.fault());
}

// The same for a reduction, which may call a function of the program.
template <typename Compose>
int complete(Call& call, MPI_Comm comm, MPI_Op op, Compose&& compose) {
    if (find<Operation>(op) == nullptr) return complete(call, comm, compose);
    Sequence sequence(collectives::the_collectives(call.runtime()), *find_comm(comm),
                      Sequence::Form::kImmediate);
    call.outside([&] {
        compose(sequence);
        return 0;
    });
    return sequence.ok() ? MPI_SUCCESS : call.fail(sequence.fault());
}

template <typename Compose>
int record(Call& call, MPI_Comm comm, MPI_Request* request, Sequence::Form form,
           Compose&& compose) {
    Comm& members = *find_comm(comm);
    auto sequence =
        std::make_unique<Sequence>(collectives::the_collectives(call.runtime()), members, form);
    compose(*sequence);
    if (!sequence->ok()) return call.fail(sequence->fault());
    *request = handle_of(make_work(call.runtime().messages(), std::move(sequence), &members,
                                   form == Sequence::Form::kPersistent));
    return MPI_SUCCESS;
}

// Starts a non-blocking call.
template <typename Compose>
int start(Call& call, MPI_Comm comm, MPI_Request* request, Compose&& compose) {
    return record(call, comm, request, Sequence::Form::kOnce, compose);
}

// Makes a persistent request.
template <typename Compose>
int prepare(Call& call, MPI_Comm comm, MPI_Request* request, Compose&& compose) {
    return record(call, comm, request, Sequence::Form::kPersistent, compose);
}

}  // namespace poe::mpi
