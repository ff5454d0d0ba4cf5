// CollectiveContext: the collective operations of one task: its groups, its modes, and the
// nonblocking calls under way. The entry points (api_*.cpp) check arguments and call this class.
//
// For one thread at a time, like all of MPL.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collectives/call/call.hpp"
#include "collectives/call/groups.hpp"
#include "collectives/engine/call_progress.hpp"
#include "collectives/engine/group_state.hpp"
#include "collectives/engine/list_agreement.hpp"
#include "collectives/engine/path.hpp"
#include "collectives/engine/plan.hpp"
#include "collectives/engine/planned_exchange.hpp"
#include "collectives/selection/chooser.hpp"
#include "collectives/selection/default_path.hpp"
#include "comm/bootstrap/runtime.hpp"

namespace poe::collectives {

// A nonblocking call that has not been waited for.
struct Running {
    int id = 0;
    Plan* plan = nullptr;
    Group* group = nullptr;
    std::uint32_t sequence = 0;
    std::uint32_t number = 0;  // number of the call in its group
};

class alignas(kLine) CollectiveContext final : private comm::Helper {
  public:
    using Variables = std::function<const char*(const char*)>;
    // Reads MP_CCL_MODE, MP_EUIDEVELOP, MP_MULTICAST and MP_COLL_*. MP_TUNING or MP_TUNEFILE is
    // read when the first algorithm is chosen. `runtime` must outlive this object. `table`: see
    // paths.hpp.
    CollectiveContext(comm::Runtime& runtime, const Variables& variables,
                      std::span<const Path> table);

    // Describes what is wrong with the variables; empty if they are valid.
    const std::string& failure() const noexcept { return failure_; }
    bool develop() const noexcept { return develop_; }
    bool barrier() const noexcept { return barrier_; }
    Groups& groups() noexcept { return groups_; }

    // Makes a call on the path that is expected to be the fastest; blocks. Returns the plan that
    // was run, or that failed; null if the call succeeded without a plan of its own.
    Plan* run_blocking(Group& group, const CollectiveCall& call) {
        return run_on(path_for(group, call.shape), group, call);
    }
    // Counts the bytes of a call that run_blocking made without a plan. Messages are counted where
    // they are sent.
    void count_traffic(const Group& group, const Shape& shape) noexcept {
        if (shape.operation == Operation::kSync) return;
        count_traffic(transfer_of(shape, static_cast<std::uint32_t>(group.me)));
    }
    void count_traffic(const Transfer& moved) noexcept {
        runtime_.traffic().add_sent(moved.given);
        runtime_.traffic().add_received(moved.gotten);
    }
    // Returns the path for calls of this shape. Valid until the next call of any thread.
    const SelectedPath& path_for(Group& group, const Shape& shape) {
        const auto number = static_cast<std::size_t>(group.gid) * 7 +
                            static_cast<std::size_t>(shape.operation) +
                            shape.bytes / 8 * kOperations;
        CachedPath& cached = cached_paths_[number % cached_paths_.size()];
        if (!cached.is_for(group, shape)) [[unlikely]]
            cached = decide_path(group, shape);
        return cached.selected;
    }
    // True if a call of this shape works in place (Path::in_place).
    bool works_in_place(Group& group, const Shape& shape) {
        return path_for(group, shape).path->in_place(shape);
    }
    // Returns the path by this transport. Empty: the group has none for such calls.
    std::optional<SelectedPath> path_by(Transport transport, Group& group, const Shape& shape);
    // The calls in shared memory that do not block, among which such a call should be; null: it
    // should go by messages. Does not block: only the paths of blocking calls find out whether a
    // group has shared memory. All members get the same answer if they start it between the same
    // two calls of the group.
    StartedCalls* started_calls(Group& group, const Shape& shape);
    // Makes a call on this path; blocks. The result is that of run_blocking.
    Plan* run_on(SelectedPath selected, Group& group, const CollectiveCall& call);
    // After a call without messages: polls for them after every eighth call, so that messages also
    // make progress in a task that only makes such calls. A poll reads several cache lines of each
    // pipe, so polling after every call would take a noticeable part of a sync if tasks share
    // cores. If a receive has a handler, it polls after every call, so that a message that was sent
    // before a sync is handled after it. Other functions that ask for messages poll themselves.
    void poll_sometimes() {
        if (++calls_without_poll_ % 8 == 0 || runtime_.has_handlers()) messages().progress();
    }
    // Returns how many blocking calls this task has made by row `path` of the table. For tools.
    std::uint64_t calls_by_path(std::size_t path) const noexcept { return calls_by_path_[path]; }
    // The methods that the user names, by operation.
    const Overrides& overrides() const noexcept { return overrides_; }
    // Makes a call by messages of the whole group; blocks. Returns the plan that was run.
    Plan& run_schedule(Group& group, const CollectiveCall& call);

    // For paths. Returns the group's shared memory, or its single-copy calls; null: it has none.
    // The first call on a group finds that out, which blocks until all members take part.
    ShmGroup* memory_of(Group& group);
    SingleCopyCalls* single_copy_of(Group& group);
    // True if the user names an algorithm for such calls, and the algorithm supports them.
    bool names_algorithm(Group& group, const Shape& shape) const;
    // Chooses the algorithm of a call by messages. placed.nodes contains the node of each rank.
    Choice choice_for(const Shape& placed);
    // True if the two-level algorithm is chosen.
    bool in_two_levels(const Shape& placed);
    // True if such calls should go by multicast: the user wants it, or it is predicted to be faster
    // than messages. `nodes` has the form of Shape::nodes. `time_of_byte`: what the group has found
    // out about the network (GroupState::time_of_byte); if that is empty, the result is also true
    // if multicast would be faster on a slow network.
    bool wants_multicast(const Shape& shape, const std::vector<std::uint32_t>& nodes,
                         std::optional<double> time_of_byte);
    // False if the user has switched multicast off.
    bool may_multicast() const noexcept { return multicast_ != Multicast::kNo; }
    // True if the user names multicast for such calls, so that the first one waits for the probe.
    bool insists_on_multicast(const Shape& shape) const noexcept {
        const std::optional<Method>& wanted = wanted_for(shape);
        return multicast_ == Multicast::kAlways ||
               (wanted && wanted->transport == Transport::kMulticast);
    }
    // From now on the paths of this group's calls are decided anew.
    void forget_paths(const Group& group) noexcept {
        for (CachedPath& each : cached_paths_)
            if (each.gid == group.gid) each.gid = -1;
    }
    // The device for tasks of other nodes; null: there are none.
    comm::TcpDevice* tcp() noexcept { return runtime_.tcp(); }
    // Returns the plan for a call on a group; creates it at the first call of its shape.
    Plan& plan_for(Group& group, const CollectiveCall& call);
    // The cost model and the measurements: those of the tuning file, or the built-in ones.
    const Tuning& tuning() { return tuning_ ? *tuning_ : take_tuning(); }
    // Returns the node of each member, in the form of Shape::nodes. The group keeps it.
    const std::vector<std::uint32_t>& nodes_of(Group& group) const;
    // Returns the message type for the group's next call, or for an internal exchange. The call
    // kCallsAtOnce before it used the same type, so this blocks until that call has finished.
    std::int32_t next_type(Group& group);
    // True if the group has guests (comm/bootstrap/guests.hpp). Then its calls go by messages, and
    // the algorithms are chosen without regard to the settings of a job.
    bool spans_jobs(const Group& group) const;
    // Starts a run of a plan from plan_for, with the next message type. Does not block.
    void begin(Group& group, Plan& plan, Run run);

    // True if the algorithm for an irregular index needs the lengths of all members' blocks. Only
    // some algorithms that the user names (MP_COLL_INDEX) need them.
    bool needs_whole_matrix(const Shape& shape) {
        return !shape.matrix.empty() && whole_matrix_wanted(shape);
    }
    // Completes the matrix of an irregular index: each member contributes its own row. Blocks.
    // Returns null, or the plan that failed.
    Plan* allgather_counts(Group& group, Shape& shape);
    // An allgather: each member contributes the `bytes` bytes at `own`, and `all` receives the
    // contributions in rank order. `type` is the type of the messages. Blocks. Returns null, or the
    // plan that failed.
    Plan* allgather_internal(Group& group, const void* own, void* all, Bytes bytes,
                             std::int32_t type);
    // Sends `value` from rank 0 to all members. Blocks. Returns null, or the plan that failed.
    Plan* bcast_internal(Group& group, std::uint32_t& value, std::int32_t type);

    // The communication plan of the run; null if there is none, or if calls are checked.
    PlannedCalls* planned() { return has_plan_ ? plan_of_run() : nullptr; }
    // If MP_INFOLEVEL asks for it, reports on standard error how often each line of the plan was
    // used.
    void report_plan();

    // Path and round of the blocking call that the task is in, for watchers.
    CallProgress& progress() noexcept { return progress_; }

    // Nonblocking calls. finish() blocks until the call has ended; end() releases it.
    Running& add_running(Group& group, Plan& plan);
    Running* find_running(int id) noexcept;
    bool in_use(const Group& group) const noexcept;
    void finish(Running& running);
    // Advances the call without blocking. Returns true if it has ended.
    bool advance(Running& running);
    void end(Running& running);

    // The memory of the last irregular call's shape, for reuse.
    std::vector<Bytes>& spare_offsets() noexcept { return spare_offsets_; }
    std::vector<Bytes>& spare_matrix() noexcept { return spare_matrix_; }

    // For agreements on lists of tasks, in develop mode.
    ListHistory& lists() noexcept { return lists_; }

    comm::MessageLayer& messages() noexcept { return runtime_.messages(); }
    const comm::Runtime& runtime() const noexcept { return runtime_; }

  private:
    enum class Multicast : std::uint8_t { kNo, kByCost, kAlways };
    // Advances all nonblocking calls.
    bool help(bool users_functions) override;
    void read_modes(const Variables& variables);
    void read_multicast(const Variables& variables);
    const Tuning& take_tuning();
    std::vector<std::uint32_t> find_nodes_of(const Group& group) const;
    PlannedCalls* plan_of_run();
    // A short call costs less than the decision on its path, so decisions are cached, in an entry
    // that follows from the shape. Decisions on an irregular index are not cached.
    struct alignas(kLine) CachedPath {
        // True if the entry is for this group and shape.
        bool is_for(const Group& its_group, const Shape& shape) const noexcept {
            return bytes == shape.bytes && gid == its_group.gid && operation == shape.operation &&
                   element == shape.element && commutative == shape.commutative &&
                   exact == shape.exact && shape.matrix.empty() &&
                   blocks == (shape.offsets.empty() ? Blocks{} : Blocks::of(shape));
        }
        // What the decision depends on if blocks have unequal lengths.
        struct Blocks {
            Bytes longest = 0;
            Bytes all = 0;
            bool operator==(const Blocks&) const = default;
            static Blocks of(const Shape& shape) noexcept {
                if (shape.offsets.empty()) return {};
                return {shape.longest_block(), shape.span(0, shape.n)};
            }
        };
        Bytes bytes = 0;
        Blocks blocks;
        Bytes element = 0;
        int gid = -1;
        Operation operation = Operation::kSync;
        bool commutative = false;
        bool exact = false;
        SelectedPath selected;
    };
    CachedPath decide_path(Group& group, const Shape& shape);
    void sync_in_memory(Group& group);
    bool single_copy_is_cheaper(Group& group, const Shape& shape);
    Transport wanted_transport(Group& group, const Shape& shape);
    bool whole_matrix_wanted(const Shape& shape);
    const std::optional<Method>& wanted_for(const Shape& shape) const noexcept {
        return overrides_[static_cast<std::size_t>(shape.operation)];
    }
    template <typename Make>
    Plan& kept_or_new(Group& group, const Shape& shape, bool users_function, const Make& make);

    // Every call reads the members up to groups_, so they are next to each other: if tasks share
    // cores, a call must load each cache line that it reads again.
    comm::Runtime& runtime_;
    std::span<const Path> table_;
    CallProgress progress_;
    std::string failure_;
    std::uint32_t calls_without_poll_ = 0;
    bool develop_ = false;
    bool barrier_ = false;
    bool has_plan_ = false;  // the variables have one
    Multicast multicast_ = Multicast::kByCost;
    Groups groups_;
    std::array<CachedPath, 256> cached_paths_;
    std::array<std::uint64_t, kMostPaths> calls_by_path_{};
    ListHistory lists_;
    Overrides overrides_;
    Variables variables_;
    std::unique_ptr<PlannedCalls> planned_;  // read at first use
    std::optional<Tuning> tuning_;           // read at first use
    std::optional<CopyCosts> copy_costs_;    // measured at first use
    std::vector<std::unique_ptr<Running>> running_;
    std::vector<std::unique_ptr<Running>> spare_;  // ended, for reuse
    int next_id_ = 1;
    std::vector<Bytes> spare_offsets_;
    std::vector<Bytes> spare_matrix_;
};

}  // namespace poe::collectives
