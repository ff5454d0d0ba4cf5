// The collective library of one task: its groups, its modes, the non-blocking calls under way. The
// entry points (api_*.cpp) check arguments and call this.
//
// One thread at a time, as all of MPL.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collectives/call/call.hpp"
#include "collectives/call/groups.hpp"
#include "collectives/engine/group_state.hpp"
#include "collectives/engine/plan.hpp"
#include "collectives/selection/chooser.hpp"
#include "collectives/selection/default_path.hpp"
#include "comm/bootstrap/runtime.hpp"

namespace poe::collectives {

// A non-blocking call that has not been waited for.
struct Running {
    int id = 0;
    Plan* plan = nullptr;
    Group* group = nullptr;
    std::uint32_t sequence = 0;
    std::uint32_t number = 0;  // of the call in its group
};

class CollectiveContext {
  public:
    using Variables = std::function<const char*(const char*)>;
    // Makes calls in two levels, on a group whose members are on those nodes.
    using LevelsMaker = std::unique_ptr<CallPath> (*)(CollectiveContext&, Group&,
                                                      std::vector<std::uint32_t> nodes);

    // Reads MP_CCL_MODE, MP_EUIDEVELOP and MP_COLL_*; and MP_TUNING or MP_TUNEFILE when the first
    // algorithm is chosen. `runtime` must outlive it. `make_levels`: hierarchical_calls.hpp.
    CollectiveContext(comm::Runtime& runtime, const Variables& variables, LevelsMaker make_levels);

    // What is wrong with the variables; empty when nothing is.
    const std::string& failure() const noexcept { return failure_; }
    bool develop() const noexcept { return develop_; }
    bool barrier() const noexcept { return barrier_; }
    Groups& groups() noexcept { return groups_; }

    // Whether blocking calls on that group can be made in shared memory, or by reaching into each
    // other's; null: they cannot. The first call that could use any finds out, which blocks until
    // the members have heard of it.
    ShmCollectives* possible_local(Group& group, const Shape& shape);
    SingleCopyCalls* possible_direct(Group& group, const Shape& shape);
    // The way that a blocking call on that group takes: the one that is asked for, else the fastest
    // of those that are possible, as far as anybody knows.
    Transport transport_for(Group& group, const Shape& shape) {
        return route_for(group, shape).transport;
    }
    // Makes the call, in the fastest way. Null when there were no messages, or the plan that was
    // run, or that went wrong. Blocking.
    Plan* run_blocking(Group& group, const CollectiveCall& call);
    // The algorithm of a call by messages. `placed` says where ranks are.
    Choice choice_for(const Shape& placed);
    // Whether that is the one in two levels.
    bool in_two_levels(const Shape& placed);
    // The plan to run for a call on that group, built at the first call of its shape.
    Plan& plan_for(Group& group, const CollectiveCall& call);
    // What messages cost, as far as anybody has said.
    const Tuning& tuning() { return tuning_ ? *tuning_ : take_tuning(); }
    // The node of each member, as schedules want to know it (Shape::nodes).
    std::vector<std::uint32_t> nodes_of(const Group& group) const;
    // The type of the messages of the group's next call, or of a round of our own. It was that of a
    // call kCallsAtOnce before, so it blocks while that one is under way.
    std::int32_t next_type(Group& group);
    // Begins one that plan_for has given, with the next type.
    void begin(Group& group, Plan& plan, Run run);

    // Whether the algorithm for an irregular index is one that has to know the lengths of all
    // members' blocks: only those asked for by name (MP_COLL_INDEX) are.
    bool needs_whole_matrix(const Shape& shape) {
        return !shape.matrix.empty() && whole_matrix_wanted(shape);
    }
    // All rows of an irregular index's matrix, from each member's own. Blocking; null or the plan
    // that went wrong.
    Plan* allgather_counts(Group& group, std::vector<Bytes>& matrix);
    // Sends `bytes` at `own` to all members and has those of all in rank order at `all`, with
    // messages of that type. Blocking; null or the plan that went wrong.
    Plan* allgather_internal(Group& group, const void* own, void* all, Bytes bytes,
                             std::int32_t type);
    // The `value` of rank 0 to all members. Blocking; likewise.
    Plan* bcast_internal(Group& group, std::uint32_t& value, std::int32_t type);

    // Non-blocking calls.
    Running& add_running(Group& group, Plan& plan);
    Running* find_running(int id) noexcept;
    bool in_use(const Group& group) const noexcept;
    void finish(Running& running);
    // Goes on with it without waiting; true: it has ended.
    bool advance(Running& running);
    void end(Running& running);
    // Moves all of them on; if not `users_functions`, only those that reduce with no function of
    // the user's. Never blocks.
    bool advance_all(bool users_functions);

    // Memory of the last irregular call's shape, for the next one.
    std::vector<Bytes>& spare_offsets() noexcept { return spare_offsets_; }
    std::vector<Bytes>& spare_matrix() noexcept { return spare_matrix_; }

    comm::MessageLayer& messages() noexcept { return runtime_.messages(); }

  private:
    void read_modes(const Variables& variables);
    ShmCollectives* memory_of(Group& group);
    CallPath* levels_for(Group& group, const Shape& shape);
    const Tuning& take_tuning();
    // How blocking calls of a shape on a group are made. Short calls cost less than finding out, so
    // what was found is kept, at a place that follows from the shape.
    struct Route {
        // What it depends on, beside the group's members. Only regular calls have one that is kept.
        bool is_for(const Group& its_group, const Shape& shape) const noexcept {
            return bytes == shape.bytes && gid == its_group.gid && operation == shape.operation &&
                   element == shape.element && commutative == shape.commutative &&
                   exact == shape.exact && shape.is_regular();
        }
        Bytes bytes = 0;
        Bytes element = 0;
        int gid = -1;
        Operation operation = Operation::kSync;
        bool commutative = false;
        bool exact = false;
        Transport transport = Transport::kMessages;
        bool by_name = false;         // an algorithm is asked for, and fits: Way::kMessages
        ShmCollectives::Route local;  // Way::kShared only
    };
    const Route& route_for(Group& group, const Shape& shape) {
        const auto number = static_cast<std::size_t>(group.gid) * 7 +
                            static_cast<std::size_t>(shape.operation) +
                            shape.bytes / 8 * kOperations;
        Route& kept = routes_[number % routes_.size()];
        if (!kept.is_for(group, shape)) [[unlikely]]
            kept = find_route(group, shape);
        return kept;
    }
    Route find_route(Group& group, const Shape& shape);
    Transport wanted_transport(const Shape& shape, bool by_name);
    bool whole_matrix_wanted(const Shape& shape);
    const std::optional<Method>& wanted_for(const Shape& shape) const noexcept {
        return overrides_[static_cast<std::size_t>(shape.operation)];
    }
    bool algorithm_wanted_for(const Group& group, const Shape& shape) const;
    template <typename Make>
    Plan& kept_or_new(Group& group, const Shape& shape, bool users_function, const Make& make);

    comm::Runtime& runtime_;
    LevelsMaker make_levels_;
    std::string failure_;
    std::array<Route, 64> routes_;
    bool develop_ = false;
    bool barrier_ = false;
    Overrides overrides_;
    Variables variables_;
    std::optional<Tuning> tuning_;  // read when first needed
    Groups groups_;
    std::vector<std::unique_ptr<Running>> running_;
    std::vector<std::unique_ptr<Running>> spare_;  // that have ended, to be used again
    int next_id_ = 1;
    std::vector<Bytes> spare_offsets_;
    std::vector<Bytes> spare_matrix_;
};

}  // namespace poe::collectives
