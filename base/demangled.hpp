// Converts a symbol-table name into the function name in the source. Used by the code that shows
// stacks and by the code that shows source lines.
#pragma once

#include <cstdlib>
#include <cxxabi.h>
#include <memory>
#include <string>
#include <string_view>

namespace poe {

// Demangles only names that begin with _Z, because the demangler takes any other name for a type:
// the C function `f` would become `float`.
inline std::string demangled(const char* name) {
    if (!std::string_view(name).starts_with("_Z")) return name;
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> plain(
        abi::__cxa_demangle(name, nullptr, nullptr, &status), std::free);
    return status == 0 && plain ? plain.get() : name;
}

}  // namespace poe
