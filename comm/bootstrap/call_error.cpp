// See call_error.hpp. Debuggers find the functions and the text by their names, which are exported.
#include "comm/bootstrap/call_error.hpp"

#include <cstddef>
#include <mutex>

namespace poe::comm {

constexpr std::size_t kErrorText = 512;

// The message of the last error, with a zero at its end; longer ones are cut.
[[gnu::used]] char last_error_text[kErrorText] = {};

// They do nothing. The assembler keeps their calls.
[[gnu::noinline, gnu::used]] void call_fails() noexcept {
    asm volatile("" ::: "memory");
}
[[gnu::noinline, gnu::used]] void collective_call_fails() noexcept {
    asm volatile("" ::: "memory");
}

void announce_error(Call call, std::string_view text) noexcept {
    // Held in the functions too, so that a debugger reads the text of the call at which it stops.
    static std::mutex lock;
    const std::lock_guard guard(lock);
    last_error_text[text.copy(last_error_text, kErrorText - 1)] = '\0';
    const CallKind kind = call_kind(call);
    if (kind == CallKind::kCollective || kind == CallKind::kStartsCollective)
        collective_call_fails();
    else
        call_fails();
}

}  // namespace poe::comm
