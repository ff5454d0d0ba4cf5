// The execution of recorded calls; see recording.hpp.
#include "mpi/collective/recording.hpp"

#include "mpi/collective/failures.hpp"
#include "mpi/process/environment.hpp"

namespace poe::mpi {
namespace {

// What a recording without content keeps at most: steps, and messages of each of them.
constexpr std::size_t kKeptSteps = 4;
constexpr std::size_t kKeptMessages = 32;

}  // namespace

RecordingPtr SpareRecordings::take(collectives::CollectiveContext& context, Comm& comm,
                                   std::int32_t type, bool persistent) {
    RecordingPtr taken;
    if (kept_.empty()) {
        // release() must not allocate.
        kept_.reserve(kMost);
        taken.reset(new Recording(context, comm, *this));
    } else {
        taken.reset(kept_.back().release());
        kept_.pop_back();
    }
    taken->type_ = type;
    taken->persistent_ = persistent;
    return taken;
}

Recording::~Recording() {
    clear();
}

void Recording::release() noexcept {
    clear();
    if (spares_.kept_.size() < SpareRecordings::kMost) {
        spares_.kept_.emplace_back(this);
    } else {
        delete this;
    }
}

void Recording::clear() noexcept {
    for (std::size_t i = 0; i < used_; ++i) empty(steps_[i]);
    open_.clear();
    if (open_.capacity() > kKeptMessages) open_ = {};
    if (used_ > kKeptSteps) steps_.resize(kKeptSteps);
    used_ = 0;
    memory_.clear();
    types_.clear();
    reduction_.reset();
    at_ = 0;
    begun_ = false;
    if (fault_) fault_ = {};
}

// Removes the content of a step, or the step if it has much memory.
void Recording::empty(std::unique_ptr<Step>& step) noexcept {
    let_go(*step);
    step->round.clear();
    if (!step->call.shape.is_regular()) step->call.shape = {};
    if (step->work) step->work = nullptr;
    if (step->round.capacity() > kKeptMessages) step.reset();
}

Recording::Step& Recording::add(Step::Kind kind) {
    if (used_ == steps_.size()) steps_.emplace_back();
    std::unique_ptr<Step>& step = steps_[used_++];
    if (step == nullptr) step = std::make_unique<Step>();
    step->kind = kind;
    return *step;
}

collectives::CollectiveCall& Recording::add_collective() {
    collectives::CollectiveCall& call = add(Step::Kind::kCollective).call;
    call.run.type = type_;
    call.run.context = comm_.internal_context();
    return call;
}

void Recording::add_local(std::function<void()> work) {
    add(Step::Kind::kLocal).work = std::move(work);
}

// The steps that are added while a round is open are executed before it.
Round& Recording::open_round() {
    return open_;
}

void Recording::add_round() {
    std::swap(add(Step::Kind::kRound).round, open_);
}

std::byte* Recording::scratch(Bytes bytes) {
    memory_.push_back(std::make_unique_for_overwrite<std::byte[]>(bytes));
    return memory_.back().get();
}

void Recording::start(comm::MessageLayer&) {
    at_ = 0;
    begun_ = false;
    // In check mode, a call starts when it has been compared, so members start calls in any order.
    if (!persistent_ && !comm_.is_inter() && !environment().checking) start_in_memory();
}

// Calls in shared memory are numbered when they start. Recordings of several steps with messages or
// other calls go by messages, because a fault of a step would leave a number unused. So do
// persistent calls, because members may start them in different orders, and calls on
// intercommunicators, because only some of their members have steps with messages.
void Recording::start_in_memory() {
    Step* call = nullptr;
    for (std::size_t i = 0; i < used_; ++i) {
        if (steps_[i]->kind == Step::Kind::kLocal) continue;
        if (call != nullptr || steps_[i]->kind == Step::Kind::kRound) return;
        call = steps_[i].get();
    }
    if (call == nullptr) return;
    collectives::StartedCalls* calls = context_.started_calls(*comm_.group, call->call.shape);
    if (calls != nullptr) call->started.start(*calls);
}

void Recording::begin(Step& step) {
    if (step.kind == Step::Kind::kRound) {
        step.round.begin(context_.messages(), comm_.internal_context(), type_);
    } else if (step.plan != nullptr) {
        step.plan->hold(false);
        step.plan->begin(*comm_.group, step.call.run);
        step.plan->hold(true);
    }
}

// `look_for_ends`: ends the message that the step waits for if the task at its other end has ended.
bool Recording::ended(Step& step, bool look_for_ends) {
    comm::MessageLayer& messages = context_.messages();
    switch (step.kind) {
        case Step::Kind::kRound:
            if (step.round.ended(fault_)) return true;
            if (!look_for_ends) return false;
            step.round.end_if_hopeless(messages);
            return step.round.ended(fault_);
        case Step::Kind::kCollective:
            if (step.started.started()) return ended_in_memory(step, look_for_ends);
            if (step.plan->running() && !step.plan->advance(messages)) {
                if (look_for_ends) step.plan->end_if_hopeless(messages);
                return false;
            }
            note_failure(*step.plan, fault_);
            return true;
        case Step::Kind::kLocal:
            break;
    }
    step.work();
    return true;
}

bool Recording::ended_in_memory(Step& step, bool look_for_ends) {
    const collectives::Shape& shape = step.call.shape;
    if (step.started.advance(shape, step.call.run)) {
        context_.count_traffic(*comm_.group, shape);
        return true;
    }
    if (!look_for_ends) return false;
    const TaskId lost = lost_in_memory(step);
    if (lost < 0) return false;
    note_failure(comm::Outcome::kPeerBroken, lost, fault_);
    return true;
}

// What the call waits for; of unknown kind if it is not known which member.
Awaited Recording::awaited_in_memory(const Step& step) const {
    const std::uint32_t member = step.started.awaited(step.call.shape);
    if (member >= comm_.group->size()) return {};
    return {Awaited::Kind::kMessage, comm_.group->members[member]};
}

// That task, if it has ended; -1 otherwise.
TaskId Recording::lost_in_memory(const Step& step) const {
    const Awaited awaited = awaited_in_memory(step);
    const bool lost = awaited.peer >= 0 && context_.messages().lost(awaited.peer);
    return lost ? awaited.peer : -1;
}

void Recording::wait_in_memory(Step& step) {
    const auto over = [&] { return step.started.can_advance(step.call.shape); };
    for (int i = step.started.spins(); i > 0; --i)
        if (over()) return;
    const auto awaited = [&] { return awaited_in_memory(step); };
    const std::function<bool()> give_up = [&] { return lost_in_memory(step) >= 0; };
    context_.messages().wait_until(over, awaited, &give_up);
}

void Recording::let_go(Step& step) noexcept {
    step.started.forget();
    if (step.plan != nullptr) step.plan->hold(false);
    step.plan = nullptr;
}

bool Recording::advance(comm::MessageLayer&) {
    // A step that has begun ends with all of its messages, also after a fault.
    while (at_ < used_ && (!fault_ || begun_)) {
        Step& step = *steps_[at_];
        const bool begins = !begun_;
        if (begins) {
            // The plan of a persistent call is kept, so the schedule is made once. If there is no
            // memory for a plan, the step has not begun.
            if (step.kind == Step::Kind::kCollective && !step.started.started() &&
                step.plan == nullptr)
                step.plan = &context_.plan_for(*comm_.group, step.call);
            begun_ = true;
            begin(step);
        }
        if (!ended(step, !begins)) return false;
        if (!persistent_) let_go(step);
        ++at_;
        begun_ = false;
    }
    return true;
}

bool Recording::wait(comm::MessageLayer& messages) {
    Step& step = *steps_[at_];
    if (step.started.started()) {
        wait_in_memory(step);
    } else if (step.kind == Step::Kind::kCollective) {
        step.plan->wait(messages);
    } else {
        step.round.wait(messages);
    }
    return true;
}

Awaited Recording::awaited(const comm::MessageLayer& messages) {
    if (at_ >= used_) return {};
    const Step& step = *steps_[at_];
    if (step.kind == Step::Kind::kRound && begun_) return step.round.awaited(messages);
    if (step.started.started()) return awaited_in_memory(step);
    if (step.plan != nullptr && step.plan->running()) return step.plan->awaited(messages);
    return {};
}

}  // namespace poe::mpi
