// Error handling of the OTF2 library, which would otherwise write each error to standard error
// itself, in several lines. Private to export and import.
#pragma once

#include <cstdarg>
#include <otf2/otf2.h>

namespace poe::trace {

// Makes the library only return error codes, which are then reported as Error.
inline void keep_otf2_quiet() {
    OTF2_Error_RegisterCallback([](void*, const char*, std::uint64_t, const char*,
                                   OTF2_ErrorCode code, const char*, va_list) { return code; },
                                nullptr);
}

}  // namespace poe::trace
