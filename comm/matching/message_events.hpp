// The events about messages that a tool may want (tracer/probe/engine_events.hpp). The elements are
// put together in functions of their own, so that a message costs no more than the test while no
// tool wants to know.
#pragma once

#include "base/contexts.hpp"
#include "comm/matching/request.hpp"
#include "tracer/probe/process_context.hpp"

namespace poe::comm {

[[gnu::cold, gnu::noinline]] inline void pass_on(EngineEvent event,
                                                 const Unexpected& message) noexcept {
    const MatchKey& from = message.from;
    process_context().events.raise(event, from.source, from.type, from.context,
                                   !is_of_program(from.context), message.number, message.length);
}
inline void raise_event(EngineEvent event, const Unexpected& message) noexcept {
    if (process_context().events.is_wanted(event)) [[unlikely]]
        pass_on(event, message);
}

// The bytes of an announced message are about to come into `into`: `fetched` by this task, or sent.
[[gnu::cold, gnu::noinline]] inline void pass_on_accepted(const ReceiveRequest& into,
                                                          bool fetched) noexcept {
    const ContextId context = into.wanted.context;
    process_context().events.raise(EngineEvent::kAnnouncedAccepted, into.source, into.type, context,
                                   !is_of_program(context), into.number, into.length, fetched,
                                   into.fills != nullptr);
}
inline void raise_accepted(const ReceiveRequest& into, bool fetched) noexcept {
    if (process_context().events.is_wanted(EngineEvent::kAnnouncedAccepted)) [[unlikely]]
        pass_on_accepted(into, fetched);
}

}  // namespace poe::comm
