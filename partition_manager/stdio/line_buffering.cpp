// See line_buffering.hpp.
#include "partition_manager/stdio/line_buffering.hpp"

#include <string_view>

namespace poe::pm {

std::vector<std::pair<std::string, std::string>> line_buffering_variables(
    Unbuffered mode, const std::string& library, ino_t output,
    const std::vector<std::string>& environment, const std::string& preload) {
    const auto value_of = [&](std::string_view name) -> std::string {
        for (const std::string& entry : environment)
            if (entry.size() > name.size() && entry[name.size()] == '=' && entry.starts_with(name))
                return entry.substr(name.size() + 1);
        return "";
    };
    std::vector<std::pair<std::string, std::string>> variables;
    for (const auto& [name, value] :
         {std::pair("PYTHONUNBUFFERED", "1"), std::pair("GFORTRAN_UNBUFFERED_PRECONNECTED", "y")})
        if (value_of(name).empty()) variables.emplace_back(name, value);
    if (library.empty()) return variables;
    variables.emplace_back("LD_PRELOAD", preload.empty() ? library : preload + ":" + library);
    variables.emplace_back("MP_UNBUFFERED_PIPE", std::to_string(output));
    if (mode == Unbuffered::kPrograms) variables.emplace_back("MP_UNBUFFERED_PRELOAD", preload);
    return variables;
}

}  // namespace poe::pm
