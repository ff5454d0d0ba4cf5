// The one parser of numbers in text. Decimal; a leading '+', blanks and other bases are not
// accepted.
#pragma once

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <type_traits>

namespace poe {

// Parses the number at the beginning of `text` and removes it from `text`. Empty if there is none,
// or if it does not fit into Number or is not finite; `text` is unchanged then.
template <class Number>
std::optional<Number> take_number(std::string_view& text) noexcept {
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{}) return std::nullopt;
    if constexpr (std::is_floating_point_v<Number>)
        if (!std::isfinite(number)) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return number;
}

// Parses a text that consists of one number. Empty for any other text.
template <class Number>
std::optional<Number> parse_number(std::string_view text) noexcept {
    const auto number = take_number<Number>(text);
    return text.empty() ? number : std::nullopt;
}

}  // namespace poe
