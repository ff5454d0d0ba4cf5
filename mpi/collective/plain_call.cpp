// Plain calls; see plain_call.hpp.
#include "mpi/collective/plain_call.hpp"

#include "collectives/engine/process_collectives.hpp"
#include "tracer/probe/caller_site.hpp"

namespace poe::mpi {
namespace {

// Describes the call to CCL. The communicator keeps the object, because constructing and destroying
// its shape is a noticeable part of a short call.
const collectives::CollectiveCall& describe(CollectiveState& state, const Comm& comm,
                                            const PlainCall& plain) {
    collectives::CollectiveCall& call = state.plain;
    call.call = plain.what;
    call.shape.operation = plain.operation;
    call.shape.n = comm.group->size();
    call.shape.bytes = plain.bytes;
    call.shape.root = plain.root;
    call.run.given = static_cast<const std::byte*>(plain.given);
    call.run.result = static_cast<std::byte*>(plain.result);
    call.run.reduction = {};
    if (plain.reduction != nullptr)
        call.run.reduction = state.plain_reduction.repeat(*plain.reduction);
    call.shape.element = call.run.reduction.element;
    call.shape.commutative = plain.reduction != nullptr && plain.reduction->commutative;
    call.shape.exact = call.run.reduction.exact;
    return call;
}

// Shows the call to watchers as long as it exists.
class ShownToWatchers {
  public:
    ShownToWatchers(comm::Runtime& runtime, const Comm& comm, const PlainCall& plain) noexcept
        : words_(runtime.doing()) {
        const void* const site = caller_site != nullptr ? caller_site : plain.site;
        words_.set(plain.shown, TaskActivity::kAnyPeer, comm.group_number(), 0, site, comm.context);
    }
    ~ShownToWatchers() { words_.clear(); }
    ShownToWatchers(const ShownToWatchers&) = delete;
    ShownToWatchers& operator=(const ShownToWatchers&) = delete;

  private:
    TaskActivityWords& words_;
};

}  // namespace

[[gnu::hot]] bool make_plain_call(comm::Runtime& runtime, Comm& comm,
                                  const PlainCall& plain) noexcept {
    try {
        collectives::CollectiveContext& context = collectives::the_collectives(runtime);
        CollectiveState& state = collective_state(comm);
        const collectives::CollectiveCall& call = describe(state, comm, plain);
        const ShownToWatchers shown(runtime, comm, plain);
        const collectives::SelectedPath& path = context.path_for(*comm.group, call.shape);
        // Other paths report failures in other forms.
        if (path.path->transport != collectives::Transport::kShared) return false;
        ++state.calls;
        ++comm.operations;
        context.run_on(path, *comm.group, call);
        context.count_traffic(*comm.group, call.shape);
        return true;
    } catch (...) {
        // The group remembers a member that has ended, so the general way fails for the same
        // reason.
        return false;
    }
}

}  // namespace poe::mpi
