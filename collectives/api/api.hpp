// The bodies of the calls of CCL, shared by the C, by-reference and Fortran forms. All check their
// arguments and return 0 or -1. mpproto.h describes them.
#pragma once

#include <cstddef>

#include "collectives/call/reductions.hpp"
#include "comm/api/caller.hpp"

namespace poe::collectives {

// How a call ends: blocking, or by returning the id of a call under way.
struct Ending {
    bool blocking = true;
    int* id = nullptr;
};
inline constexpr Ending kBlocking;

// api_<name>: the body of each collective call of comm/api/calls.tsv, with the name under which it
// reports errors and the arguments of the C function. An operation has one body for both its forms,
// which gets an Ending.
#include "collectives/api/bodies.inc"

}  // namespace poe::collectives
