// One line of gdb's machine interface (MI), as gdb's manual defines it. Pure; accepts any bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace poe::debugger {

// A value is a text, or a list of values with names. The values of an MI list may have no names;
// their names are empty then.
struct MiValue {
    enum class Kind { kText, kTuple, kList };
    Kind kind = Kind::kText;
    std::string text;
    std::vector<std::pair<std::string, MiValue>> items;

    // Returns the first item of this name, or null.
    const MiValue* find(std::string_view name) const;
    // Returns the text of the first item of this name, or an empty text.
    const std::string& text_of(std::string_view name) const;

    bool operator==(const MiValue&) const = default;
};

struct MiRecord {
    enum class Kind {
        kResult,   // ^done, the answer to the command with this token
        kExec,     // *stopped
        kStatus,   // +download
        kNotify,   // =thread-created
        kConsole,  // ~"text of a command"
        kTarget,   // @"output of the target"
        kLog,      // &"gdb's own messages"
        kPrompt,   // (gdb)
        kOther,    // no line of MI
    };
    Kind kind = Kind::kOther;
    std::optional<std::uint64_t> token;
    std::string name;  // the class of the record: done, error, stopped, thread-created
    MiValue results;   // a tuple
    std::string text;  // of kConsole, kTarget and kLog; the whole line of kOther
};

// Parses a line without its line end. A line that is not MI becomes kOther.
MiRecord parse_mi(std::string_view line);

// Returns the text as an MI string: in quotes, with escapes.
std::string mi_quoted(std::string_view text);

}  // namespace poe::debugger
