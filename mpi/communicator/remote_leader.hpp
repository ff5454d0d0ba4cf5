// How the leader of a group reaches that of another one, to connect both groups (intercomm.hpp).
#pragma once

#include <functional>
#include <utility>

#include "comm/bootstrap/runtime.hpp"
#include "mpi/communicator/exchange.hpp"
#include "mpi/object/fault.hpp"

namespace poe::mpi {

// The way to the other group: significant at the leader only.
struct RemoteLeader {
    // Gives words to the other leader, which makes the same call, and takes its words. Blocks.
    std::function<Fault(const Words& given, Words& taken)> swap;
    bool in_job = false;  // the other leader is known to belong to this job
    Fault fault;  // what is wrong with these arguments; the members of the own group learn of it
};

// By messages, whose route is the same at both leaders. The runtime must outlive the result.
inline RemoteLeader remote_leader(comm::Runtime& runtime, TaskId task, Route route,
                                  Fault fault = {}) {
    return {[&runtime, task, route](const Words& given, Words& taken) {
                return swap_words(runtime, task, route, given, taken);
            },
            !runtime.is_guest(task), std::move(fault)};
}

}  // namespace poe::mpi
