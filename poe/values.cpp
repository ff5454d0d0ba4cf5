// Checks values. CLI11's validators are used for words and sizes, but not for the rest: CLI11's App
// would take 0.3 ms to fill with these rows at every start, its integers read "010" as eight and
// "0x10" as sixteen, and its messages contain neither the row's variable nor what was probably
// meant.
#include "poe/values.hpp"

#include <system_error>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/parse.hpp"
#include "base/suggest.hpp"
#include "poe/option_words.hpp"

namespace poe::cli {
namespace {

std::vector<std::string_view> words_of(std::string_view list) {
    std::vector<std::string_view> words;
    for (auto word = next_word(list); !word.empty(); word = next_word(list)) words.push_back(word);
    return words;
}

UserError not_allowed(const OptionRow& row, const std::string& source, const std::string& text) {
    UserError error;
    error.source = source;
    error.text = text.empty() ? "its value is empty" : in_quotes(text) + " is not allowed";
    error.expected = "expected " + allowed_values(row);
    const std::string meant = nearest(text, words_of(row.choices));
    if (!meant.empty())
        error.expected +=
            "; did you mean " + meant + "?" + (row.case_sensitive ? " (letter case matters)" : "");
    else if (text.size() > 1 && text[0] == '-' && find_flag(std::string_view(text).substr(1)))
        error.expected += "; was the value before " + in_quotes(text) + " forgotten?";
    return error;
}

// Returns the matching choice in the table's spelling; empty if `text` is none.
std::string canonical_word(const OptionRow& row, const std::string& text) {
    std::vector<std::string> words;
    for (const std::string_view word : words_of(row.choices)) words.emplace_back(word);
    std::string canonical = text;
    const std::string complaint = row.case_sensitive
                                      ? CLI::IsMember(words)(canonical)
                                      : CLI::IsMember(words, CLI::ignore_case)(canonical);
    return complaint.empty() ? canonical : "";
}

// Reads decimal digits with an optional minus. Returns false for anything else and for numbers that
// do not fit 64 bits.
bool read_number(const std::string& text, std::int64_t& number) {
    const auto parsed = parse_number<std::int64_t>(text);
    if (parsed) number = *parsed;
    return parsed.has_value();
}

// Reads a time in seconds: 10:00 and 1:30:00 (minutes or hours first), or 90s, 15m, 1h30m, 2d.
bool read_time(std::string_view text, std::int64_t& seconds) {
    constexpr std::string_view kUnits = "dhms";
    constexpr std::int64_t kSeconds[] = {86400, 3600, 60, 1};
    constexpr std::int64_t kMost = 1'000'000'000;  // of each part, so that no sum overflows
    const bool colons = text.find(':') != std::string_view::npos;
    std::int64_t sum = 0;
    std::size_t last_unit = 0;
    for (int part = 0; !text.empty(); ++part) {
        const std::size_t before = text.size();
        const std::int64_t number = take_number<std::int64_t>(text).value_or(-1);
        if (number < 0 || number > kMost) return false;
        const std::size_t digits = before - text.size();
        if (colons) {
            if (part > 2 || (part > 0 && (digits != 2 || number > 59))) return false;
            sum = sum * 60 + number;
            if (text.empty()) break;
            if (text[0] != ':' || text.size() == 1) return false;
        } else {
            const std::size_t unit = text.empty() ? std::string_view::npos : kUnits.find(text[0]);
            if (unit == std::string_view::npos || (part > 0 && unit <= last_unit)) return false;
            last_unit = unit;
            sum += number * kSeconds[unit];
        }
        text.remove_prefix(1);
    }
    seconds = sum;
    return true;
}

// Reads digits with an optional k, m or g (also kb, kib, ...), powers of 1024.
bool read_size(const std::string& text, std::int64_t& bytes) {
    // CLI11 would read a leading zero as octal or hexadecimal, and skip blanks.
    if (text == "0") {
        bytes = 0;
        return true;
    }
    if (text.empty() || text[0] < '1' || text[0] > '9') return false;
    if (text.find_first_of(" \t\n\v\f\r") != std::string::npos) return false;
    std::string converted = text;
    try {
        return CLI::AsSizeValue(false)(converted).empty() && read_number(converted, bytes);
    } catch (const CLI::ValidationError&) {  // CLI11 throws this if the product overflows
        return false;
    }
}

}  // namespace

bool means_yes(std::string_view text) {
    return same_word(text, "yes");
}

Result<Value> read_value(const OptionRow& row, const std::string& source, const std::string& text) {
    Value value;
    value.text = text;
    switch (row.kind) {
        case ValueKind::kNothing:
        case ValueKind::kFile:
        case ValueKind::kString:
            return value;
        case ValueKind::kYesNo:
        case ValueKind::kChoice:
            value.text = canonical_word(row, text);
            if (value.text.empty()) return not_allowed(row, source, text);
            return value;
        case ValueKind::kNumberOrWord:
            if (std::string word = canonical_word(row, text); !word.empty()) {
                value.text = std::move(word);
                return value;
            }
            [[fallthrough]];
        case ValueKind::kNumber:
            value.is_number = read_number(text, value.number);
            if (!value.is_number && !text.empty() && row.unit == "seconds") {
                value.is_number = read_time(text, value.number);
                if (value.is_number) value.text = std::to_string(value.number);
            }
            break;
        case ValueKind::kSize:
            value.is_number = read_size(text, value.number);
            break;
    }
    if (!value.is_number || value.number < row.low || value.number > row.high)
        return not_allowed(row, source, text);
    return value;
}

}  // namespace poe::cli
