// Where the tuning file of a computer is (mptune(1)). Apart because poe, which hands the file to
// the tasks, and what reads it in them must agree on it. Nothing here does I/O.
#pragma once

#include <functional>
#include <string>

namespace poe {

// What poe hands to tasks (tuning_text.hpp), so that all of a job have the same.
inline constexpr const char* kTuningVariable = "MP_TUNING";
inline constexpr const char* kTuningFileVariable = "MP_TUNEFILE";
inline constexpr std::size_t kLongestTuning = std::size_t{64} << 10;

// MP_TUNEFILE, or poe/tuning.<host> in the user's configuration directory. Empty when the variables
// name no directory. Pure.
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
