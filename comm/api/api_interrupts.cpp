// MPL's interrupt control: whether messages make progress while the task computes, and how soon;
// see mpproto.h. Runtime keeps the settings.
#include "comm/api/api_checks.hpp"
#include "comm/api/mpproto.h"

namespace poe::comm {

int api_queryintr(const Caller& name) {
    ApiCall call(name);
    if (!call.ready()) return call.refuse_unready();
    return call.runtime().interrupts_enabled() ? 1 : 0;
}

namespace {

int set_interrupts(const Caller& name, bool enable) {
    ApiCall call(name);
    if (!call.ready()) return call.refuse_unready();
    return call.run([&] {
        call.runtime().enable_interrupts(enable);
        return 0;
    });
}

}  // namespace

int api_enableintr(const Caller& name) {
    return set_interrupts(name, true);
}

int api_disableintr(const Caller& name) {
    return set_interrupts(name, false);
}

int api_queryintrdelay(const Caller& name) {
    ApiCall call(name);
    if (!call.ready()) return call.refuse_unready();
    return static_cast<int>(call.runtime().interrupt_delay().count());
}

int api_setintrdelay(const Caller& name, int delay) {
    ApiCall call(name);
    if (!call.ready()) return call.refuse_unready();
    if (delay < 0) {
        return call.refuse(MplError::kQuery,
                           "the interrupt delay cannot be " + std::to_string(delay),
                           "give 0 or more microseconds");
    }
    call.runtime().set_interrupt_delay(std::chrono::microseconds(delay));
    return 0;
}

}  // namespace poe::comm
