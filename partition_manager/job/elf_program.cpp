// See elf_program.hpp.
#include "partition_manager/job/elf_program.hpp"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

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

std::vector<Elf64_Dyn> dynamic_entries(int fd, const Elf64_Phdr& dynamic) {
    std::vector<Elf64_Dyn> entries(
        std::min<std::size_t>(dynamic.p_filesz / sizeof(Elf64_Dyn), kMostNeeded));
    if (!read_at(fd, dynamic.p_offset, entries.data(), entries.size() * sizeof(Elf64_Dyn)))
        return {};
    return entries;
}

// Returns the names of all symbols and libraries of the dynamic linker.
std::string dynamic_names(int fd, const std::vector<Elf64_Phdr>& headers,
                          const std::vector<Elf64_Dyn>& entries) {
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

std::string name_at(const std::string& names, std::uint64_t offset) {
    return offset < names.size() ? names.substr(offset, names.find('\0', offset) - offset) : "";
}

}  // namespace

std::optional<ElfProgram> read_elf_program(int fd) {
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
    const std::vector<Elf64_Dyn> entries = dynamic_entries(fd, *dynamic);
    ElfProgram program;
    program.names = dynamic_names(fd, headers, entries);
    if (program.names.empty()) return std::nullopt;
    for (const Elf64_Dyn& entry : entries) {
        if (entry.d_tag == DT_NULL) break;
        const std::string name = name_at(program.names, entry.d_un.d_val);
        if (entry.d_tag == DT_NEEDED) program.needed.push_back(name);
        if (entry.d_tag == DT_RPATH) program.rpath = name;
        if (entry.d_tag == DT_RUNPATH) program.runpath = name;
    }
    return program;
}

std::optional<ElfProgram> read_elf_program(const std::string& file) {
    const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    return fd ? read_elf_program(fd.get()) : std::nullopt;
}

}  // namespace poe::pm
