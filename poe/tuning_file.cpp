// Reads the tuning file for the tasks; see tuning_file.hpp.
#include "poe/tuning_file.hpp"

#include "base/error.hpp"
#include "base/segment/tuning_path.hpp"
#include "base/segment/tuning_text.hpp"

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
    TuningText read = read_tuning_text(path);
    const char* named = variable(kTuningFileVariable);
    if (read.missing && (named == nullptr || *named == '\0')) read = {};
    return std::string(kTuningVariable) + "=" + tuning_to_hand({path, read});
}

std::string plan_entry(const std::string& path) {
    const TuningText read = read_tuning_text(path);
    if (!read.failure.empty())
        throw Error("cannot read the plan " + path + " (-plan, MP_PLAN): " + read.failure +
                    "; vt -plan makes a plan from a trace");
    return std::string(kPlanTextVariable) + "=" + read.text;
}

}  // namespace poe::cli
