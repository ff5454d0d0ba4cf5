// ErrorReport: what the functions of this room return instead of calling an error handler, which
// belongs to a communicator and so to a higher room.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace poe::mpi {

// The text of the parts, which are strings and integers.
template <typename... Parts>
std::string joined(const Parts&... parts) {
    std::string text;
    const auto add = [&](const auto& part) {
        if constexpr (std::is_integral_v<std::decay_t<decltype(part)>>) {
            text += std::to_string(part);
        } else {
            text += part;
        }
    };
    (add(parts), ...);
    return text;
}

// True if there is an error. `argument` is the name of the wrong argument in the standard's
// prototype (a literal), `text` a sentence without the final full stop that says what is wrong.
struct ErrorReport {
    int error_class = 0;  // MPI_SUCCESS
    std::string_view argument;
    std::string text;

    ErrorReport() = default;
    ErrorReport(int which, std::string_view name, std::string what)
        : error_class(which), argument(name), text(std::move(what)) {}
    explicit operator bool() const noexcept { return error_class != 0; }
};

}  // namespace poe::mpi
