// Source lines by libdw; see source_lines.hpp.
#include "mpi/check/source_lines.hpp"

#include <charconv>
#include <cstring>
#include <dlfcn.h>
#include <elfutils/libdwfl.h>
#include <link.h>
#include <map>
#include <string_view>
#include <unistd.h>

namespace poe::mpi::check {
namespace {

// The functions of libdw that are needed; null if the library is not installed.
struct Libdw {
    template <typename F>
    void find(void* library, const char* name, F*& function) {
        function = library == nullptr ? nullptr : reinterpret_cast<F*>(::dlsym(library, name));
        complete = complete && function != nullptr;
    }

    Libdw() {
        void* const library = ::dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
        find(library, "dwfl_begin", begin);
        find(library, "dwfl_report_offline", report_offline);
        find(library, "dwfl_report_end", report_end);
        find(library, "dwfl_module_getelf", getelf);
        find(library, "dwfl_module_addrname", addrname);
        find(library, "dwfl_module_getsrc", getsrc);
        find(library, "dwfl_lineinfo", lineinfo);
        find(library, "dwfl_build_id_find_elf", callbacks.find_elf);
        find(library, "dwfl_standard_find_debuginfo", callbacks.find_debuginfo);
        find(library, "dwfl_offline_section_address", callbacks.section_address);
    }

    bool complete = true;
    decltype(&::dwfl_begin) begin = nullptr;
    decltype(&::dwfl_report_offline) report_offline = nullptr;
    decltype(&::dwfl_report_end) report_end = nullptr;
    decltype(&::dwfl_module_getelf) getelf = nullptr;
    decltype(&::dwfl_module_addrname) addrname = nullptr;
    decltype(&::dwfl_module_getsrc) getsrc = nullptr;
    decltype(&::dwfl_lineinfo) lineinfo = nullptr;
    Dwfl_Callbacks callbacks{};
};

const Libdw& libdw() {
    static const Libdw* const library = new Libdw;
    return *library;
}

// The path of a loaded object with this name; empty if there is none.
std::string path_of(std::string_view object) {
    struct Search {
        std::string_view object;
        std::string path;
    } search{object, {}};
    ::dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* data) {
            auto& wanted = *static_cast<Search*>(data);
            std::string path = info->dlpi_name != nullptr ? info->dlpi_name : "";
            if (path.empty()) {
                char program[4096];
                const ssize_t length = ::readlink("/proc/self/exe", program, sizeof program);
                if (length > 0) path.assign(program, static_cast<std::size_t>(length));
            }
            if (!path.ends_with(wanted.object)) return 0;
            wanted.path = std::move(path);
            return 1;
        },
        &search);
    return search.path;
}

struct Module {
    Dwfl_Module* module = nullptr;
    std::uint64_t base = 0;
};

Module read_module(const std::string& object) {
    const Libdw& library = libdw();
    const std::string path = path_of(object);
    if (path.empty() || !library.complete) return {};
    Dwfl* dwfl = library.begin(&library.callbacks);
    if (dwfl == nullptr) return {};
    Module read;
    read.module = library.report_offline(dwfl, path.c_str(), path.c_str(), -1);
    library.report_end(dwfl, nullptr, nullptr);
    GElf_Addr bias = 0;
    if (read.module != nullptr && library.getelf(read.module, &bias) != nullptr) read.base = bias;
    return read;
}

const Module& module_of(const std::string& object) {
    static auto* const modules = new std::map<std::string, Module>;
    const auto [known, is_new] = modules->try_emplace(object);
    if (is_new) known->second = read_module(object);
    return known->second;
}

std::string hexadecimal(std::uint64_t number) {
    char digits[16];
    const auto end = std::to_chars(digits, digits + sizeof digits, number, 16);
    return "0x" + std::string(digits, end.ptr);
}

}  // namespace

std::string words_of_place(const Place& place) {
    if (place.object[0] == '\0') return {};
    const std::string object(place.object, ::strnlen(place.object, sizeof place.object));
    std::string address = object + "+" + hexadecimal(place.offset);
    const Module& module = module_of(object);
    if (module.module == nullptr) return address;
    // The address is that after the call, which may belong to the next line.
    const Dwarf_Addr at = place.offset - 1 + module.base;
    int line = 0;
    if (Dwfl_Line* source = libdw().getsrc(module.module, at)) {
        const char* file = libdw().lineinfo(source, nullptr, &line, nullptr, nullptr, nullptr);
        if (file != nullptr) {
            const std::string_view path = file;
            return std::string(path.substr(path.rfind('/') + 1)) + ":" + std::to_string(line);
        }
    }
    const char* function = libdw().addrname(module.module, at);
    return function != nullptr ? std::string(function) + " (" + address + ")" : address;
}

std::string words_of_call(const Place& place) {
    std::string text(function_name(place.called()));
    const std::string where = words_of_place(place);
    return where.empty() ? text : text + " at " + where;
}

std::string words_of_site(const void* site) {
    return words_of_place(place_of(Function{}, site));
}

}  // namespace poe::mpi::check
