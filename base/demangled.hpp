// The name of a function as its programmer wrote it, from the one in the object file's symbol
// table. Shared by those who show stacks and those who show source lines.
#pragma once

#include <cstdlib>
#include <cxxabi.h>
#include <memory>
#include <string>
#include <string_view>

namespace poe {

// Only names that begin with _Z are names of C++ functions. The demangler takes all others for
// types: a C function `f` would become `float`.
inline std::string demangled(const char* name) {
    if (!std::string_view(name).starts_with("_Z")) return name;
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> plain(
        abi::__cxa_demangle(name, nullptr, nullptr, &status), std::free);
    return status == 0 && plain ? plain.get() : name;
}

}  // namespace poe
