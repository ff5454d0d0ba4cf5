// The execution of sequences; see sequence.hpp.
#include "mpi/collective/sequence.hpp"

#include <algorithm>
#include <string>

#include "mpi/datatype/queries.hpp"
#include "mpi/process/environment.hpp"

namespace poe::mpi {
namespace {

// Scratch memory of a communicator that is longer is released after the call.
constexpr std::size_t kKeptScratch = std::size_t{4} << 20;
// What a recording without content keeps at most: steps, and messages of each of them.
constexpr std::size_t kKeptSteps = 4;
constexpr std::size_t kKeptMessages = 64;

std::unique_ptr<Recording> make_recording(CollectiveState& state) {
    return state.spare != nullptr ? std::move(state.spare) : std::make_unique<Recording>();
}

}  // namespace

std::unique_ptr<Recording::Step> Recording::make_step() {
    if (spare_.empty()) return std::make_unique<Step>();
    std::unique_ptr<Step> step = std::move(spare_.back());
    spare_.pop_back();
    return step;
}

void Recording::keep(std::unique_ptr<Step> step) {
    Round& round = step->round;
    if (spare_.size() == kKeptSteps ||
        std::max(round.sends.capacity(), round.receives.capacity()) > kKeptMessages)
        return;
    round.sends.clear();
    round.receives.clear();
    step->kind = Step::Kind::kLocal;
    step->call = {};
    step->plan = nullptr;
    step->work = nullptr;
    spare_.push_back(std::move(step));
}

void Recording::clear() {
    for (std::unique_ptr<Step>& step : steps) keep(std::move(step));
    if (open != nullptr) keep(std::move(open));
    steps.clear();
    memory.clear();
    types.clear();
    at = 0;
    begun = false;
}

CollectiveState& collective_state(Comm& comm) {
    if (comm.collective == nullptr) comm.collective = std::make_unique<CollectiveState>();
    return static_cast<CollectiveState&>(*comm.collective);
}

Sequence::Sequence(collectives::CollectiveContext& context, Comm& comm, Form form)
    : context_(context),
      comm_(comm),
      state_(collective_state(comm)),
      form_(form),
      type_(static_cast<std::int32_t>((environment().checking ? comm.agreements : state_.calls++) &
                                      0x7fffffffu)),
      recording_(form == Form::kImmediate ? nullptr : make_recording(state_)) {}

Sequence::~Sequence() {
    if (recording_ != nullptr) {
        for (const auto& step : recording_->steps) let_go(*step);
        if (state_.spare == nullptr) {
            recording_->clear();
            state_.spare = std::move(recording_);
        }
    }
    if (!ok() && !executed_ && !environment().checking) --state_.calls;
    if (scratches_ == 0) return;
    for (auto& memory : state_.scratch) {
        if (memory.size() > kKeptScratch) std::vector<std::byte>().swap(memory);
    }
}

void Sequence::fail(int code, const char* argument, std::string what, std::string remedy) {
    if (ok()) fault_ = {code, argument, std::move(what), std::move(remedy)};
}

Datatype* Sequence::type(MPI_Datatype handle, const char* argument) {
    if (!ok()) return nullptr;
    Datatype* found = find_datatype(handle);
    if (found == nullptr) {
        fail(MPI_ERR_TYPE, argument,
             handle == MPI_DATATYPE_NULL ? "it is MPI_DATATYPE_NULL" : "it is no datatype");
    } else if (!found->committed()) {
        fail(MPI_ERR_TYPE, argument, "the datatype is not committed", "call MPI_Type_commit");
        return nullptr;
    } else if (recording_ != nullptr && !found->predefined()) {
        recording_->types.emplace_back(*found);
    }
    return found;
}

Data Sequence::data(const Buffer& buffer) {
    const Datatype* found = type(buffer.type, "datatype");
    if (found == nullptr) return {};
    return data(*found, buffer.address, 0, buffer.count, buffer.name);
}

Data Sequence::data(const Datatype& type, const void* address, std::int64_t displacement,
                    std::int64_t count, const char* argument) {
    if (!ok()) return {};
    if (count < 0) {
        fail(MPI_ERR_COUNT, "count", "the count " + std::to_string(count) + " is negative");
        return {};
    }
    const Data result(type, moved_address(address, displacement), count);
    if (result.bytes == 0) return {};
    if (address == MPI_IN_PLACE) {
        fail(MPI_ERR_BUFFER, argument, "MPI_IN_PLACE is not allowed here");
    } else if (result.contiguous && result.start == nullptr) {
        fail(MPI_ERR_BUFFER, argument, "it is a null pointer");
    }
    return result;
}

void Sequence::refuse_same_memory(const Data& sent, const Data& received) {
    if (sent.bytes > 0 && received.bytes > 0 && sent.contiguous && received.contiguous &&
        sent.start == received.start)
        fail(MPI_ERR_BUFFER, "sendbuf", "it is the same memory as recvbuf", "use MPI_IN_PLACE");
}

TypedReduction& Sequence::define(MPI_Op op, MPI_Datatype handle, const Datatype& type) {
    if (ok()) {
        if (Fault fault = reduction_.define(op, handle, type, state_.reduction))
            fault_ = std::move(fault);
    }
    return reduction_;
}

std::byte* Sequence::scratch(Bytes bytes) {
    if (recording_ != nullptr) {
        recording_->memory.push_back(std::make_unique_for_overwrite<std::byte[]>(bytes));
        return recording_->memory.back().get();
    }
    if (scratches_ == state_.scratch.size()) state_.scratch.emplace_back();
    std::vector<std::byte>& memory = state_.scratch[scratches_++];
    if (memory.size() < bytes) memory.resize(bytes);
    return memory.data();
}

void Sequence::run(collectives::CollectiveCall& call) {
    call.shape.n = comm_.group->size();
    bytes_ = call.shape.bytes;
    if (recording_ == nullptr) {
        executed_ = true;
        const collectives::Plan* plan = context_.run_blocking(*comm_.group, call);
        if (plan != nullptr) {
            check(*plan);
        } else {
            context_.count_traffic(*comm_.group, call.shape);
        }
        return;
    }
    call.run.type = type_;
    call.run.context = comm_.internal_context();
    std::unique_ptr<Step> step = recording_->make_step();
    step->kind = Step::Kind::kCollective;
    step->call = std::move(call);
    recording_->steps.push_back(std::move(step));
}

void Sequence::collective(::poe::Call what, collectives::Shape shape, const std::byte* given,
                          std::byte* result) {
    if (!ok()) return;
    collectives::CollectiveCall call{nullptr, what, std::move(shape), {given, result, {}}};
    run(call);
}

void Sequence::reduce(::poe::Call what, collectives::Shape shape, const std::byte* given,
                      std::byte* result) {
    if (!ok()) return;
    collectives::CollectiveCall call{
        nullptr, what, std::move(shape), {given, result, reduction_.reduction()}};
    call.shape.element = call.run.reduction.element;
    call.shape.commutative = reduction_.commutative();
    call.shape.exact = call.run.reduction.exact;
    run(call);
}

Round& Sequence::round() {
    if (recording_ == nullptr) return state_.round;
    if (recording_->open == nullptr) {
        recording_->open = recording_->make_step();
        recording_->open->kind = Step::Kind::kRound;
    }
    return recording_->open->round;
}

void Sequence::send(TaskId task, const Data& data) {
    if (ok()) round().sends.push_back({task, data});
}

void Sequence::receive(TaskId task, const Data& data, bool exact) {
    if (ok()) round().receives.push_back({task, data, exact});
}

bool Sequence::over_network() {
    if (!state_.over_network) {
        const comm::Runtime& runtime = context_.runtime();
        state_.over_network = false;
        const auto look = [&](const Members& members) {
            const TaskId first = comm_.local->task(0);
            for (int r = 0; r < members.size() && !*state_.over_network; ++r)
                state_.over_network = runtime.node_of(members.task(r)) != runtime.node_of(first);
        };
        if (runtime.nodes() > 1 || runtime.guests().count() > 0) {
            look(*comm_.local);
            if (comm_.is_inter()) look(*comm_.remote);
        }
    }
    return *state_.over_network;
}

bool Sequence::may_be_planned() {
    return recording_ == nullptr && !comm_.is_inter() && context_.planned() != nullptr &&
           !context_.spans_jobs(*comm_.group);
}

collectives::PlannedLine* Sequence::planned() {
    return context_.planned()->next("alltoallv", *comm_.group);
}

void Sequence::exchange(collectives::PlannedLine& line, const std::vector<Data>& out,
                        const std::vector<Data>& in) {
    if (!ok()) return;
    std::vector<collectives::PlannedBlock> blocks;
    for (std::size_t r = 0; r < out.size(); ++r) blocks.push_back({out[r].view(), in[r].view()});
    executed_ = true;
    check(collectives::exchange_planned({context_.messages(), *comm_.group, line, blocks, type_,
                                         comm_.internal_context(), context_.progress()}));
}

void Sequence::exchange() {
    Round& all = round();
    if (!ok()) {
        all.sends.clear();
        all.receives.clear();
        return;
    }
    if (recording_ != nullptr) {
        recording_->steps.push_back(std::move(recording_->open));
        return;
    }
    comm::MessageLayer& messages = context_.messages();
    executed_ = true;
    begin(all);
    for (std::size_t i = 0; i < all.receives.size(); ++i) messages.wait(all.receiving[i]);
    for (std::size_t i = 0; i < all.sends.size(); ++i) messages.wait(all.sending[i]);
    ended(all);
    all.sends.clear();
    all.receives.clear();
}

void Sequence::add_local(std::function<void()> work) {
    std::unique_ptr<Step> step = recording_->make_step();
    step->work = std::move(work);
    recording_->steps.push_back(std::move(step));
}

// Receives first, so that a message of this task to itself finds its receive.
void Sequence::begin(Round& round) {
    comm::MessageLayer& messages = context_.messages();
    round.sending.resize(round.sends.size());
    round.receiving.resize(round.receives.size());
    round.sends_ended = round.receives_ended = 0;
    for (std::size_t i = 0; i < round.receives.size(); ++i) {
        const Round::Item& item = round.receives[i];
        round.receiving[i].reset(item.data.view(), {comm_.internal_context(), item.task, type_});
        messages.start(round.receiving[i]);
    }
    for (std::size_t i = 0; i < round.sends.size(); ++i) {
        const Round::Item& item = round.sends[i];
        round.sending[i] =
            comm::SendRequest(item.data.view(), item.task, type_, comm_.internal_context(),
                              comm::FlowClass::kCollective);
        round.sending[i].of_exchange = true;
        messages.start(round.sending[i]);
    }
}

bool Sequence::ended(Round& round) {
    comm::MessageLayer& messages = context_.messages();
    for (; round.receives_ended < round.receives.size(); ++round.receives_ended) {
        comm::ReceiveRequest& request = round.receiving[round.receives_ended];
        if (request.outcome == comm::Outcome::kPending) messages.end_if_hopeless(request);
        if (request.outcome == comm::Outcome::kPending) return false;
        check(request);
        if (round.receives[round.receives_ended].exact && ok() &&
            request.length != request.view.size())
            fail(MPI_ERR_TRUNCATE, "",
                 "task " + std::to_string(request.source) + " sends less than the " +
                     std::to_string(request.view.size()) + " bytes that this task receives first",
                 "give matching counts and datatypes in all tasks");
    }
    for (; round.sends_ended < round.sends.size(); ++round.sends_ended) {
        comm::SendRequest& request = round.sending[round.sends_ended];
        if (request.outcome == comm::Outcome::kPending) messages.end_if_hopeless(request);
        if (request.outcome == comm::Outcome::kPending) return false;
        check(request.outcome, request.dest);
    }
    return true;
}

void Sequence::check(comm::Outcome outcome, TaskId task) {
    if (outcome == comm::Outcome::kDone) return;
    fail(outcome == comm::Outcome::kPeerBroken ? MPI_ERR_PROC_ABORTED : MPI_ERR_OTHER, "",
         "a message to or from task " + std::to_string(task) +
             (outcome == comm::Outcome::kPeerBroken ? " failed, because a task has ended"
                                                    : " cannot be completed"));
}

void Sequence::check(const comm::ReceiveRequest& request) {
    check(request.outcome, request.source >= 0 ? request.source : request.wanted.source);
    if (request.outcome == comm::Outcome::kDone && request.length > request.view.size()) {
        fail(MPI_ERR_TRUNCATE, "",
             "task " + std::to_string(request.source) + " sends " + std::to_string(request.length) +
                 " bytes, but this task receives " + std::to_string(request.view.size()),
             "give matching counts and datatypes in all tasks");
    }
}

void Sequence::check(const collectives::Plan& plan) {
    if (plan.went_wrong())
        check(
            collectives::ExchangeEnd{plan.outcome(), plan.culprit(), plan.came(), plan.expected()});
}

void Sequence::check(const collectives::ExchangeEnd& end) {
    if (end.ok()) return;
    check(end.outcome, end.culprit);
    if (end.outcome != comm::Outcome::kDone) return;
    fail(MPI_ERR_TRUNCATE, "",
         "task " + std::to_string(end.culprit) + " sends " + std::to_string(end.came) +
             " bytes, but this task expects " + std::to_string(end.expected),
         "give the same count, datatype and root in all tasks");
}

void Sequence::start(comm::MessageLayer&) {
    recording_->at = 0;
    recording_->begun = false;
    executed_ = true;
}

// The plan of a persistent call is kept, so the schedule is made once.
void Sequence::begin(Step& step) {
    if (step.kind == Step::Kind::kRound) {
        begin(step.round);
    } else if (step.kind == Step::Kind::kCollective) {
        if (step.plan == nullptr) step.plan = &context_.plan_for(*comm_.group, step.call);
        step.plan->hold(false);
        step.plan->begin(*comm_.group, step.call.run);
        step.plan->hold(true);
    }
}

bool Sequence::ended(Step& step) {
    switch (step.kind) {
        case Step::Kind::kRound:
            return ended(step.round);
        case Step::Kind::kCollective:
            if (step.plan->running() && !step.plan->advance(context_.messages())) {
                step.plan->end_if_hopeless(context_.messages());
                return false;
            }
            check(*step.plan);
            return true;
        case Step::Kind::kLocal:
            break;
    }
    step.work();
    return true;
}

void Sequence::let_go(Step& step) noexcept {
    if (step.plan != nullptr) step.plan->hold(false);
    step.plan = nullptr;
}

bool Sequence::advance(comm::MessageLayer&) {
    // A step that has begun ends with all of its messages, also after a fault.
    while (recording_->at < recording_->steps.size() && (ok() || recording_->begun)) {
        Step& step = *recording_->steps[recording_->at];
        if (!recording_->begun) {
            recording_->begun = true;
            begin(step);
        }
        if (!ended(step)) return false;
        if (form_ == Form::kOnce) let_go(step);
        ++recording_->at;
        recording_->begun = false;
    }
    return true;
}

bool Sequence::wait(comm::MessageLayer& messages) {
    Step& step = *recording_->steps[recording_->at];
    Round& round = step.round;
    if (step.plan != nullptr) {
        step.plan->wait(messages);
    } else if (round.receives_ended < round.receiving.size()) {
        messages.wait(round.receiving[round.receives_ended]);
    } else {
        messages.wait(round.sending[round.sends_ended]);
    }
    return true;
}

Awaited Sequence::awaited(const comm::MessageLayer& messages) {
    if (recording_->at >= recording_->steps.size()) return {};
    Step& step = *recording_->steps[recording_->at];
    if (step.plan != nullptr && step.plan->running()) return step.plan->awaited(messages);
    const Round& round = step.round;
    if (round.receives_ended < round.receiving.size())
        return messages.awaited_by(round.receiving[round.receives_ended]);
    if (round.sends_ended < round.sending.size())
        return messages.awaited_by(round.sending[round.sends_ended]);
    return {};
}

}  // namespace poe::mpi
