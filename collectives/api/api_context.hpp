// The first and the last steps of every entry point of the collective operations, on top of
// comm/api/api_call.hpp: to find the one context of the process and the group, and to report why a
// run failed.
#pragma once

#include <string>

#include "collectives/engine/collective_context.hpp"
#include "collectives/engine/process_collectives.hpp"
#include "comm/api/api_call.hpp"

namespace poe::collectives {

// Reports why no collective calls can be made; returns -1.
int refuse_unready(const comm::ApiCall& call, const CollectiveContext& library);
void refuse_group(const comm::ApiCall& call, int gid);
// Returns the group. If there is no such group, or this task is not a member, reports that and
// returns null.
inline Group* group_of(const comm::ApiCall& call, CollectiveContext& library, int gid) {
    Group* group = library.groups().find(gid);
    if (group == nullptr) [[unlikely]]
        refuse_group(call, gid);
    return group;
}
// Reports why the run of a plan failed, and returns an error; returns 0 if it did not fail.
int refuse_outcome(const comm::ApiCall& call, const Plan& plan);
int refuse_outcome(const comm::ApiCall& call, const ExchangeEnd& end);

// Calls work(call, context) in the entry point of this name; returns its result.
template <typename Work>
int in_call(const comm::Caller& name, Work&& work) {
    comm::ApiCall call(name);
    if (!call.ready()) [[unlikely]]
        return call.refuse_unready();
    return call.run([&] {
        CollectiveContext& library = the_collectives(call.runtime());
        if (!library.failure().empty()) [[unlikely]]
            return refuse_unready(call, library);
        return work(call, library);
    });
}

}  // namespace poe::collectives
