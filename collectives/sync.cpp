// mpc_sync and its algorithm; see sync.hpp.
#include "collectives/sync.hpp"

#include "comm/api_call.hpp"
#include "comm/mpproto.h"

namespace poe::collectives {

comm::Outcome sync_all(comm::MessageLayer& messages, TaskId me, std::uint32_t tasks, TaskId& peer) {
    const auto own = static_cast<std::uint32_t>(me);
    std::int32_t round = 0;
    for (std::uint64_t distance = 1; distance < tasks; distance *= 2, ++round) {
        const auto to = static_cast<TaskId>((own + distance) % tasks);
        const auto from = static_cast<TaskId>((own + tasks - distance) % tasks);
        peer = to;
        comm::Outcome outcome = messages.send({}, to, round, comm::Context::kCollective);
        if (outcome != comm::Outcome::kDone) return outcome;
        peer = from;
        outcome = messages.receive({}, {comm::Context::kCollective, from, round}).outcome;
        if (outcome != comm::Outcome::kDone) return outcome;
    }
    return comm::Outcome::kDone;
}

namespace {

int api_sync(const char* name, int gid) {
    comm::ApiCall call(name);
    if (!call.ready()) return call.refuse_unready();
    if (gid != ALLGRP) {
        return call.refuse(comm::MplError::kGroup, "there is no group " + std::to_string(gid),
                           "the group of all tasks is ALLGRP (0)");
    }
    comm::Runtime& runtime = call.runtime();
    call.doing(Call::kSync, TaskDoing::kAnyPeer, gid, 0);
    return call.run([&] {
        TaskId peer = 0;
        const comm::Outcome outcome =
            sync_all(runtime.messages(), runtime.task(), runtime.tasks(), peer);
        return outcome == comm::Outcome::kDone ? 0 : call.refuse(outcome, peer);
    });
}

}  // namespace
}  // namespace poe::collectives

extern "C" {

MPL_EXPORT int mpc_sync(int gid) {
    return poe::collectives::api_sync("mpc_sync", gid);
}

MPL_EXPORT int mp_sync(int* gid) {
    return poe::collectives::api_sync("mp_sync", gid != nullptr ? *gid : -1);
}

MPL_EXPORT void mp_sync_(int* gid) {
    mp_sync(gid);
}

}  // extern "C"
