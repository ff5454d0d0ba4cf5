// See preload.hpp.
#include "partition_manager/launch/preload.hpp"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "base/unique_fd.hpp"

namespace poe::pm {

namespace {

constexpr std::size_t kMostHeaders = 128;
constexpr std::size_t kMostNeeded = 4096;
constexpr std::size_t kMostNames = 1 << 20;

bool read_at(int fd, std::uint64_t offset, void* into, std::size_t bytes) {
    return ::pread(fd, into, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
}

// Returns the position in the file of what is loaded at `address`; 0 if nothing is.
std::uint64_t file_offset(const std::vector<Elf64_Phdr>& headers, std::uint64_t address) {
    for (const Elf64_Phdr& header : headers)
        if (header.p_type == PT_LOAD && address >= header.p_vaddr &&
            address - header.p_vaddr < header.p_filesz)
            return header.p_offset + (address - header.p_vaddr);
    return 0;
}

// Returns the names of all symbols and libraries of the dynamic linker.
std::string dynamic_names(int fd, const std::vector<Elf64_Phdr>& headers,
                          const Elf64_Phdr& dynamic) {
    std::vector<Elf64_Dyn> entries(
        std::min<std::size_t>(dynamic.p_filesz / sizeof(Elf64_Dyn), kMostNeeded));
    if (!read_at(fd, dynamic.p_offset, entries.data(), entries.size() * sizeof(Elf64_Dyn)))
        return "";
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    for (const Elf64_Dyn& entry : entries) {
        if (entry.d_tag == DT_STRTAB) address = entry.d_un.d_ptr;
        if (entry.d_tag == DT_STRSZ) size = entry.d_un.d_val;
    }
    std::string names(std::min<std::uint64_t>(size, kMostNames), '\0');
    const std::uint64_t offset = file_offset(headers, address);
    if (offset == 0 || !read_at(fd, offset, names.data(), names.size())) return "";
    return names;
}

bool contains(std::string_view names, std::initializer_list<const char*> some) {
    for (const char* one : some)
        if (names.find(one) != std::string_view::npos) return true;
    return false;
}

bool has_sanitizer(std::string_view names) {
    return contains(names, {"libasan.so", "libtsan.so", "liblsan.so", "libubsan.so",
                            "libhwasan.so", "libclang_rt.", "__asan_init", "__tsan_init"});
}

// What the program in this file is; the names of what it needs follow from its dynamic section.
std::optional<std::string> names_of_program(int fd) {
    Elf64_Ehdr head;
    if (!read_at(fd, 0, &head, sizeof head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_phentsize != sizeof(Elf64_Phdr) ||
        head.e_phnum > kMostHeaders)
        return std::nullopt;
    std::vector<Elf64_Phdr> headers(head.e_phnum);
    if (!read_at(fd, head.e_phoff, headers.data(), headers.size() * sizeof(Elf64_Phdr)))
        return std::nullopt;
    const auto find = [&](Elf64_Word type) {
        return std::find_if(headers.begin(), headers.end(),
                            [type](const Elf64_Phdr& one) { return one.p_type == type; });
    };
    const auto dynamic = find(PT_DYNAMIC);
    if (find(PT_INTERP) == headers.end() || dynamic == headers.end()) return std::nullopt;
    return dynamic_names(fd, headers, *dynamic);
}

// Returns the interpreter that the first line of a script names; empty if the file is not a script.
std::string interpreter_of(int fd) {
    char text[256];
    const ssize_t count = ::pread(fd, text, sizeof text, 0);
    if (count < 3 || text[0] != '#' || text[1] != '!') return "";
    std::string_view line(text + 2, static_cast<std::size_t>(count) - 2);
    line = line.substr(0, line.find('\n'));
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return "";
    line.remove_prefix(begin);
    return std::string(line.substr(0, line.find_first_of(" \t")));
}

ProgramFile facts_from(const std::optional<std::string>& names) {
    ProgramFile program;
    program.accepts_preload = names && !names->empty() && !has_sanitizer(*names);
    program.shows_itself = names && contains(*names, {"libmpl.so.", "libmpi_abi.so."});
    return program;
}

}  // namespace

ProgramFile look_at_program(const std::string& file) {
    const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd) return {};
    const std::string interpreter = interpreter_of(fd.get());
    if (interpreter.empty()) return facts_from(names_of_program(fd.get()));
    const UniqueFd other(::open(interpreter.c_str(), O_RDONLY | O_CLOEXEC));
    return other ? facts_from(names_of_program(other.get())) : ProgramFile{};
}

std::string find_preload(const std::string& directory, const std::string& name) {
    for (const char* libraries : {"/../" POE_LIBDIR, "/../lib"}) {
        std::string file = directory + libraries + "/poe/" + name;
        if (::access(file.c_str(), R_OK) == 0) return file;
    }
    return "";
}

std::string with_preload(const std::string& before, const std::string& library) {
    return before.empty() ? library : before + ":" + library;
}

}  // namespace poe::pm
