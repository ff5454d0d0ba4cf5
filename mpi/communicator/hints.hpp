// The hints of a communicator (MPI 5.0, section 7.4.4). A hint that is not known is ignored. The
// known ones are assertions, which the library may use and need not.
#pragma once

#include <span>
#include <string_view>

#include "mpi/communicator/comm.hpp"
#include "mpi/object/info.hpp"

namespace poe::mpi {

// Adds those entries of `info` whose keys are in `known` to `hints`, replacing older values.
// `hints` is made at the first such entry, and the caller owns it. Null: there are none.
void add_known_hints(MPI_Info& hints, std::span<const std::string_view> known, const Info* info);

// Adds the known hints of `info` to those of the communicator, replacing older values. Null: none.
void add_hints(Comm& comm, const Info* info);

// Copies the hints of the communicator to `info`.
void copy_hints(const Comm& comm, Info& info);

}  // namespace poe::mpi
