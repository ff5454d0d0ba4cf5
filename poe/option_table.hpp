// The option table: every flag and MP_* variable that poe knows, one row each. Parsing, `poe -h`,
// the man page's table and the error texts all come from these rows, so that they cannot disagree.
// To add a flag: a row in option_table.cpp, and a field in Options that it sets.
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
    kNumber,        // low..high; of seconds also as 10:00, 1m30s
    kNumberOrWord,  // the same, or one of `choices`
    kSize,          // bytes, low..high, with suffix k, m or g (powers of 1024)
    kChoice,        // one of `choices`
    kFile,          // a path, as it stands
    kString,        // any text, as it stands
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
    // In its canonical form: choices as the table writes them, all else as typed.
    std::string text;
    // kNumber, kSize (in bytes), kNumberOrWord when `is_number`; 0 otherwise.
    std::int64_t number = 0;
    bool is_number = false;

    bool yes() const { return text == "yes"; }
};

// Stores a value of the row in its field.
using Apply = void (*)(Options&, const Value&);

struct OptionRow {
    // Flag names without dashes, the main one first, blank-separated ("hostfile hfile"); empty:
    // none.
    std::string_view names;
    std::string_view variable;  // "MP_HOSTFILE"; empty: none
    ValueKind kind;
    std::string_view choices;  // words that are allowed, blank-separated; kString: that are special
    std::int64_t low;          // kNumber, kNumberOrWord, kSize
    std::int64_t high;
    std::string_view unit;           // what the number counts or the text is: "seconds", "file"
    std::string_view default_value;  // as the user would type it; empty: none
    std::string_view help;           // one line, at most 60 columns, no full stop
    OptionGroup group;
    Apply apply;                       // null: known, but not implemented yet
    bool before_program_only = false;  // after the program the word is the program's
    bool case_sensitive = false;       // kChoice: letter case matters
    // Names that other launchers use for the same; they are flags of poe only before the program.
    std::string_view early_names = "";
    bool later = false;  // one of later_options()

    // How the code names the row: the main flag without dashes, or else the variable.
    std::string_view key() const;
    bool is(std::string_view wanted) const { return key() == wanted; }
    bool implemented() const { return apply != nullptr; }
};

// All rows, in the order in which help and manual show them.
std::span<const OptionRow> option_table();

// The row with that key, which must exist.
const OptionRow& option_row(std::string_view key);

// Flags and variables of later versions of IBM's Parallel Environment that have no counterpart
// here. They are accepted, so that old scripts work, and have no effect.
std::span<const OptionRow> later_options();

// The row with this flag name (no dashes; main name or alias) or this variable; null when none.
const OptionRow* find_flag(std::string_view name);
// The same with the names that count only before the program.
const OptionRow* find_early_flag(std::string_view name);
const OptionRow* find_variable(std::string_view variable);

// Blank-separated words, one after another: `text` loses the first word, which is returned; empty
// at the end.
std::string_view next_word(std::string_view& text);

}  // namespace poe::cli
