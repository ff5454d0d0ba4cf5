// See handles.hpp.
#include "mpi/tool/handles.hpp"

#include "comm/progress/runtime_lock.hpp"
#include "tracer/probe/process_context.hpp"

namespace poe::mpi::tool {

Tools& tools() {
    // Never destroyed, because tools call in exit handlers, too.
    static Tools& all = *new Tools;
    return all;
}

namespace {

thread_local unsigned callback_turns = 0;

}  // namespace

CallbackTurn::CallbackTurn() noexcept {
    ++callback_turns;
}

CallbackTurn::~CallbackTurn() {
    --callback_turns;
}

bool CallbackTurn::exists() noexcept {
    return callback_turns != 0;
}

RuntimeTurn::RuntimeTurn() noexcept {
    comm::Runtime* const runtime = process_context().runtime;
    if (runtime == nullptr || !runtime->failure().empty()) return;
    if (CallbackTurn::exists()) {
        runtime_ = runtime;
        return;
    }
    const comm::RuntimeLock::Entry entry = runtime->turn().enter();
    if (entry == comm::RuntimeLock::Entry::kRefused) return;
    entered_ = entry == comm::RuntimeLock::Entry::kEntered;
    runtime_ = runtime;
}

RuntimeTurn::~RuntimeTurn() {
    if (entered_) runtime_->turn().leave();
}

}  // namespace poe::mpi::tool
