// Formats and parses the times and fractions of a trace.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/types.hpp"
#include "tracer/read/trace_time.hpp"

namespace poe::trace {

// Four significant digits: "1.234 s", "300.0 us", "12 ns", "2:05.3".
std::string span_words(Time time);
// A moment, with enough digits to distinguish two moments that are `apart`: "1.2345 s".
std::string moment_words(Time time, Time apart);
// "62.5%"
std::string percent_words(double share);
// "812", "1.2K", "34M"
std::string amount_words(double amount);
// "1 message", "812 messages", "1.2K messages"
std::string things_words(std::uint64_t count, std::string_view thing);

// "812", "1.2K", "34M" in units of 1024.
std::string bytes_words(Bytes bytes);

// Returns the name of a Metric, such as "cpu user" or "net in"; "?" for other numbers.
std::string_view metric_word(std::size_t metric);
inline constexpr std::size_t kMetrics = 22;

// Parses user input: "1.5", "1.5s", "300ms", "20us", "7ns", "2:05"; or "40%" of [begin, end].
std::optional<Time> read_time(std::string_view text, Time begin, Time end);

}  // namespace poe::trace
