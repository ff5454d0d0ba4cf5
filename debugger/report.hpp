// What pdbx shows: the answer of a command, an event, an error. As lines for people, or as one line
// of JSON for scripts. Pure.
#pragma once

#include <string>
#include <vector>

#include "debugger/folding.hpp"

namespace poe::debugger {

struct Report {
    enum class Kind { kAnswer, kStop, kEnd, kError, kNotice, kDeadlock, kOutput };
    Kind kind = Kind::kAnswer;
    std::string
        command;  // of kAnswer and kError: the line that was executed; of kOutput: stdout or stderr
    std::vector<Folded> answers;  // of the tasks
    std::vector<std::string> lines;
    std::string error;  // of kError: what was wrong
};

std::vector<std::string> lines_of(const Report& report);

// One line without its end: {"kind":"answer","command":"print
// x","answers":[{"tasks":[0,1],"text":"5"}]}. Texts that are not UTF-8 are shown with replacement
// characters.
std::string json_of(const Report& report);

}  // namespace poe::debugger
