// The location of a computer's tuning file (mptune(1)). poe, which passes the file to the tasks,
// and the code that reads it in the tasks must agree on it, so both use this file. Nothing here
// does I/O.
#pragma once

#include <functional>
#include <string>

namespace poe {

// The variable in which poe passes the tuning to all tasks of a job, so that all have the same
// (tuning_text.hpp).
inline constexpr const char* kTuningVariable = "MP_TUNING";
inline constexpr const char* kTuningFileVariable = "MP_TUNEFILE";
// The variable that names the communication plan of a run, and the one in which poe passes its
// text.
inline constexpr const char* kPlanFileVariable = "MP_PLAN";
inline constexpr const char* kPlanTextVariable = "MP_PLANTEXT";
// The maximum length in bytes of a tuning file and of a plan.
inline constexpr std::size_t kLongestTuning = std::size_t{64} << 10;

// Returns the value of MP_TUNEFILE, or poe/tuning.<host> in the user's configuration directory.
// Empty if the variables name no directory. `variables` is used like getenv. Pure.
inline std::string tuning_path(const std::function<const char*(const char*)>& variables,
                               const std::string& host) {
    const auto value = [&](const char* name) {
        const char* text = variables(name);
        return std::string(text != nullptr ? text : "");
    };
    std::string file = value(kTuningFileVariable);
    if (!file.empty()) return file;
    std::string directory = value("XDG_CONFIG_HOME");
    if (directory.empty() && !value("HOME").empty()) directory = value("HOME") + "/.config";
    return directory.empty() ? "" : directory + "/poe/tuning." + host;
}

}  // namespace poe
