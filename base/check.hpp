// POE_CHECK: an internal error stops the program and prints the values that prove it. For mistakes
// in a user's input see result.hpp; for failures of the environment see error.hpp.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <type_traits>

namespace poe {

// A number, an enum or a text as text. A stream would do the same, but its header costs every file
// that includes this one.
template <typename Value>
[[gnu::cold]] std::string checked_value_text(const Value& value) {
    if constexpr (std::is_enum_v<Value>) {
        return std::to_string(static_cast<std::underlying_type_t<Value>>(value));
    } else if constexpr (std::is_arithmetic_v<Value>) {
        return std::to_string(value);
    } else {
        return std::string(value);
    }
}

// Prints the failed condition and its values to standard error and aborts.
template <typename... Values>
[[noreturn, gnu::cold, gnu::noinline]] void check_failed(const char* file, int line,
                                                         const char* condition,
                                                         const char* value_names,
                                                         const Values&... values) {
    std::string text = "poe: internal error at ";
    text.append(file).append(":").append(std::to_string(line)).append(": ").append(condition);
    if constexpr (sizeof...(values) > 0) {
        text.append(" with (").append(value_names).append(") = (");
        const char* separator = "";
        ((text.append(separator).append(checked_value_text(values)), separator = ", "), ...);
        text.append(")");
    }
    text.append("\n");
    std::fputs(text.c_str(), stderr);
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
