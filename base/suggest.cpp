// Finds the nearest word and quotes text safely for UserErrors. Not performance-critical.
#include "base/suggest.hpp"

#include <algorithm>

namespace poe {
namespace {

constexpr std::size_t kLongestWord = 64;  // a longer word is not a mistyped one
constexpr std::size_t kLongestQuote = 80;
constexpr char kHex[] = "0123456789abcdef";

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool is_prefix(std::string_view prefix, std::string_view word) {
    return prefix.size() <= word.size() &&
           std::equal(prefix.begin(), prefix.end(), word.begin(),
                      [](char a, char b) { return lower(a) == lower(b); });
}

// Returns the length in bytes of the UTF-8 sequence of a printable character at the start of
// `text`, 0 if there is none.
std::size_t printable_length(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned first = byte(0);
    if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
    const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
    for (std::size_t i = 1; i < length; ++i)
        if ((byte(i) & 0xc0) != 0x80) return 0;
    if (first == 0xc2 && byte(1) < 0xa0) return 0;   // C1 control characters
    if (first == 0xe0 && byte(1) < 0xa0) return 0;   // overlong
    if (first == 0xed && byte(1) >= 0xa0) return 0;  // surrogates
    if (first == 0xf0 && byte(1) < 0x90) return 0;   // overlong
    if (first == 0xf4 && byte(1) >= 0x90) return 0;  // beyond Unicode
    return length;
}

// Appends one character, or one unprintable byte as \xNN.
void append_visible(std::string& out, std::string_view character, bool printable) {
    if (printable) {
        out += character;
        return;
    }
    const auto byte = static_cast<unsigned char>(character[0]);
    out += "\\x";
    out += kHex[byte >> 4];
    out += kHex[byte & 15];
}

}  // namespace

bool same_word(std::string_view a, std::string_view b) {
    return a.size() == b.size() && is_prefix(a, b);
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
    const std::size_t width = b.size() + 1;
    std::vector<std::size_t> cells((a.size() + 1) * width);
    const auto at = [&](std::size_t i, std::size_t j) -> std::size_t& {
        return cells[i * width + j];
    };
    for (std::size_t i = 0; i <= a.size(); ++i) at(i, 0) = i;
    for (std::size_t j = 0; j <= b.size(); ++j) at(0, j) = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const bool same = lower(a[i - 1]) == lower(b[j - 1]);
            std::size_t best = at(i - 1, j - 1) + (same ? 0 : 1);
            best = std::min({best, at(i - 1, j) + 1, at(i, j - 1) + 1});
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                lower(a[i - 2]) == lower(b[j - 1]))
                best = std::min(best, at(i - 2, j - 2) + 1);
            at(i, j) = best;
        }
    }
    return at(a.size(), b.size());
}

std::string nearest(std::string_view word, const std::vector<std::string_view>& candidates) {
    if (word.empty() || word.size() > kLongestWord) return "";
    std::string_view best;
    std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
    for (const std::string_view candidate : candidates) {
        const std::size_t distance = edit_distance(word, candidate);
        if (distance < best_distance && distance < candidate.size()) {
            best = candidate;
            best_distance = distance;
        }
    }
    if (!best.empty()) return std::string(best);

    std::string_view continued;
    for (const std::string_view candidate : candidates) {
        if (!is_prefix(word, candidate)) continue;
        if (!continued.empty()) return "";
        continued = candidate;
    }
    return std::string(continued);
}

std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& candidates) {
    const std::string near = nearest(word, candidates);
    return near.empty() ? "" : "; did you mean " + near + "?";
}

std::string visible(std::string_view text) {
    std::string out;
    std::size_t i = 0;
    while (i < text.size()) {
        const std::size_t length = text[i] == '\t' ? 1 : printable_length(text.substr(i));
        append_visible(out, text.substr(i, std::max<std::size_t>(length, 1)), length > 0);
        i += std::max<std::size_t>(length, 1);
    }
    return out;
}

std::string in_quotes(std::string_view text) {
    std::string out = "\"";
    std::size_t i = 0;
    while (i < text.size()) {
        if (i >= kLongestQuote) return out + "...\"";
        const std::size_t length = printable_length(text.substr(i));
        append_visible(out, text.substr(i, std::max<std::size_t>(length, 1)), length > 0);
        i += std::max<std::size_t>(length, 1);
    }
    return out + "\"";
}

std::string count_words(std::size_t count, const std::string& thing) {
    return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

}  // namespace poe
