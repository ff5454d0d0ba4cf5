// A tuning file (mptune(1)) on its way to the tasks: its text, or why it cannot be read, as poe
// finds it where the job is started, and as MP_TUNING hands it on. All tasks of a job must come to
// the same, also to the same failure, on whatever nodes they are.
#pragma once

#include <string>
#include <string_view>

namespace poe {

struct TuningText {
    std::string text;
    std::string failure;   // why it could not be read; empty: it was
    bool missing = false;  // because there is no such file
};
// Blocks as reading a file does. What is too long, or no text, cannot be read.
TuningText read_tuning_text(const std::string& path);

struct NamedTuning {
    std::string path;
    TuningText read;
};
// The value of MP_TUNING: the file's name, a line end, and its text; or '!', with which no such
// text begins, and the failure.
std::string tuning_to_hand(const NamedTuning& tuning);
NamedTuning handed_tuning(std::string_view value);

}  // namespace poe
