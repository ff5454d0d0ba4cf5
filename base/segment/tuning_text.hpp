// The text of a tuning file (mptune(1)), or the reason why it cannot be read. poe reads the file on
// the home node and passes the result to the tasks in MP_TUNING, because all tasks of a job must
// see the same text or the same failure.
#pragma once

#include <string>
#include <string_view>

namespace poe {

struct TuningText {
    std::string text;
    std::string failure;   // why the file could not be read; empty: it was read
    bool missing = false;  // the file does not exist
};
// Reads the file; blocks as reading a file does. A file that is too long (kLongestTuning), a pipe,
// or a file with a zero byte counts as unreadable.
TuningText read_tuning_text(const std::string& path);

struct NamedTuning {
    std::string path;
    TuningText read;
};
// Convert to and from the value of MP_TUNING: the file's path, a newline, and its text. If the file
// could not be read, '!' and the failure replace the text; no tuning file begins with '!'.
std::string tuning_to_hand(const NamedTuning& tuning);
NamedTuning handed_tuning(std::string_view value);

}  // namespace poe
