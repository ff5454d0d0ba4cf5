// Making and freeing communicators (MPI 5.0, sections 7.4.2, 7.4.3 and 11.10.4).
#include <memory>
#include <mpi.h>
#include <mutex>

#include "mpi/api/bodies.hpp"
#include "mpi/api/communicator_call.hpp"
#include "mpi/communicator/duplication.hpp"
#include "mpi/communicator/hints.hpp"
#include "mpi/communicator/making.hpp"
#include "mpi/point/completion.hpp"
#include "mpi/point/send_buffer.hpp"
#include "mpi/point/waiting.hpp"
#include "mpi/point/works.hpp"

namespace poe::mpi {
namespace {

// What a duplicate gets at the time of the call: hints, topology, attributes. A failing copy
// function of the program is a fault.
Fault copy_contents(Call& call, Comm& copy, const Comm& parent, MPI_Comm handle, const Info* info) {
    {
        const std::lock_guard guard(environment().lock);
        add_hints(copy, info);
    }
    if (parent.topology != nullptr) copy.topology = parent.topology->copy();
    return call.outside([&] { return parent.attributes.copy_to(copy.attributes, handle); });
}

// Frees a duplicate that is not given to the program.
void discard(Call& call, Comm& copy) {
    call.outside([&] { return copy.attributes.remove_all(handle_of(copy)); });
    comm_pool().release(copy);
}

int duplicate(Call& call, MPI_Comm comm, const Info* info, MPI_Comm* newcomm) {
    *newcomm = MPI_COMM_NULL;
    Comm& parent = *find_comm(comm);
    Duplication duplication(call.runtime(), parent);
    {
        const VisibleCollective visible(call, parent);
        if (const int code = agree(call, parent)) return code;
        duplication.start();
        duplication.finish();
    }
    if (duplication.fault()) return call.fail(duplication.fault());
    const MadeComm made = make_comm(parent, duplication.result());
    if (made.fault) return call.fail(made.fault);
    if (Fault fault = copy_contents(call, *made.comm, parent, comm, info)) {
        discard(call, *made.comm);
        return call.fail(fault);
    }
    *newcomm = handle_of(*made.comm);
    return MPI_SUCCESS;
}

// The operation of MPI_Comm_idup. It holds a reference to both communicators.
class DuplicationWork final : public Work {
  public:
    DuplicationWork(comm::Runtime& runtime, Comm& parent, Comm& copy)
        : duplication_(runtime, parent, false), parent_(parent), copy_(copy) {
        add_reference(copy_);
    }
    ~DuplicationWork() override { comm_pool().release(copy_); }

    void start(comm::MessageLayer&) override { duplication_.start(); }
    bool advance(comm::MessageLayer&) override {
        if (!duplication_.advance()) return false;
        fault_ = duplication_.fault() ? duplication_.fault()
                                      : fill_in(copy_, parent_, duplication_.result());
        return true;
    }
    Fault result() override { return fault_; }

  private:
    Duplication duplication_;
    Comm& parent_;
    Comm& copy_;
    Fault fault_;
};

// The attributes are copied at the time of the call. If that fails, the other members must still
// get their number, so the operation continues without a handle.
int start_duplicate(Call& call, MPI_Comm comm, const Info* info, MPI_Comm* newcomm,
                    MPI_Request* request) {
    Comm& parent = *find_comm(comm);
    Comm& copy = comm_pool().make();
    // Until the number is known, queries work, and messages match nothing.
    copy.local = parent.local;
    copy.remote = parent.remote;
    copy.rank = parent.rank;
    const Fault fault = copy_contents(call, copy, parent, comm, info);
    WorkPtr duplication = std::make_unique<DuplicationWork>(call.runtime(), parent, copy);
    if (environment().checking)
        duplication = after_agreement(call, parent, check::describe(call.function(), call.site()),
                                      std::move(duplication));
    Request& work = make_work(call.runtime(), std::move(duplication), &parent, false);
    if (fault) {
        discard(call, copy);
        if (has_ended(work)) {
            MPI_Request ended = handle_of(work);
            retire(ended, work);
        } else {
            free_when_ended(work);
        }
        *newcomm = MPI_COMM_NULL;
        *request = MPI_REQUEST_NULL;
        return call.fail(fault);
    }
    *newcomm = handle_of(copy);
    *request = handle_of(work);
    return MPI_SUCCESS;
}

// The hints of a call. False after an error was reported.
bool find_hints(Call& call, MPI_Info handle, const Info*& info) {
    info = environment().find_readable_info(handle);
    if (info != nullptr || handle == MPI_INFO_NULL) return true;
    call.fail(MPI_ERR_INFO, "info", "it is no info");
    return false;
}

}  // namespace

int comm_dup(Call& call, MPI_Comm comm, MPI_Comm* newcomm) {
    return duplicate(call, comm, nullptr, newcomm);
}

int comm_dup_with_info(Call& call, MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm) {
    const Info* hints = nullptr;
    if (!find_hints(call, info, hints)) return call.code();
    return duplicate(call, comm, hints, newcomm);
}

int comm_idup(Call& call, MPI_Comm comm, MPI_Comm* newcomm, MPI_Request* request) {
    return start_duplicate(call, comm, nullptr, newcomm, request);
}

int comm_idup_with_info(Call& call, MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm,
                        MPI_Request* request) {
    const Info* hints = nullptr;
    if (!find_hints(call, info, hints)) return call.code();
    return start_duplicate(call, comm, hints, newcomm, request);
}

int comm_split(Call& call, MPI_Comm comm, int color, int key, MPI_Comm* newcomm) {
    *newcomm = MPI_COMM_NULL;
    Comm& parent = *find_comm(comm);
    const VisibleCollective visible(call, parent);
    if (const int code = agree(call, parent)) return code;
    return store_comm(call, split(call.runtime(), parent, color, key), newcomm);
}

int comm_split_type(Call& call, MPI_Comm comm, int split_type, int key, MPI_Info info,
                    MPI_Comm* newcomm) {
    const Info* hints = nullptr;
    if (!find_hints(call, info, hints)) return call.code();
    std::string resource;
    if (hints != nullptr) {
        const std::string* value = hints->find("mpi_hw_resource_type");
        if (value == nullptr && split_type == MPI_COMM_TYPE_RESOURCE_GUIDED)
            value = hints->find("mpi_pset_name");
        if (value != nullptr) resource = *value;
    }
    std::string found;
    const VisibleCollective visible(call, *find_comm(comm));
    if (const int code = agree(call, *find_comm(comm))) return code;
    const MadeComm made =
        split_by_type(call.runtime(), *find_comm(comm), split_type, key, resource, &found);
    if (Info* result = environment().find_info(info); result != nullptr && !found.empty())
        result->set("mpi_hw_resource_type", found);
    return store_comm(call, made, newcomm);
}

// A wrong group is reported after the exchange, in which the others learn of it.
int comm_create(Call& call, MPI_Comm comm, MPI_Group group, MPI_Comm* newcomm) {
    *newcomm = MPI_COMM_NULL;
    Comm& parent = *find_comm(comm);
    const MembersPtr members = environment().share_group(group);
    const VisibleCollective visible(call, parent);
    if (const int code = agree(call, parent, [&](check::Description& description) {
            if (members == nullptr) return;  // create() reports it
            description.has_group = true;
            // Jobs number the tasks of each other differently, so members compare ranks then.
            const bool by_rank = spans_jobs(call.runtime(), parent);
            for (const TaskId task : members->tasks())
                description.group.push_back(by_rank ? parent.local->rank_of(task) : task);
        }))
        return code;
    return store_comm(call, create(call.runtime(), parent, members), newcomm);
}

namespace {

// Check mode: compares the groups that the members of `group` give, unless they belong to several
// jobs, which number each other's tasks differently. If `fault` is one of the own arguments, only
// tells them of it. Returns the fault of the call.
Fault agree_on_group(Call& call, Comm& parent, const Members& group, int tag, Fault fault) {
    if (!environment().checking || spans_jobs(call.runtime(), parent)) return fault;
    std::vector<TaskId> tasks;
    for (const TaskId task : group.tasks())
        if (parent.local->rank_of(task) != MPI_UNDEFINED) tasks.push_back(task);
    collectives::ListAgreement agreement(call.runtime().messages(),
                                         {making_context(parent, Making::kGroupLists), tag},
                                         parent.group_lists[tag], environment().task, tasks);
    if (fault) {
        agreement.refuse();
    } else {
        agreement.start();
    }
    wait_until(
        call.runtime(), [&] { return agreement.advance(); }, [&] { return agreement.awaited(); });
    if (fault) return fault;
    if (agreement.lost() >= 0)
        return fault_of_exchange(call.runtime(), comm::Outcome::kPeerBroken, agreement.lost());
    if (!agreement.difference()) return {};
    return {MPI_ERR_GROUP, "group", agreement.difference()->words("MPI_Comm_create_group"),
            "give the same group in all its members"};
}

}  // namespace

int comm_create_group(Call& call, MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* newcomm) {
    *newcomm = MPI_COMM_NULL;
    Comm& parent = *find_comm(comm);
    if (parent.is_inter())
        return call.fail(MPI_ERR_COMM, "comm", "it is an intercommunicator", "use MPI_Comm_create");
    if (tag < 0) return call.fail(MPI_ERR_TAG, "tag", std::to_string(tag) + " is negative");
    const MembersPtr members = environment().share_group(group);
    Fault fault;
    for (const TaskId task : members->tasks()) {
        if (parent.local->rank_of(task) == MPI_UNDEFINED)
            fault = {MPI_ERR_GROUP, "group",
                     "task " + std::to_string(task) + " is no member of the communicator", ""};
    }
    if (!fault && members->rank_of(environment().task) == MPI_UNDEFINED) return MPI_SUCCESS;
    const VisibleCall visible(call, about_all_of(parent));
    fault = agree_on_group(call, parent, *members, tag, std::move(fault));
    if (fault) return call.fail(fault);
    return store_comm(call, create_group(call.runtime(), parent, members, tag), newcomm);
}

Comm* find_freeable(Call& call, MPI_Comm handle) {
    Comm* found = find_comm(handle);
    if (found != nullptr && !is_predefined(handle)) return found;
    call.fail(MPI_ERR_COMM, "comm",
              handle == MPI_COMM_NULL ? "it is MPI_COMM_NULL"
              : found != nullptr      ? "a predefined communicator cannot be freed"
                                      : "it is no communicator, or was freed already");
    return nullptr;
}

int release_comm(Call& call, Comm& comm) {
    const MPI_Comm handle = handle_of(comm);
    if (Fault fault = call.outside([&] { return comm.attributes.remove_all(handle); }))
        return call.fail(fault);
    detach_buffer_of(call.runtime(), comm);
    if (environment().parent == handle) environment().parent = MPI_COMM_NULL;
    comm_pool().release(comm);
    return MPI_SUCCESS;
}

// Messages in progress keep the communicator until they have ended.
int comm_free(Call& call, MPI_Comm* comm) {
    Comm* found = find_freeable(call, *comm);
    if (found == nullptr) return call.code();
    if (const int code = agree(call, *found)) return code;
    if (const int code = release_comm(call, *found)) return code;
    *comm = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

}  // namespace poe::mpi
