// See unwind_rule.hpp.
#include "partition_manager/sampling/unwind_rule.hpp"

#include <cstddef>
#include <cstdlib>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/unique_fd.hpp"

namespace poe::pm {

struct UnwindTables::File {
    UniqueFd descriptor;
    Elf* elf = nullptr;
    Dwarf_CFI* tables = nullptr;
};

namespace {

constexpr std::size_t kMostVdsoBytes = std::size_t{1} << 16;

UnwindExpression copy_of(const Dwarf_Op* operations, std::size_t count) {
    UnwindExpression copy;
    for (std::size_t i = 0; i < count; ++i)
        copy.push_back({operations[i].atom, operations[i].number, operations[i].number2});
    return copy;
}

UnwindRule::Saved saved_register(Dwarf_Frame* frame, unsigned number) {
    Dwarf_Op space[3];
    Dwarf_Op* operations = nullptr;
    std::size_t count = 0;
    UnwindRule::Saved saved;
    if (::dwarf_frame_register(frame, static_cast<int>(number), space, &operations, &count) != 0)
        return saved;
    if (count == 0) {
        if (operations == nullptr) saved.kind = UnwindRule::Kind::kSame;
        return saved;
    }
    const bool is_value = operations[count - 1].atom == DW_OP_stack_value;
    saved.kind = is_value ? UnwindRule::Kind::kValue : UnwindRule::Kind::kAt;
    saved.expression = copy_of(operations, is_value ? count - 1 : count);
    return saved;
}

UnwindRule read_rule(Dwarf_CFI* tables, std::uint64_t address) {
    UnwindRule rule;
    Dwarf_Frame* frame = nullptr;
    if (tables == nullptr || ::dwarf_cfi_addrframe(tables, address, &frame) != 0) return rule;
    Dwarf_Op* operations = nullptr;
    std::size_t count = 0;
    bool signal_frame = false;
    ::dwarf_frame_info(frame, nullptr, nullptr, &signal_frame);
    if (::dwarf_frame_cfa(frame, &operations, &count) == 0 && count > 0) {
        rule.found = true;
        rule.signal_frame = signal_frame;
        rule.frame = copy_of(operations, count);
        for (std::size_t i = 0; i < kSavedRegisters.size(); ++i)
            rule.saved[i] = saved_register(frame, kSavedRegisters[i]);
    }
    std::free(frame);
    return rule;
}

// The image of the vdso of this process, which is that of all processes. Null if there is none.
char* vdso_image() {
    return reinterpret_cast<char*>(::getauxval(AT_SYSINFO_EHDR));
}

}  // namespace

UnwindTables::UnwindTables(const std::string& path) : file_(std::make_unique<File>()) {
    ::elf_version(EV_CURRENT);
    if (path == "[vdso]") {
        if (vdso_image() != nullptr) file_->elf = ::elf_memory(vdso_image(), kMostVdsoBytes);
    } else {
        file_->descriptor.reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
        if (file_->descriptor)
            file_->elf = ::elf_begin(file_->descriptor.get(), ELF_C_READ_MMAP, nullptr);
    }
    if (file_->elf == nullptr) return;
    std::size_t count = 0;
    ::elf_getphdrnum(file_->elf, &count);
    for (std::size_t i = 0; i < count; ++i) {
        GElf_Phdr header;
        if (::gelf_getphdr(file_->elf, static_cast<int>(i), &header) == nullptr) break;
        if (header.p_type == PT_LOAD)
            segments_.push_back({header.p_offset, header.p_filesz, header.p_vaddr});
    }
    file_->tables = ::dwarf_getcfi_elf(file_->elf);
}

UnwindTables::~UnwindTables() {
    if (file_->tables != nullptr) ::dwarf_cfi_end(file_->tables);
    if (file_->elf != nullptr) ::elf_end(file_->elf);
}

std::uint64_t UnwindTables::address_of(std::uint64_t position) const {
    for (const Segment& segment : segments_)
        if (position >= segment.position && position - segment.position < segment.bytes)
            return position - segment.position + segment.address;
    return position;
}

const UnwindRule& UnwindTables::rule_of(std::uint64_t address) {
    const auto [known, is_new] = rules_.try_emplace(address);
    if (is_new) known->second = read_rule(file_->tables, address);
    return known->second;
}

}  // namespace poe::pm
