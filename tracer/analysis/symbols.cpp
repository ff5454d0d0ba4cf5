// Implementation of symbols.hpp.
#include "tracer/analysis/symbols.hpp"

#include <elfutils/libdwfl.h>
#include <filesystem>

#include <fmt/format.h>

#include "base/demangled.hpp"

namespace poe::trace {
namespace {

const Dwfl_Callbacks kCallbacks{.find_elf = dwfl_build_id_find_elf,
                                .find_debuginfo = dwfl_standard_find_debuginfo,
                                .section_address = dwfl_offline_section_address,
                                .debuginfo_path = nullptr};

// Removes the parameters, and the suffixes that the compiler appends to names of clones.
std::string short_name(const char* symbol) {
    const std::string name = demangled(symbol);
    return name.substr(0, name.find_first_of("([."));
}

}  // namespace

struct Symbols::Object {
    explicit Object(const std::string& path) : dwfl(dwfl_begin(&kCallbacks)) {
        if (dwfl == nullptr) return;
        module = dwfl_report_offline(dwfl, path.c_str(), path.c_str(), -1);
        dwfl_report_end(dwfl, nullptr, nullptr);
        GElf_Addr bias = 0;
        if (module != nullptr && dwfl_module_getelf(module, &bias) != nullptr) base = bias;
    }
    ~Object() { dwfl_end(dwfl); }
    Object(const Object&) = delete;
    Object& operator=(const Object&) = delete;

    Dwfl* dwfl;
    Dwfl_Module* module = nullptr;
    std::uint64_t base = 0;
};

std::string SourceLine::words(const Site& site) const {
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

Symbols::Symbols() = default;
Symbols::~Symbols() = default;

Symbols::Object& Symbols::object(const std::string& path) {
    auto& known = objects_[path];
    if (!known) known = std::make_unique<Object>(path);
    return *known;
}

const SourceLine& Symbols::line_of(const Site& site) {
    const auto [known, is_new] = lines_.try_emplace(site);
    SourceLine& line = known->second;
    if (is_new && site.is_line) {
        line.file = site.object;
        line.line = static_cast<int>(site.address);
    }
    if (site.is_line) return line;
    if (!is_new || site.object.empty() || site.address == 0) return line;
    const Object& from = object(site.object);
    if (from.module == nullptr) return line;
    const Dwarf_Addr address = site.address + from.base;
    if (const char* name = dwfl_module_addrname(from.module, address))
        line.function = short_name(name);
    if (Dwfl_Line* at = dwfl_module_getsrc(from.module, address))
        if (const char* file = dwfl_lineinfo(at, nullptr, &line.line, nullptr, nullptr, nullptr))
            line.file = file;
    return line;
}

}  // namespace poe::trace
