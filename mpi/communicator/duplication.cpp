// Agreement on the number of a duplicate; see duplication.hpp.
#include "mpi/communicator/duplication.hpp"

#include "mpi/process/environment.hpp"

namespace poe::mpi {
namespace {

constexpr auto kDuplicateFlow = comm::FlowClass::kCollective;

}  // namespace

Duplication::Duplication(comm::Runtime& runtime, Comm& parent, bool may_wait)
    : runtime_(runtime),
      parent_(parent),
      route_{making_context(parent, Making::kDuplicates),
             static_cast<std::int32_t>(
                 (environment().checking ? parent.agreements : parent.duplicates++) & 0x7fffffffu)},
      place_(place_in_tree(parent.rank, parent.size())),
      to_children_(place_.children.empty() ? nullptr
                                           : new comm::SendRequest[place_.children.size()]),
      spans_jobs_(spans_jobs(runtime, parent)),
      may_wait_(may_wait) {}

void Duplication::start() {
    made_.local = parent_.local;
    made_.remote = parent_.remote;
    if (spans_jobs_) {
        if (!may_wait_) take_spare_numbers(parent_, made_);
        return;
    }
    TaskId from = comm::kWildcard;
    void* into = numbers_.data();
    std::size_t words = numbers_.size();
    if (leads()) {
        Reservation reserved(collectives::the_collectives(runtime_).groups());
        reserved.use();
        numbers_[0] = own_number_ = reserved.number();
        if (!parent_.is_inter()) return;
        from = parent_.remote->task(0);
        send_ = comm::SendRequest({&own_number_, sizeof own_number_}, from, route_.type,
                                  route_.context, kDuplicateFlow);
        sends_ = true;
        runtime_.messages().start(send_);
        into = &numbers_[1];
        words = 1;
    } else {
        from = parent_.local->task(place_.parent);
    }
    receives_ = true;
    receive_.reset({into, words * sizeof(std::int32_t)}, {route_.context, from, route_.type});
    runtime_.messages().start(receive_);
}

void Duplication::note(comm::Outcome outcome, TaskId task) {
    if (outcome != comm::Outcome::kDone && !fault_)
        fault_ = fault_of_exchange(runtime_, outcome, task);
}

bool Duplication::ended(comm::SendRequest& request) {
    if (request.outcome == comm::Outcome::kPending) runtime_.messages().end_if_hopeless(request);
    if (request.outcome == comm::Outcome::kPending) return false;
    note(request.outcome, request.dest);
    return true;
}

bool Duplication::ended(comm::ReceiveRequest& request) {
    if (request.outcome == comm::Outcome::kPending) runtime_.messages().end_if_hopeless(request);
    if (request.outcome == comm::Outcome::kPending) return false;
    note(request.outcome, request.wanted.source);
    return true;
}

bool Duplication::numbers_known() {
    return !receives_ || ended(receive_);
}

// Also after a failure, so that no member waits forever.
void Duplication::send_to_children() {
    if (fault_) numbers_ = {Reservation::kFailed, Reservation::kFailed};
    forwarded_ = true;
    for (std::size_t i = place_.children.size(); i-- > 0;) {
        to_children_[i] = comm::SendRequest({numbers_.data(), sizeof numbers_},
                                            parent_.local->task(place_.children[i]), route_.type,
                                            route_.context, kDuplicateFlow);
        runtime_.messages().start(to_children_[i]);
    }
}

bool Duplication::advance() {
    if (spans_jobs_) return true;
    if (!numbers_known()) return false;
    if (!forwarded_) send_to_children();
    bool over = !sends_ || ended(send_);
    for (std::size_t i = 0; i < place_.children.size(); ++i) over = ended(to_children_[i]) && over;
    if (over) {
        made_.number = numbers_[0];
        made_.remote_number = numbers_[1];
    }
    return over;
}

void Duplication::finish() {
    if (advance()) return;
    runtime_.messages().wait_until([this] { return advance(); },
                                   [this] {
                                       Awaited awaited;
                                       awaited.kind = Awaited::Kind::kMessage;
                                       if (receives_) awaited.peer = receive_.wanted.source;
                                       awaited.type = route_.type;
                                       awaited.context = route_.context;
                                       return awaited;
                                   });
}

}  // namespace poe::mpi
