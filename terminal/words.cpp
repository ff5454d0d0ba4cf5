// Implementation of words.hpp.
#include "terminal/words.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace poe::terminal {

std::string time_words(std::chrono::milliseconds time) {
    const long long tenths = std::max<long long>(time.count(), 0) / 100;
    const long long seconds = tenths / 10;
    if (seconds < 10) return fmt::format("{}.{} s", seconds, tenths % 10);
    if (seconds < 60) return fmt::format("{} s", seconds);
    if (seconds < 3600) return fmt::format("{}:{:02}", seconds / 60, seconds % 60);
    if (seconds < 86400)
        return fmt::format("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    return fmt::format("{}d {:02}h", seconds / 86400, seconds / 3600 % 24);
}

std::string size_words(Bytes bytes) {
    constexpr std::array<const char*, 5> kUnits{"K", "M", "G", "T", "P"};
    double amount = static_cast<double>(bytes) / 1024;
    std::size_t unit = 0;
    while (amount >= 999.5 && unit + 1 < kUnits.size()) {
        amount /= 1024;
        ++unit;
    }
    return fmt::format("{:.{}f}{}", amount, unit > 0 && amount < 9.95 ? 1 : 0, kUnits[unit]);
}

std::string rate_words(double per_second) {
    if (per_second >= 999'500) return fmt::format("{:.1f}M", per_second / 1e6);
    return fmt::format("{:.{}f}", per_second, per_second < 0.995 ? 2 : per_second < 9.95 ? 1 : 0);
}

}  // namespace poe::terminal
