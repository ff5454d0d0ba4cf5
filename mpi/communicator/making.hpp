// Communicators made from the members of others (MPI 5.0, sections 7.4.2 and 7.6.2): by colour, by
// group, by kind of hardware.
//
// All functions block until the members that they name have made the same call. An argument that is
// wrong at one member becomes a fault at every member of the call, so that no member waits.
#pragma once

#include <cstdint>
#include <string>

#include "comm/bootstrap/runtime.hpp"
#include "mpi/communicator/comm.hpp"
#include "mpi/communicator/numbers.hpp"

namespace poe::mpi {

// MPI_Comm_split. `color` is MPI_UNDEFINED, or not negative. Of an intercommunicator: the members
// of both groups with one color; none if a group has no such member.
MadeComm split(comm::Runtime& runtime, Comm& parent, int color, int key);

// A communicator of the members that take part, in their old order; for topologies. `fault` is what
// is wrong with the arguments of this member: all members then get a fault.
MadeComm take_part(comm::Runtime& runtime, Comm& parent, bool takes_part, const Fault& fault);

// MPI_Comm_split_type. `resource` is the value of mpi_hw_resource_type or mpi_pset_name of the
// info; empty if it has none. For a type of hardware (base/hardware_resources.hpp), tasks on one
// node that are restricted to the same instance get a communicator, and tasks that may use several
// instances get none. The name of a process set of poe gives a communicator to its members only.
// `found`, if not null, receives the resource that MPI_COMM_TYPE_HW_UNGUIDED has found: the largest
// one to which all members are restricted, but not all to the same instance.
MadeComm split_by_type(comm::Runtime& runtime, Comm& parent, int type, int key,
                       const std::string& resource, std::string* found);

// MPI_Comm_create. `group` is null if the member's argument was no group; the member reports that
// itself.
MadeComm create(comm::Runtime& runtime, Comm& parent, const MembersPtr& group);

// MPI_Comm_create_group. The members of `group` call it, and this task is one of them.
MadeComm create_group(comm::Runtime& runtime, Comm& parent, const MembersPtr& group, int tag);

}  // namespace poe::mpi
