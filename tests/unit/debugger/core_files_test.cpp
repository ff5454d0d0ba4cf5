#include "debugger/core_files.hpp"

#include <cstdint>
#include <cstring>
#include <elf.h>

#include <catch2/catch.hpp>

using namespace poe;
using namespace poe::debugger;

namespace {

template <class T>
void append(std::string& bytes, const T& value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void append_note(std::string& notes, std::uint32_t type, std::string content) {
    Elf64_Nhdr header{};
    header.n_namesz = 5;
    header.n_descsz = static_cast<std::uint32_t>(content.size());
    header.n_type = type;
    append(notes, header);
    notes.append("CORE\0\0\0\0", 8);
    content.resize((content.size() + 3) / 4 * 4);
    notes += content;
}

// A core file whose process had mapped two files.
std::string core_file() {
    std::string files;
    for (const std::uint64_t word : {2ul, 4096ul, 0x1000ul, 0x2000ul, 0ul, 0x5000ul, 0x6000ul, 0ul})
        append(files, word);
    files.append("/opt/a program\0/lib/libc.so.6\0", 30);
    std::string notes;
    append_note(notes, NT_PRSTATUS, "odd");
    append_note(notes, NT_FILE, files);
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_type = ET_CORE;
    header.e_phoff = sizeof header;
    header.e_phnum = 2;
    Elf64_Phdr load{};
    load.p_type = PT_LOAD;
    Elf64_Phdr segment{};
    segment.p_type = PT_NOTE;
    segment.p_offset = sizeof header + 2 * sizeof segment;
    segment.p_filesz = notes.size();
    std::string bytes;
    append(bytes, header);
    append(bytes, load);
    append(bytes, segment);
    return bytes + notes;
}

}  // namespace

TEST_CASE("a core file tells its program") {
    CHECK(program_of_core(core_file()) == "/opt/a program");
}

TEST_CASE("a core file that is cut off, and other files, tell no program") {
    const std::string core = core_file();
    // The name ends 17 bytes before the end of the file.
    for (std::size_t size = 0; size + 17 < core.size(); ++size)
        CHECK(program_of_core(core.substr(0, size)).empty());
    CHECK(program_of_core("#!/bin/sh\n").empty());
    std::string program = core;
    program[16] = ET_EXEC;
    CHECK(program_of_core(program).empty());
}

TEST_CASE("a directory without core files is an error that says what is expected") {
    CHECK(find_core_files("/nonexistent").error().str().find("No such file") != std::string::npos);
    CHECK(find_core_files("/proc/self/fdinfo").error().str().find("coredir.0/core") !=
          std::string::npos);
}
