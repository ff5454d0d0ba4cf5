// What all fast paths share (quick_calls.hpp): the turn to use the message layer, and the bytes of
// simple elements.
#pragma once

#include <exception>
#include <mpi.h>

#include "mpi/api/call_turn.hpp"
#include "mpi/api/kept_exception.hpp"
#include "mpi/communicator/comm.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/table/functions.hpp"
#include "mpi/window/at_once.hpp"

namespace poe::mpi::quick {

// Calls work(runtime) in a turn of its own; false if that is not possible. `work` does not throw.
template <typename Work>
inline bool in_turn(Work&& work) {
    CallTurn turn;
    turn.take();
    return turn.is_held() && may_be_at_once() && work(*turn.runtime());
}

// What watchers see of a call that may wait: the function, and where the program has called it.
struct CallPlace {
    Function function;
    const void* site;
};

// Calls work(runtime), which may send and receive messages, in a turn of its own; false if that is
// not possible, or if `work` throws.
template <typename Work>
inline bool with_messages(Work&& work) {
    return in_turn([&](comm::Runtime& runtime) {
        try {
            return runtime.failure().empty() && work(runtime);
        } catch (const std::exception&) {
            keep_exception();
            return false;
        }
    });
}

// Calls work(runtime, comm) in a turn of its own; false if that is not possible.
template <typename Work>
inline bool with_comm(MPI_Comm handle, Work&& work) {
    return with_messages([&](comm::Runtime& runtime) {
        Comm* const comm = find_comm(handle);
        return comm != nullptr && work(runtime, *comm);
    });
}

// The bytes of this many elements without gaps; 0 if there are none, or if the elements are not so
// simple.
inline Bytes plain_bytes(MPI_Count count, MPI_Datatype type) noexcept {
    const Bytes element = bytes_without_gaps(value_of(type));
    Bytes bytes = 0;
    return count > 0 && !__builtin_mul_overflow(count, element, &bytes) ? bytes : 0;
}

}  // namespace poe::mpi::quick
