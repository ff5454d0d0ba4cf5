// Loads libdw and asks it for source lines; see source_lines.hpp.
#include "base/source_lines.hpp"

#include <charconv>
#include <dlfcn.h>
#include <elfutils/libdwfl.h>
#include <map>

#include "base/demangled.hpp"

namespace poe {
namespace {

// The functions of libdw that this file calls.
struct Libdw {
    template <typename F>
    void find(void* library, const char* name, F*& function) {
        function = library == nullptr ? nullptr : reinterpret_cast<F*>(::dlsym(library, name));
        complete = complete && function != nullptr;
    }

    Libdw() {
        void* const library = ::dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
        find(library, "dwfl_begin", begin);
        find(library, "dwfl_end", end);
        find(library, "dwfl_report_offline", report_offline);
        find(library, "dwfl_linux_proc_report", report_process);
        find(library, "dwfl_report_end", report_end);
        find(library, "dwfl_addrmodule", addrmodule);
        find(library, "dwfl_module_info", info);
        find(library, "dwfl_module_getelf", getelf);
        find(library, "dwfl_module_addrname", addrname);
        find(library, "dwfl_module_getsrc", getsrc);
        find(library, "dwfl_lineinfo", lineinfo);
        find(library, "dwfl_standard_find_debuginfo", of_files.find_debuginfo);
        find(library, "dwfl_build_id_find_elf", of_files.find_elf);
        find(library, "dwfl_offline_section_address", of_files.section_address);
        of_processes.find_debuginfo = of_files.find_debuginfo;
        find(library, "dwfl_linux_proc_find_elf", of_processes.find_elf);
    }

    bool complete = true;  // false if the library is not installed, or too old
    decltype(&::dwfl_begin) begin = nullptr;
    decltype(&::dwfl_end) end = nullptr;
    decltype(&::dwfl_report_offline) report_offline = nullptr;
    decltype(&::dwfl_linux_proc_report) report_process = nullptr;
    decltype(&::dwfl_report_end) report_end = nullptr;
    decltype(&::dwfl_addrmodule) addrmodule = nullptr;
    decltype(&::dwfl_module_info) info = nullptr;
    decltype(&::dwfl_module_getelf) getelf = nullptr;
    decltype(&::dwfl_module_addrname) addrname = nullptr;
    decltype(&::dwfl_module_getsrc) getsrc = nullptr;
    decltype(&::dwfl_lineinfo) lineinfo = nullptr;
    Dwfl_Callbacks of_files{};
    Dwfl_Callbacks of_processes{};
};

const Libdw& libdw() {
    static const Libdw* const library = new Libdw;
    return *library;
}

// Adds what `module` says about `address`, an address in its Dwfl.
void describe(Dwfl_Module* module, Dwarf_Addr address, SourceLine& line) {
    if (const char* name = libdw().addrname(module, address)) line.function = name;
    if (Dwfl_Line* source = libdw().getsrc(module, address)) {
        const char* file = libdw().lineinfo(source, nullptr, &line.line, nullptr, nullptr, nullptr);
        if (file != nullptr) line.file = file;
    }
}

// Returns the difference between the addresses of a module and those of its symbols.
Dwarf_Addr bias_of(Dwfl_Module* module) {
    GElf_Addr bias = 0;
    libdw().getelf(module, &bias);
    return bias;
}

Dwfl_Module* read_object(const std::string& path) {
    const Libdw& library = libdw();
    if (!library.complete) return nullptr;
    Dwfl* dwfl = library.begin(&library.of_files);
    if (dwfl == nullptr) return nullptr;
    Dwfl_Module* const module = library.report_offline(dwfl, path.c_str(), path.c_str(), -1);
    library.report_end(dwfl, nullptr, nullptr);
    if (module == nullptr) library.end(dwfl);
    return module;
}

// Objects stay open until the process ends.
Dwfl_Module* module_of(const std::string& path) {
    static auto* const modules = new std::map<std::string, Dwfl_Module*>;
    const auto [known, is_new] = modules->try_emplace(path);
    if (is_new) known->second = read_object(path);
    return known->second;
}

std::string without_folder(const std::string& path) {
    return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

std::string hexadecimal(std::uint64_t number) {
    char digits[16];
    const auto end = std::to_chars(digits, digits + sizeof digits, number, 16);
    return "0x" + std::string(digits, end.ptr);
}

}  // namespace

std::string SourceLine::place() const {
    if (!file.empty()) return without_folder(file) + ":" + std::to_string(line);
    if (object.empty()) return {};
    const std::string address = without_folder(object) + "+" + hexadecimal(offset);
    return function.empty() ? address : demangled(function.c_str()) + " (" + address + ")";
}

SourceLine line_in_object(const std::string& path, std::uint64_t offset) {
    SourceLine line;
    line.object = path;
    line.offset = offset;
    Dwfl_Module* const module = path.empty() ? nullptr : module_of(path);
    if (module != nullptr) describe(module, offset + bias_of(module), line);
    return line;
}

ProcessLines::ProcessLines(pid_t process) {
    const Libdw& library = libdw();
    if (!library.complete) return;
    dwfl_ = library.begin(&library.of_processes);
    if (dwfl_ == nullptr) return;
    library.report_process(dwfl_, process);
    library.report_end(dwfl_, nullptr, nullptr);
}

ProcessLines::~ProcessLines() {
    if (dwfl_ != nullptr) libdw().end(dwfl_);
}

SourceLine ProcessLines::line_of(std::uint64_t address) const {
    SourceLine line;
    Dwfl_Module* const module = dwfl_ == nullptr ? nullptr : libdw().addrmodule(dwfl_, address);
    if (module == nullptr) return line;
    const char* const path =
        libdw().info(module, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
    if (path != nullptr) line.object = path;
    line.offset = address - bias_of(module);
    describe(module, address, line);
    return line;
}

}  // namespace poe
