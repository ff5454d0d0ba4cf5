// The execution of sequences; see sequence.hpp.
#include "mpi/collective/sequence.hpp"

#include <string>
#include <utility>

#include "mpi/collective/failures.hpp"
#include "mpi/datatype/queries.hpp"
#include "mpi/process/environment.hpp"

namespace poe::mpi {
namespace {

// Scratch memory of a communicator that is longer is released after the call.
constexpr std::size_t kKeptScratch = std::size_t{4} << 20;

}  // namespace

CollectiveState& collective_state(Comm& comm) {
    if (comm.collective == nullptr) comm.collective = std::make_unique<CollectiveState>();
    return static_cast<CollectiveState&>(*comm.collective);
}

Sequence::Sequence(collectives::CollectiveContext& context, Comm& comm, Form form)
    : context_(context),
      comm_(comm),
      state_(collective_state(comm)),
      type_(message_type_after(environment().checking ? comm.agreements : state_.calls++)),
      recording_(form == Form::kImmediate
                     ? nullptr
                     : state_.recordings.take(context, comm, type_, form == Form::kPersistent)),
      round_(recording_ == nullptr ? state_.round : recording_->open_round()) {}

Sequence::~Sequence() {
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
        recording_->keep(*found);
    }
    return found;
}

Data Sequence::data(const Buffer& buffer) {
    const Datatype* found = type(buffer.type, buffer.names->type);
    if (found == nullptr) return {};
    return data(*found, buffer.address, 0, buffer.count, *buffer.names);
}

Data Sequence::data(const Datatype& type, const void* address, std::int64_t displacement,
                    std::int64_t count, const BufferNames& names) {
    if (!ok()) return {};
    if (count < 0) {
        fail(MPI_ERR_COUNT, names.count, "the count " + std::to_string(count) + " is negative");
        return {};
    }
    const Data result(type, moved_address(address, displacement), count);
    if (result.bytes == 0) return {};
    if (address == MPI_IN_PLACE) {
        fail(MPI_ERR_BUFFER, names.address, "MPI_IN_PLACE is not allowed here");
    } else if (result.contiguous && result.start == nullptr) {
        fail(MPI_ERR_BUFFER, names.address, "it is a null pointer");
    }
    return result;
}

void Sequence::refuse_same_memory(const Data& sent, const Data& received) {
    if (sent.bytes > 0 && received.bytes > 0 && sent.contiguous && received.contiguous &&
        sent.start == received.start)
        fail(MPI_ERR_BUFFER, "sendbuf", "it is the same memory as recvbuf", "use MPI_IN_PLACE");
}

TypedReduction& Sequence::define(MPI_Op op, MPI_Datatype handle, const Datatype& type) {
    reduction_ = recording_ == nullptr ? &own_reduction_.emplace() : &recording_->make_reduction();
    if (ok()) {
        if (Fault fault = reduction_->define(op, handle, type, state_.reduction))
            fault_ = std::move(fault);
    }
    return *reduction_;
}

std::byte* Sequence::scratch(Bytes bytes) {
    if (recording_ != nullptr) return recording_->scratch(bytes);
    if (scratches_ == state_.scratch.size()) state_.scratch.emplace_back();
    std::vector<std::byte>& memory = state_.scratch[scratches_++];
    if (memory.size() < bytes) memory.resize(bytes);
    return memory.data();
}

// Describes all but the reduction.
collectives::CollectiveCall& Sequence::describe(collectives::CollectiveCall& call, ::poe::Call what,
                                                collectives::Shape&& shape, const std::byte* given,
                                                std::byte* result) {
    call.call = what;
    call.shape = std::move(shape);
    call.shape.n = comm_.group->size();
    call.run.given = given;
    call.run.result = result;
    call.run.reduction = {};
    bytes_ = call.shape.bytes;
    return call;
}

void Sequence::execute(const collectives::CollectiveCall& call) {
    executed_ = true;
    const collectives::Plan* plan = context_.run_blocking(*comm_.group, call);
    if (plan != nullptr) {
        note_failure(*plan, fault_);
    } else {
        context_.count_traffic(*comm_.group, call.shape);
    }
}

void Sequence::collective(::poe::Call what, collectives::Shape&& shape, const std::byte* given,
                          std::byte* result) {
    if (!ok()) return;
    if (recording_ != nullptr)
        return void(describe(recording_->add_collective(), what, std::move(shape), given, result));
    collectives::CollectiveCall call;
    execute(describe(call, what, std::move(shape), given, result));
}

void Sequence::reduce(::poe::Call what, collectives::Shape&& shape, const std::byte* given,
                      std::byte* result) {
    if (!ok()) return;
    collectives::CollectiveCall own;
    collectives::CollectiveCall& call =
        describe(recording_ != nullptr ? recording_->add_collective() : own, what, std::move(shape),
                 given, result);
    call.run.reduction = reduction_->reduction();
    reduction_->describe(call.shape);
    if (recording_ == nullptr) execute(call);
}

bool Sequence::works_in_place(collectives::Shape shape) {
    if (!ok() || recording_ != nullptr) return false;
    shape.n = comm_.group->size();
    if (reduction_ != nullptr) reduction_->describe(shape);
    return context_.works_in_place(*comm_.group, shape);
}

void Sequence::send(TaskId task, const Data& data, bool synchronous) {
    if (ok()) round_.send(task, data, synchronous);
}

void Sequence::receive(TaskId task, const Data& data, bool exact) {
    if (ok()) round_.receive(task, data, exact);
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

bool Sequence::may_use_memory() {
    return recording_ == nullptr && !comm_.is_inter() && size() > 1 && !over_network();
}

bool Sequence::exchange_in_memory() {
    if (!ok()) return true;
    executed_ = true;
    const std::optional<EndInMemory> begun = std::exchange(state_.begun, std::nullopt);
    const EndInMemory end =
        begun ? *begun : collectives::exchange_in_memory(context_, *comm_.group, blocks());
    if (end) finish(*end);
    return end.has_value();
}

collectives::ExchangeEnd Sequence::exchange_with_root(collectives::Operation operation, int root) {
    executed_ = true;
    const std::optional<EndInMemory> begun = std::exchange(state_.begun, std::nullopt);
    if (begun) return **begun;
    return collectives::exchange_with_root(context_, *comm_.group, operation, root, state_.rooted);
}

void Sequence::finish(const collectives::ExchangeEnd& end) {
    note_failure(end, fault_);
}

void Sequence::keep_own(const Data& sent, Data received) {
    if (sent.bytes > received.bytes)
        return finish(
            {comm::Outcome::kDone, comm_.local->task(rank()), sent.bytes, received.bytes});
    received.bytes = sent.bytes;
    copy_data(sent, received,
              sent.contiguous || received.contiguous ? nullptr : scratch(sent.bytes));
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
    note_failure(
        collectives::exchange_planned({context_.messages(), *comm_.group, line, blocks, type_,
                                       comm_.internal_context(), context_.progress()}),
        fault_);
}

void Sequence::exchange() {
    if (!ok()) return round_.clear();
    if (recording_ != nullptr) return recording_->add_round();
    comm::MessageLayer& messages = context_.messages();
    executed_ = true;
    round_.begin(messages, comm_.internal_context(), type_);
    while (!round_.ended(fault_)) round_.wait(messages);
    round_.clear();
}

}  // namespace poe::mpi
