// Caller: what every entry point of the C API tells those that do its work. Apart because all rooms
// with entry points have it.
#pragma once

namespace poe::comm {

// Who makes a call: its name as the user wrote it, and where the call returns to. Becomes one out
// of the name inside of an exported function, and only there: it takes that function's return
// address.
struct Caller {
    [[gnu::always_inline]] inline Caller(const char* called) noexcept
        : name(called), site(__builtin_return_address(0)) {}

    const char* name;
    const void* site;
};

}  // namespace poe::comm
