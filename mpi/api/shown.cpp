// The records of calls in the trace; see shown.hpp.
#include "mpi/api/shown.hpp"

namespace poe::mpi {

void Noted::enter(const Call& call, const CallAbout& about) noexcept {
    const auto region = static_cast<std::uint32_t>(call_of(call.function()));
    const trace::About detail{about.context, static_cast<std::uint32_t>(about.request)};
    // A trace is of one job, in which guests have no numbers.
    const TaskId peer = call.runtime().is_guest(about.peer) ? TaskActivity::kAnyPeer : about.peer;
    if (!process_context().tracer.enter(region, peer, about.tag, call.site(), detail)) return;
    region_ = region;
    bytes_ = about.bytes;
}

void Noted::record_collective(const Comm& comm, std::uint32_t number, trace::Phase phase,
                              OperationFacts facts) noexcept {
    // Groups of CCL have numbers of their own below this bit.
    constexpr std::int32_t kCommunicator = 0x40000000;
    const comm::Runtime* const runtime = process_context().runtime;
    if (runtime != nullptr && runtime->is_guest(facts.root)) facts.root = -1;
    process_context().tracer.collective(facts.root,
                                        kCommunicator | static_cast<std::int32_t>(comm.context),
                                        bytes_, number, phase, facts.flow);
}

}  // namespace poe::mpi
