// Elements of datatypes in memory; see data.hpp.
#include "mpi/collective/data.hpp"

#include <cstring>

#include "base/copy_block.hpp"

namespace poe::mpi {

Data::Data(const Datatype& type, const void* address, std::int64_t count) noexcept
    : base(static_cast<std::byte*>(const_cast<void*>(address))),
      start(base),
      bytes(static_cast<Bytes>(type.size()) * static_cast<Bytes>(count)) {
    if (bytes == 0 || (type.predefined() && type.size() == type.extent())) return;
    layout = type.layout(count);
    TypedLayout::Strided form;
    contiguous = layout.strided(form) && form.blocks <= 1;
    if (contiguous) start = moved_address(base, form.displacement);
}

void Data::pack(std::byte* to) const noexcept {
    if (bytes == 0) return;
    if (contiguous) {
        copy_block(to, start, bytes);
    } else {
        layout.copy_out(base, 0, to, bytes);
    }
}

void Data::unpack(const std::byte* from) const noexcept {
    if (bytes == 0) return;
    if (contiguous) {
        copy_block(start, from, bytes);
    } else {
        layout.copy_in(base, 0, from, bytes);
    }
}

void copy_data(const Data& from, const Data& to, std::byte* packed) noexcept {
    if (from.contiguous) {
        to.unpack(from.start);
    } else if (to.contiguous) {
        from.pack(to.start);
    } else {
        from.pack(packed);
        to.unpack(packed);
    }
}

}  // namespace poe::mpi
