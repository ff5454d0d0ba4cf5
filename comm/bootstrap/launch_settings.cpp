// Parses the MP_ variables without poe's table of flags, which is in a higher layer.
#include "comm/bootstrap/launch_settings.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <string_view>
#include <utility>
#include <vector>

#include "base/parse.hpp"

namespace poe::comm {
namespace {

constexpr Bytes kKilo = 1024;
constexpr Bytes kGiga = kKilo * kKilo * kKilo;

template <typename Value>
using Word = std::pair<std::string_view, Value>;

std::string lower(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(), [](char letter) {
        return static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    });
    return result;
}

UserError not_allowed(const char* name, std::string_view text, const std::string& expected) {
    UserError error;
    error.source = name;
    error.text = "\"" + std::string(text) + "\" is not allowed";
    error.expected = "expected " + expected;
    return error;
}

// Returns the variable's value; empty if it is not set.
std::string_view value_of(const Variables& variables, const char* name) {
    const char* text = variables(name);
    return text != nullptr ? text : "";
}

// Sets `value` to the one that the variable names; no effect if the variable is empty.
template <typename Value, std::size_t n>
std::optional<UserError> read_word(const Variables& variables, const char* name, bool any_case,
                                   const std::array<Word<Value>, n>& words, Value& value) {
    const std::string_view text = value_of(variables, name);
    if (text.empty()) return std::nullopt;
    std::string expected;
    for (std::size_t i = 0; i < n; ++i) {
        if ((any_case ? lower(text) : text) == words[i].first) {
            value = words[i].second;
            return std::nullopt;
        }
        if (i > 0) expected += i + 1 < n ? ", " : " or ";
        expected += words[i].first;
    }
    return not_allowed(name, text, expected);
}

// Parses digits with an optional k, m or g, optionally followed by "b" or "ib". 0: not valid.
Bytes size_of(std::string_view text) {
    if (text.empty() || text[0] < '1' || text[0] > '9') return 0;
    const auto parsed = take_number<Bytes>(text);
    if (!parsed) return 0;
    Bytes number = *parsed;
    const std::string unit = lower(text);
    if (unit.empty() || unit == "b") return number;
    const auto power = std::string_view("kmg").find(unit[0]);
    const std::string rest = unit.substr(1);
    if (power == std::string_view::npos || (!rest.empty() && rest != "b" && rest != "ib")) return 0;
    for (std::size_t i = 0; i <= power; ++i) {
        if (number > ~Bytes{0} / kKilo) return 0;
        number *= kKilo;
    }
    return number;
}

std::optional<UserError> read_size(const Variables& variables, const char* name, Bytes low,
                                   Bytes high, Bytes& value) {
    const std::string_view text = value_of(variables, name);
    if (text.empty()) return std::nullopt;
    const Bytes size = size_of(text);
    if (size < low || size > high)
        return not_allowed(name, text,
                           "a number of bytes from " + std::to_string(low) + " to " +
                               std::to_string(high) +
                               ", optionally followed by k, m or g for powers of 1024");
    value = size;
    return std::nullopt;
}

}  // namespace

Result<LaunchSettings> read_launch_settings(const Variables& variables) {
    constexpr std::array<Word<WaitMode>, 5> kWaitModes{{{"adaptive", WaitMode::kAdaptive},
                                                        {"poll", WaitMode::kPoll},
                                                        {"yield", WaitMode::kYield},
                                                        {"sleep", WaitMode::kSleep},
                                                        {"nopoll", WaitMode::kSleep}}};
    constexpr std::array<Word<Euilib>, 2> kEuilibs{{{"us", Euilib::kUs}, {"ip", Euilib::kIp}}};
    constexpr std::array<Word<bool>, 2> kYesNo{{{"yes", true}, {"no", false}}};
    LaunchSettings settings;
    auto error = read_word(variables, "MP_WAIT_MODE", true, kWaitModes, settings.wait_mode);
    if (!error) error = read_word(variables, "MP_EUILIB", false, kEuilibs, settings.euilib);
    if (!error) error = read_word(variables, "MP_SINGLE_COPY", true, kYesNo, settings.single_copy);
    if (!error)
        error =
            read_size(variables, "MP_BUFFER_MEM", 4 * kKilo, kGiga * kKilo, settings.buffer_mem);
    if (value_of(variables, "MP_EAGER_LIMIT") == "0")
        settings.eager_limit = 1;  // 0 would select the default
    else if (!error)
        error = read_size(variables, "MP_EAGER_LIMIT", 1, kGiga, settings.eager_limit);
    if (error) return *error;
    return settings;
}

std::string LaunchSettings::text() const {
    return std::to_string(static_cast<unsigned>(wait_mode)) + "," + std::to_string(buffer_mem) +
           "," + std::to_string(eager_limit) + "," + std::to_string(static_cast<unsigned>(euilib)) +
           "," + std::to_string(single_copy ? 1 : 0);
}

std::optional<LaunchSettings> LaunchSettings::parse(const std::string& text) {
    std::array<Bytes, 5> numbers{};
    const char* at = text.data();
    const char* end = at + text.size();
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const auto [stop, fault] = std::from_chars(at, end, numbers[i]);
        const bool last = i + 1 == numbers.size();
        if (fault != std::errc{} || (last ? stop != end : stop == end || *stop != ','))
            return std::nullopt;
        at = stop + 1;
    }
    if (numbers[0] > static_cast<Bytes>(WaitMode::kSleep) ||
        numbers[3] > static_cast<Bytes>(Euilib::kIp) || numbers[4] > 1)
        return std::nullopt;
    LaunchSettings settings;
    settings.wait_mode = static_cast<WaitMode>(numbers[0]);
    settings.buffer_mem = numbers[1];
    settings.eager_limit = numbers[2];
    settings.euilib = static_cast<Euilib>(numbers[3]);
    settings.single_copy = numbers[4] == 1;
    return settings;
}

}  // namespace poe::comm
