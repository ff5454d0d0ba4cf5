// Implementation of symbols.hpp.
#include "tracer/analysis/symbols.hpp"

#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "base/demangled.hpp"
#include "base/source_lines.hpp"

namespace poe::trace {
namespace {

// Removes the parameters, the suffixes that the compiler appends to names of clones, and symbol
// versions.
std::string short_name(const std::string& symbol) {
    const std::string name = demangled(symbol.c_str());
    return name.substr(0, name.find_first_of("([.@"));
}

}  // namespace

std::string CodeLine::words(const Site& site) const {
    std::string where =
        file.empty() ? ""
                     : fmt::format("{}:{}", std::filesystem::path(file).filename().string(), line);
    if (!function.empty() && !where.empty()) return function + " at " + where;
    if (!where.empty()) return where;
    if (!function.empty()) return function;
    if (site.object.empty()) return "";
    return fmt::format("{}+{:#x}", std::filesystem::path(site.object).filename().string(),
                       site.address);
}

const CodeLine& Symbols::line_of(const Site& site) {
    const auto [known, is_new] = lines_.try_emplace(site);
    CodeLine& line = known->second;
    if (!is_new || site.object.empty() || (!site.is_line && site.address == 0)) return line;
    if (site.is_line) {
        line.file = site.object;
        line.line = static_cast<int>(site.address);
        return line;
    }
    SourceLine found = line_in_object(site.object, site.address);
    line.function = short_name(found.function);
    line.file = std::move(found.file);
    line.line = found.line;
    return line;
}

std::string function_name(const Site& site, Symbols& symbols) {
    if (site.object.empty() && site.address == 0) return "[unknown]";
    const std::string& function = symbols.line_of(site).function;
    if (!function.empty()) return function;
    const std::string file = std::filesystem::path(site.object).filename().string();
    if (file.empty()) return "[no file]";
    return file.front() == '[' ? file : "[" + file + "]";
}

}  // namespace poe::trace
