// Reading the tuning file for the tasks; see tuning_file.hpp.
#include "poe/tuning_file.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>

#include "comm/base/tuning_path.hpp"

namespace poe::cli {

std::string tuning_entry(const std::vector<std::string>& environment, const std::string& host) {
    const auto variable = [&](const char* name) -> const char* {
        const std::string start = std::string(name) + "=";
        for (const std::string& entry : environment)
            if (entry.starts_with(start)) return entry.c_str() + start.size();
        return nullptr;
    };
    const std::string path = tuning_path(variable, host);
    if (path.empty()) return {};
    const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "re"), std::fclose);
    if (!file && variable(kTuningFileVariable) != nullptr) return {};
    std::string text(file ? kLongestTuning : 0, '\0');
    if (file) text.resize(std::fread(text.data(), 1, text.size(), file.get()));
    // A text without an end of string, or the environment would end there.
    text.resize(std::min(text.find('\0'), text.size()));
    return std::string(kTuningVariable) + "=" + path + "\n" + text;
}

}  // namespace poe::cli
