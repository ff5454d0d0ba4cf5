// Caller: the information that every entry point of the C API passes to its implementation. It is
// separate because all rooms with entry points use it.
#pragma once

namespace poe::comm {

// The caller of an entry point: the function's name as the user wrote it, and the return address.
// Constructed implicitly from the name. Only an exported function itself may construct it, because
// it takes that function's return address.
struct Caller {
    [[gnu::always_inline]] inline Caller(const char* called) noexcept
        : name(called), site(__builtin_return_address(0)) {}

    const char* name;
    const void* site;
};

}  // namespace poe::comm
