// Implementation of trace_words.hpp.
#include "tracer/analysis/trace_words.hpp"

#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/parse.hpp"
#include "terminal/words.hpp"

namespace poe::trace {
namespace {

std::optional<double> read_number(std::string_view text) {
    const auto number = parse_number<double>(text);
    return number && *number >= 0 ? number : std::nullopt;
}

std::string with_digits(double value, const char* unit) {
    const int digits = value < 10 ? 3 : value < 100 ? 2 : value < 1000 ? 1 : 0;
    return fmt::format("{:.{}f} {}", value, digits, unit);
}

}  // namespace

std::string span_words(Time time) {
    if (time < Time{0}) return "-" + span_words(-time);
    const auto ns = static_cast<double>(time.count());
    if (ns < 1e3) return fmt::format("{} ns", time.count());
    if (ns < 1e6) return with_digits(ns / 1e3, "us");
    if (ns < 1e9) return with_digits(ns / 1e6, "ms");
    if (ns < 60e9) return with_digits(ns / 1e9, "s");
    const auto minutes = static_cast<long long>(ns / 60e9);
    const double seconds = ns / 1e9 - 60.0 * static_cast<double>(minutes);
    if (minutes < 60) return fmt::format("{}:{:04.1f}", minutes, seconds);
    return fmt::format("{}:{:02}:{:02.0f}", minutes / 60, minutes % 60, std::floor(seconds));
}

std::string moment_words(Time time, Time apart) {
    int digits = 0;
    for (Time step{1'000'000'000}; step > apart && digits < 9; step /= 10) ++digits;
    return fmt::format("{:.{}f} s", seconds_of(time), digits);
}

std::string percent_words(double share) {
    return fmt::format("{:.1f}%", 100 * share);
}

std::string amount_words(double amount) {
    constexpr std::array<const char*, 6> kUnits{"", "K", "M", "G", "T", "P"};
    std::size_t unit = 0;
    while (std::abs(amount) >= 999.5 && unit + 1 < kUnits.size()) {
        amount /= 1000;
        ++unit;
    }
    const bool short_one = std::abs(amount) < 9.95 && (unit > 0 || amount != std::floor(amount));
    return fmt::format("{:.{}f}{}", amount, short_one ? 1 : 0, kUnits[unit]);
}

std::string things_words(std::uint64_t count, std::string_view thing) {
    return fmt::format("{} {}{}", amount_words(static_cast<double>(count)), thing,
                       count == 1 ? "" : "s");
}

std::string bytes_words(Bytes bytes) {
    constexpr Bytes kShort = 1024;
    return bytes < kShort ? std::to_string(bytes) : terminal::size_words(bytes);
}

std::string_view metric_word(std::size_t metric) {
    constexpr std::array<std::string_view, kMetrics> kWords{"?",
                                                            "cpu user",
                                                            "cpu system",
                                                            "switches",
                                                            "forced switches",
                                                            "page faults",
                                                            "major faults",
                                                            "memory",
                                                            "disk read",
                                                            "disk written",
                                                            "net in",
                                                            "net out",
                                                            "processors",
                                                            "cycles",
                                                            "instructions",
                                                            "cache misses",
                                                            "cpu clock",
                                                            "all faults",
                                                            "all switches",
                                                            "packets in",
                                                            "packets out",
                                                            "system calls"};
    return kWords[metric < kMetrics ? metric : 0];
}

std::optional<Time> read_time(std::string_view text, Time begin, Time end) {
    constexpr double kFarthestSeconds = 1e9;
    if (text.ends_with("%")) {
        const auto percent = read_number(text.substr(0, text.size() - 1));
        if (!percent || *percent > 100) return std::nullopt;
        return begin + Time(static_cast<std::int64_t>(static_cast<double>((end - begin).count()) *
                                                      *percent / 100));
    }
    double unit = 1;
    double minutes = 0;
    if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
        const auto number = read_number(text.substr(0, colon));
        if (!number) return std::nullopt;
        minutes = *number;
        text.remove_prefix(colon + 1);
    } else {
        const auto ends = [&text](std::string_view word) {
            if (!text.ends_with(word)) return false;
            text.remove_suffix(word.size());
            return true;
        };
        if (ends("ns"))
            unit = 1e-9;
        else if (ends("us"))
            unit = 1e-6;
        else if (ends("ms"))
            unit = 1e-3;
        else
            ends("s");
    }
    const auto number = read_number(text);
    if (!number) return std::nullopt;
    const double seconds = 60 * minutes + *number * unit;
    if (seconds > kFarthestSeconds) return std::nullopt;
    return Time(static_cast<std::int64_t>(std::llround(seconds * 1e9)));
}

}  // namespace poe::trace
