// What every entry point of the collective library does first and last, on top of
// comm/api/api_call.hpp: find the one library of the process, the group, and say what went wrong with a
// run.
#pragma once

#include <string>

#include "collectives/engine/collective_context.hpp"
#include "comm/api/api_call.hpp"

namespace poe::collectives {

// Made at the first call; never destroyed.
CollectiveContext& the_collectives(comm::Runtime& runtime);

// Says why no collective calls can be made, and answers -1.
int refuse_unready(const comm::ApiCall& call, const CollectiveContext& library);
void refuse_group(const comm::ApiCall& call, int gid);
// The group, or null after saying that there is none of which this task is a member.
inline Group* group_of(const comm::ApiCall& call, CollectiveContext& library, int gid) {
    Group* group = library.groups().find(gid);
    if (group == nullptr) [[unlikely]]
        refuse_group(call, gid);
    return group;
}
// Says what went wrong with a plan's run; 0 when nothing did.
int refuse_outcome(const comm::ApiCall& call, const Plan& plan);

// Calls work(call, library) in an entry point of that name.
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
