// Collective calls in check mode; see checked_call.hpp.
#include "mpi/api/checked_call.hpp"

#include "collectives/engine/process_collectives.hpp"
#include "mpi/collective/checked_work.hpp"
#include "mpi/point/completion.hpp"
#include "mpi/point/waiting.hpp"
#include "mpi/point/works.hpp"

namespace poe::mpi {
namespace {

struct Composed {
    std::unique_ptr<Sequence> sequence;
    check::Description description;
};

Composed compose_checked(Call& call, Comm& members, Sequence::Form form, const Composer& compose) {
    Composed made{
        std::make_unique<Sequence>(collectives::the_collectives(call.runtime()), members, form),
        check::describe(call.function(), call.site())};
    made.sequence->describe_in(&made.description);
    compose(*made.sequence);
    made.sequence->describe_in(nullptr);
    made.description.fail(made.sequence->fault());
    return made;
}

// Waits for a request that the program does not see, frees it, and reports its fault.
int wait_for_work(Call& call, Comm& members, Request& request) {
    if (!has_ended(request)) {
        const Shown shown(call, about_all_of(members));
        wait_for(call.runtime(), request);
    }
    const Fault fault = fault_of_request(call.runtime(), request);
    MPI_Request handle = handle_of(request);
    retire(handle, request);
    if (!fault) return MPI_SUCCESS;
    call.about(ErrorObject(handle_of(members)));
    return call.fail(fault);
}

// The others still wait for the description of this member.
void leave_to_itself(Request& request) {
    if (has_ended(request)) {
        MPI_Request handle = handle_of(request);
        retire(handle, request);
    } else {
        free_when_ended(request);
    }
}

}  // namespace

WorkPtr after_agreement(Call& call, Comm& members, const check::Description& description,
                        WorkPtr work, check::Report report) {
    return std::make_unique<CheckedWork>(
        std::make_unique<check::Agreement>(call.runtime(), members, description, call.site(),
                                           report),
        std::move(work));
}

int agree_on(Call& call, Comm& members, const check::Description& description) {
    return wait_for_work(
        call, members,
        make_work(call.runtime(), after_agreement(call, members, description, nullptr), &members,
                  false));
}

int complete_checked(Call& call, Comm& members, const Composer& compose) {
    Composed made = compose_checked(call, members, Sequence::Form::kOnce, compose);
    WorkPtr work;
    if (made.sequence->ok()) work = made.sequence->recording();
    return wait_for_work(
        call, members,
        make_work(call.runtime(), after_agreement(call, members, made.description, std::move(work)),
                  &members, false));
}

Request* start_checked(Call& call, Comm& members, const Composer& compose) {
    Composed made = compose_checked(call, members, Sequence::Form::kOnce, compose);
    const Fault fault = made.sequence->fault();
    // The first message is that of this member, because the job ends with it.
    if (fault && call.is_fatal()) {
        call.fail(fault);
        return nullptr;
    }
    WorkPtr work;
    if (!fault) work = made.sequence->recording();
    Request& request = make_work(call.runtime(),
                                 after_agreement(call, members, made.description, std::move(work),
                                                 fault ? warn_for_all : report_for_all),
                                 &members, false);
    if (!fault) return &request;
    leave_to_itself(request);
    call.fail(fault);
    return nullptr;
}

Request* prepare_checked(Call& call, Comm& members, const Composer& compose) {
    Composed made = compose_checked(call, members, Sequence::Form::kPersistent, compose);
    if (agree_on(call, members, made.description) != MPI_SUCCESS) return nullptr;
    return &make_work(call.runtime(), made.sequence->recording(), &members, true);
}

}  // namespace poe::mpi
