// Converts rows of the option table to text.
#include "poe/option_words.hpp"

#include "base/check.hpp"

namespace poe::cli {
namespace {

using Kind = ValueKind;
using Group = OptionGroup;

std::string upper_case(std::string_view text) {
    std::string out(text);
    for (char& c : out)
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    return out;
}

// Returns "a, b or c" for a blank-separated list.
std::string list_in_words(std::string_view words, std::string_view last_word) {
    std::string out;
    std::string_view word = next_word(words);
    while (!word.empty()) {
        const std::string_view following = next_word(words);
        if (!out.empty()) {
            const bool is_last = following.empty() && last_word.empty();
            out += is_last ? " or " : ", ";
        }
        out += word;
        word = following;
    }
    if (!last_word.empty()) {
        if (!out.empty()) out += " or ";
        out += last_word;
    }
    return out;
}

// Returns the placeholder of the value in a synopsis: "yes|no", "NUMBER", "FILE".
std::string value_synopsis(const OptionRow& row) {
    std::string out;
    std::string_view words = row.choices;
    for (auto word = next_word(words); !word.empty(); word = next_word(words)) {
        if (!out.empty()) out += "|";
        out += word;
    }
    const std::string before_free_value = out.empty() ? "" : out + "|";
    switch (row.kind) {
        case Kind::kNothing:
        case Kind::kYesNo:
        case Kind::kChoice:
            return out;
        case Kind::kNumber:
            return row.unit.ends_with("seconds") ? upper_case(row.unit) : "NUMBER";
        case Kind::kNumberOrWord:
            return before_free_value + (row.unit == "task id" ? "TASK" : upper_case(row.unit));
        case Kind::kSize:
            return "SIZE";
        case Kind::kFile:
        case Kind::kString:
            return before_free_value + upper_case(row.unit);
    }
    POE_CHECK(false, static_cast<int>(row.kind));
}

// Returns "a number of seconds from 1 to 10", or just "a number" if the unit is not a plural.
std::string number_in_words(const OptionRow& row) {
    const std::string range = std::to_string(row.low) + " to " + std::to_string(row.high);
    if (row.unit == "task id") return "a task id from " + range;
    if (!row.unit.ends_with("s")) return "a number from " + range;
    return "a number of " + std::string(row.unit) + " from " + range +
           (row.unit == "seconds" ? ", or a time such as 10:00 or 1h30m" : "");
}

}  // namespace

std::string display_name(const OptionRow& row) {
    std::string_view names = row.names;
    const std::string_view first = next_word(names);
    if (first.empty()) return std::string(row.variable);
    return "-" + std::string(first);
}

std::string flag_synopsis(const OptionRow& row) {
    std::string out;
    std::string_view names = row.names;
    for (auto word = next_word(names); !word.empty(); word = next_word(names)) {
        if (!out.empty()) out += ", ";
        // Flags without a value are shown in GNU spelling, except the old -h.
        out += row.kind == Kind::kNothing && word.size() > 1 ? "--" : "-";
        out += word;
    }
    names = row.early_names;
    for (auto word = next_word(names); !word.empty(); word = next_word(names))
        out += ", -" + std::string(word);
    const std::string value = value_synopsis(row);
    if (!out.empty() && !value.empty()) out += " ";
    return out + value;
}

std::string allowed_values(const OptionRow& row) {
    switch (row.kind) {
        case Kind::kNothing:
            return "no value";
        case Kind::kYesNo:
        case Kind::kChoice:
            return list_in_words(row.choices, "");
        case Kind::kNumber:
            return number_in_words(row);
        case Kind::kNumberOrWord:
            return list_in_words(row.choices, number_in_words(row));
        case Kind::kSize:
            return number_in_words(row) + ", optionally followed by k, m or g for powers of 1024";
        case Kind::kFile:
            return "the name of a file";
        case Kind::kString:
            return list_in_words(row.choices, "a " + std::string(row.unit));
    }
    POE_CHECK(false, static_cast<int>(row.kind));
}

std::string_view group_title(OptionGroup group) {
    switch (group) {
        case Group::kJob:
            return "The job";
        case Group::kNodes:
            return "Nodes";
        case Group::kStreams:
            return "Input and output";
        case Group::kEnd:
            return "Messages and the end of the job";
        case Group::kCommunication:
            return "Communication";
        case Group::kDisplays:
            return "Markers and traces";
        case Group::kPoe:
            return "poe itself";
    }
    POE_CHECK(false, static_cast<int>(group));
}

}  // namespace poe::cli
