// See core_files.hpp.
#include "debugger/core_files.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <filesystem>
#include <fstream>

#include "base/parse.hpp"

namespace poe::debugger {

namespace {

namespace fs = std::filesystem;

// The notes stand at the beginning of a core file. This is enough for thousands of threads.
constexpr std::size_t kMostNotes = 16 << 20;

// Copies a structure out of the bytes. Returns false if it is not there as a whole.
template <class T>
bool read_at(std::string_view bytes, std::uint64_t offset, T& value) {
    if (offset > bytes.size() || bytes.size() - offset < sizeof value) return false;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return true;
}

std::string_view part(std::string_view bytes, std::uint64_t offset, std::uint64_t size) {
    if (offset > bytes.size()) return {};
    return bytes.substr(offset, size);
}

// NT_FILE: the count of mappings, the size of a page, three words for each mapping, and then the
// names, each of which ends with a zero byte.
std::string first_file(std::string_view note) {
    std::uint64_t count = 0;
    if (!read_at(note, 0, count) || count == 0 || count > note.size()) return "";
    constexpr std::uint64_t kWord = sizeof(std::uint64_t);
    const std::string_view names = part(note, (2 + 3 * count) * kWord, note.size());
    const std::size_t end = names.find('\0');
    return end == std::string_view::npos ? "" : std::string(names.substr(0, end));
}

std::uint64_t aligned(std::uint64_t size) {
    return (size + 3) / 4 * 4;
}

std::string program_in_notes(std::string_view notes) {
    Elf64_Nhdr header;
    for (std::uint64_t at = 0; read_at(notes, at, header);) {
        const std::uint64_t content = at + sizeof header + aligned(header.n_namesz);
        if (header.n_type == NT_FILE) return first_file(part(notes, content, header.n_descsz));
        at = content + aligned(header.n_descsz);
    }
    return "";
}

std::string beginning_of(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    std::string bytes(kMostNotes, '\0');
    in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    bytes.resize(static_cast<std::size_t>(in.gcount()));
    return bytes;
}

// Adds the core file of a directory such as "coredir.3".
void add(std::vector<CoreFile>& found, const fs::path& directory) {
    const std::string name = directory.filename().string();
    const std::size_t dot = name.rfind('.');
    const TaskId task =
        dot == std::string::npos ? -1 : parse_number<TaskId>(name.substr(dot + 1)).value_or(-1);
    const fs::path file = directory / "core";
    std::error_code error;
    if (task < 0 || !fs::is_regular_file(file, error)) return;
    found.push_back({task, file.string(), program_of_core(beginning_of(file.string()))});
}

}  // namespace

std::string program_of_core(std::string_view bytes) {
    Elf64_Ehdr header;
    if (!read_at(bytes, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_type != ET_CORE)
        return "";
    for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
        Elf64_Phdr segment;
        if (!read_at(bytes, header.e_phoff + i * sizeof segment, segment)) break;
        if (segment.p_type != PT_NOTE) continue;
        std::string program = program_in_notes(part(bytes, segment.p_offset, segment.p_filesz));
        if (!program.empty()) return program;
    }
    return "";
}

Result<std::vector<CoreFile>> find_core_files(const std::string& directory) {
    UserError mistake;
    std::error_code error;
    const fs::path path = fs::absolute(directory, error).lexically_normal();
    fs::directory_iterator each(path, error);
    if (error) {
        mistake.text = "cannot read the directory \"" + directory + "\": " + error.message();
        mistake.expected = "the directory with coredir.0, coredir.1, ...";
        return mistake;
    }
    std::vector<CoreFile> found;
    add(found, path.has_filename() ? path : path.parent_path());
    for (; each != fs::directory_iterator() && !error; each.increment(error))
        add(found, each->path());
    if (found.empty()) {
        mistake.text = "there is no core file in \"" + directory + "\"";
        mistake.expected = "files such as coredir.0/core; see -coredir in poe(1)";
        return mistake;
    }
    std::sort(found.begin(), found.end(),
              [](const CoreFile& a, const CoreFile& b) { return a.task < b.task; });
    return found;
}

}  // namespace poe::debugger
