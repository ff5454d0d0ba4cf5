// The program's memory in a data access; see program_data.hpp.
#include "mpi/file/program_data.hpp"

#include <cstring>

#include "mpi/window/target_type.hpp"

namespace poe::mpi {

Fault ProgramData::define(const File& file, FileAccess access, void* address, std::int64_t count,
                          Datatype& type) {
    type_ = TypeReference(type);
    access_ = access;
    how_ = file.view->representation;
    address_ = address;
    memory_ = {static_cast<std::byte*>(address), type.layout(count)};
    if (how_->native || count == 0 || type.size() == 0) return {};
    TypeReference stored;
    if (Fault fault = file_type(*how_, type, stored)) return fault;
    element_ = static_cast<Bytes>(stored->size());
    const std::uint16_t basic = element_of(type);
    Datatype& unit = basic != 0 ? predefined_datatype(basic) : *file.view->etype;
    TypeReference stored_unit;
    if (Fault fault = file_type(*how_, unit, stored_unit)) return fault;
    unit_in_file_ = static_cast<Bytes>(stored_unit->size());
    unit_in_memory_ = static_cast<Bytes>(unit.size());
    const auto elements = static_cast<Bytes>(count);
    converted_ = std::make_unique<std::byte[]>(element_ * elements);
    const Datatype& bytes = *find_predefined_datatype(value_of(MPI_BYTE));
    memory_ = {converted_.get(), bytes.layout(static_cast<std::int64_t>(element_ * elements))};
    return access == FileAccess::kWrite ? to_file(*how_, address, count, type, converted_.get())
                                        : Fault{};
}

// An element that has been read in part: the rest of its memory keeps its contents.
Fault ProgramData::finish_part(Bytes whole, Bytes part) {
    std::byte* const memory =
        static_cast<std::byte*>(address_) + static_cast<std::int64_t>(whole) * type_->extent();
    const auto element = std::make_unique<std::byte[]>(element_);
    if (Fault fault = to_file(*how_, memory, 1, *type_, element.get())) return fault;
    std::memcpy(element.get(), converted_.get() + whole * element_, part);
    return from_file(*how_, element.get(), memory, 1, *type_);
}

Transferred ProgramData::finish(Bytes moved) {
    if (converted_ == nullptr) return {moved, {}};
    const Bytes whole = moved / element_;
    const Bytes units = moved % element_ / unit_in_file_;
    Transferred result;
    result.bytes = whole * static_cast<Bytes>(type_->size()) + units * unit_in_memory_;
    if (access_ == FileAccess::kRead && whole > 0)
        result.fault =
            from_file(*how_, converted_.get(), address_, static_cast<std::int64_t>(whole), *type_);
    if (access_ == FileAccess::kRead && units > 0 && !result.fault)
        result.fault = finish_part(whole, units * unit_in_file_);
    converted_.reset();
    return result;
}

}  // namespace poe::mpi
