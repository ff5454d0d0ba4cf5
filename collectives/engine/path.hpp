// Path: a mechanism for blocking calls. The table of paths (paths.cpp) has a row for each
// mechanism, and the schedule of messages is one row. Only select() chooses the path of a call.
#pragma once

#include <optional>
#include <span>

#include "base/collective_progress.hpp"
#include "collectives/call/call.hpp"
#include "collectives/call/groups.hpp"
#include "collectives/selection/cost_model.hpp"

namespace poe::collectives {

class CollectiveContext;
class GroupSegment;
class Plan;
struct Path;

// What was decided for calls of one shape on one group.
struct SelectedPath {
    const Path* path = nullptr;
    GroupSegment* segment = nullptr;  // the shared memory that the path uses, if any
    bool sync_first = false;    // in barrier mode: the path itself does not wait for all members
    bool non_temporal = false;  // long data that take half of the last-level caches or more
};

// One call on the path that was selected for it.
struct PathCall {
    CollectiveContext& context;
    Group& group;
    const SelectedPath& selected;
    const CollectiveCall& call;
};

// The maximum number of rows of the table of paths.
inline constexpr std::size_t kMostPaths = 16;

struct Path {
    const char* name;
    Transport transport;
    // True if the path can make such calls. A call takes the first row that supports it, so a
    // faster path has an earlier row. Depends on the arguments only, so all members decide alike.
    // `barrier`: no member may finish before all have begun.
    bool (*supports)(const Shape& shape, bool barrier);
    // Finds the memory that the path needs for such calls, and stores it in `selected`. False: the
    // group does not have it. All members call this at the same call and get the same answer. The
    // first call of its kind blocks.
    bool (*prepare)(CollectiveContext& context, Group& group, const Shape& shape,
                    SelectedPath& selected);
    // True if what a member gives may be in the memory of its result, as MPI_IN_PLACE has it: the
    // path writes no part of a result before it has copied what is given there.
    bool (*in_place)(const Shape& shape);
    // Makes the call; blocks. Returns the plan that was run, or that failed; null if the call
    // succeeded without a plan of its own.
    Plan* (*run)(const PathCall& call);
    // What displays call it.
    CollectivePath kind = CollectivePath::kUnknown;
};

// Returns the first path by this transport that supports the shape, and for which
// `prepare(path, selected)` is true. Empty: there is none.
template <typename Prepare>
std::optional<SelectedPath> find_path(std::span<const Path> table, const Shape& shape, bool barrier,
                                      Transport transport, const Prepare& prepare) {
    for (const Path& path : table) {
        if (path.transport != transport || !path.supports(shape, barrier)) continue;
        SelectedPath selected{&path};
        if (prepare(path, selected)) return selected;
    }
    return std::nullopt;
}

// Returns the path for such calls if this transport is wanted. If the group cannot use it, another
// transport is used: shared memory for single copy and the reverse, and messages if neither is
// possible, or if the group cannot multicast. The last row of the table must support all calls and
// need nothing.
template <typename Prepare>
SelectedPath select(std::span<const Path> table, const Shape& shape, bool barrier, Transport wanted,
                    const Prepare& prepare) {
    if (wanted == Transport::kMulticast) {
        if (const auto found = find_path(table, shape, barrier, wanted, prepare)) return *found;
    } else if (wanted != Transport::kMessages) {
        const Transport other =
            wanted == Transport::kShared ? Transport::kDirect : Transport::kShared;
        for (const Transport transport : {wanted, other}) {
            if (const auto found = find_path(table, shape, barrier, transport, prepare))
                return *found;
        }
    }
    return *find_path(table, shape, barrier, Transport::kMessages, prepare);
}

}  // namespace poe::collectives
