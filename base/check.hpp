// POE_CHECK: an internal error stops the program and prints the values that prove it. For mistakes
// in a user's input see result.hpp; for failures of the environment see error.hpp.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>

namespace poe {

// Prints the failed condition and its values to standard error and aborts. It uses a stream,
// because this code runs only once.
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

// POE_CHECK(condition, values...): aborts unless condition holds. Also active in release builds.
#define POE_CHECK(condition, ...)                                         \
    do {                                                                  \
        if (!(condition)) [[unlikely]]                                    \
            ::poe::check_failed(__FILE__, __LINE__, #condition,           \
                                #__VA_ARGS__ __VA_OPT__(, ) __VA_ARGS__); \
    } while (false)
