// What OTF2's library says of errors: it would write to standard error itself, several lines for
// one. Private to export and import.
#pragma once

#include <cstdarg>
#include <otf2/otf2.h>

namespace poe::trace {

// From now on its functions only return their errors, which become ours.
inline void keep_otf2_quiet() {
    OTF2_Error_RegisterCallback([](void*, const char*, std::uint64_t, const char*,
                                   OTF2_ErrorCode code, const char*, va_list) { return code; },
                                nullptr);
}

}  // namespace poe::trace
