// POE_CHECK: our own bugs stop the program with the values that prove them. For what a user typed
// see result.hpp, for what the world did see error.hpp.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>

namespace poe {

// Builds "a=1 b=2" from alternating names and values; cold, so streams are good enough.
template <typename... Values>
[[noreturn, gnu::cold, gnu::noinline]] void check_failed(const char* file, int line,
                                                         const char* condition,
                                                         const char* value_names,
                                                         const Values&... values) {
    std::ostringstream text;
    text << "poe: internal error at " << file << ":" << line << ": " << condition;
    if constexpr (sizeof...(values) > 0) {
        text << " with (" << value_names << ") = (";
        const char* separator = "";
        ((text << separator << values, separator = ", "), ...);
        text << ")";
    }
    text << "\n";
    std::fputs(text.str().c_str(), stderr);
    std::abort();
}

}  // namespace poe

// POE_CHECK(condition, values...): always on, also in release builds.
#define POE_CHECK(condition, ...)                                         \
    do {                                                                  \
        if (!(condition)) [[unlikely]]                                    \
            ::poe::check_failed(__FILE__, __LINE__, #condition,           \
                                #__VA_ARGS__ __VA_OPT__(, ) __VA_ARGS__); \
    } while (false)
