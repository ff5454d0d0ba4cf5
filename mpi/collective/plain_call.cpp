// Plain calls; see plain_call.hpp.
#include "mpi/collective/plain_call.hpp"

#include "collectives/engine/process_collectives.hpp"
#include "mpi/point/works.hpp"

namespace poe::mpi {
namespace {

// Fills in `call` for CCL. The caller keeps `call` and `reduction` for its next calls, because to
// construct them takes a noticeable part of a short call. Precondition: nobody else sets offsets or
// a matrix in the shape of `call`.
void describe(collectives::CollectiveCall& call, TypedReduction& reduction, Comm& comm,
              const PlainCall& plain) {
    call.call = plain.what;
    call.shape.operation = plain.operation;
    call.shape.n = comm.group->size();
    call.shape.bytes = plain.bytes;
    call.shape.root = plain.root;
    call.shape.step = 0;
    call.shape.circular = false;
    if (plain.irregular || !call.shape.offsets.empty()) [[unlikely]] {
        call.shape.offsets.clear();
        if (plain.irregular) call.shape.offsets = collective_state(comm).offsets;
    }
    call.run.given = static_cast<const std::byte*>(plain.given);
    call.run.result = static_cast<std::byte*>(plain.result);
    call.run.reduction = {};
    if (plain.reduction != nullptr) call.run.reduction = reduction.repeat(*plain.reduction);
    call.shape.element = call.run.reduction.element;
    call.shape.commutative = plain.reduction != nullptr && plain.reduction->commutative;
    call.shape.exact = call.run.reduction.exact;
}

}  // namespace

[[gnu::hot]] bool make_plain_call(comm::Runtime& runtime, Comm& comm,
                                  const PlainCall& plain) noexcept {
    try {
        collectives::CollectiveContext& context = collectives::the_collectives(runtime);
        CollectiveState& state = collective_state(comm);
        collectives::CollectiveCall& call = state.plain;
        describe(call, state.plain_reduction, comm, plain);
        const ShownCall shown(runtime, comm, plain.shown);
        const collectives::SelectedPath& path = context.path_for(*comm.group, call.shape);
        // Other paths report failures in other forms.
        if (path.path->transport != collectives::Transport::kShared ||
            (plain.in_place && !path.path->in_place(call.shape)))
            return false;
        context.run_on(path, *comm.group, call);
        // A call that has failed is counted by the general way.
        ++state.calls;
        ++comm.operations;
        context.count_traffic(*comm.group, call.shape);
        return true;
    } catch (...) {
        // The group remembers a member that has ended, so the general way fails for the same
        // reason.
        return false;
    }
}

[[gnu::hot]] Request& start_plain_call(comm::Runtime& runtime, Comm& comm, const PlainCall& plain) {
    CollectiveState& state = collective_state(comm);
    RecordingPtr recording = state.recordings.take(collectives::the_collectives(runtime), comm,
                                                   message_type_after(state.calls++), false);
    ++comm.operations;
    const std::uint32_t operation = comm.operations;
    describe(recording->add_collective(), recording->plain_reduction(), comm, plain);
    Request& request = make_work(runtime, std::move(recording), &comm, false);
    request.operation = operation;
    return request;
}

}  // namespace poe::mpi
