// The option table: every flag and MP_* variable of poe, one row each. Parsing, `poe -h`, the man
// page's table and the error texts all use these rows, so they cannot disagree. To add a flag, add
// a row in option_table.cpp and the field in Options that it sets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace poe::cli {

enum class ValueKind : unsigned char {
    kNothing,       // a flag without a value
    kYesNo,         // yes or no
    kNumber,        // low..high; seconds also as 10:00, 1m30s
    kNumberOrWord,  // likewise, or one of `choices`
    kSize,          // bytes, low..high, with suffix k, m or g (powers of 1024)
    kChoice,        // one of `choices`
    kFile,          // a path, unchanged
    kString,        // any text, unchanged
};

enum class OptionGroup : unsigned char {
    kJob,
    kNodes,
    kStreams,
    kEnd,
    kCommunication,
    kDisplays,
    kPoe,
};
inline constexpr OptionGroup kLastGroup = OptionGroup::kPoe;

struct Options;  // options.hpp

// A value that has been checked against its row.
struct Value {
    // The canonical form: choices as the table spells them, everything else as typed.
    std::string text;
    // kNumber, kSize (in bytes), kNumberOrWord if `is_number`; otherwise 0.
    std::int64_t number = 0;
    bool is_number = false;

    bool yes() const { return text == "yes"; }
};

// Stores a value of the row in its field.
using Apply = void (*)(Options&, const Value&);

struct OptionRow {
    // Flag names without dashes, the main one first, separated by blanks ("hostfile hfile"). Empty:
    // no flag.
    std::string_view names;
    std::string_view variable;  // "MP_HOSTFILE"; empty: none
    ValueKind kind;
    std::string_view choices;  // allowed words, separated by blanks; kString: special words
    std::int64_t low;          // kNumber, kNumberOrWord, kSize
    std::int64_t high;
    // The unit of the number, or the kind of text: "seconds", "file".
    std::string_view unit;
    std::string_view default_value;  // as the user would type it; empty: none
    std::string_view help;           // one line, at most 60 columns, no full stop
    OptionGroup group;
    Apply apply;                       // null: known, but not implemented yet
    bool before_program_only = false;  // after the program the word belongs to the program
    bool case_sensitive = false;       // kChoice: letter case is significant
    // Names of the same option in other launchers. They are flags of poe only before the program.
    std::string_view early_names = "";
    bool later = false;  // belongs to later_options()

    // The name of the row in the code: the main flag without dashes; the variable if there is no
    // flag.
    std::string_view key() const;
    bool is(std::string_view wanted) const { return key() == wanted; }
    bool implemented() const { return apply != nullptr; }
};

// All rows, in the order of the help and the manual.
std::span<const OptionRow> option_table();

// Returns the row with that key. Precondition: it exists.
const OptionRow& option_row(std::string_view key);

// Flags and variables of later versions of IBM's Parallel Environment that have no counterpart
// here. They are accepted without effect, so that old scripts work.
std::span<const OptionRow> later_options();

// Return the row with this flag name (without dashes; main name or alias) or this variable; null if
// there is none.
const OptionRow* find_flag(std::string_view name);
// Likewise, including the names that count only before the program.
const OptionRow* find_early_flag(std::string_view name);
const OptionRow* find_variable(std::string_view variable);

// Removes the first of the blank-separated words from `text` and returns it. Empty at the end.
std::string_view next_word(std::string_view& text);

}  // namespace poe::cli
