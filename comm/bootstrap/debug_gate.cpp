// Implementation of debug_gate.hpp.
#include "comm/bootstrap/debug_gate.hpp"

#include <cstdlib>
#include <ctime>

extern "C" {
// Debuggers look it up by its name.
[[gnu::used]] volatile int MPIR_debug_gate = 0;
}

namespace poe::comm {

void wait_for_debugger() noexcept {
    if (std::getenv("MP_DEBUG_GATE") == nullptr) return;
    constexpr timespec kPause{0, 10'000'000};
    while (MPIR_debug_gate == 0) ::nanosleep(&kPause, nullptr);
}

}  // namespace poe::comm
