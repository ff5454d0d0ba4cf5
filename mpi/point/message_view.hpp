// The memory of a message as the message layer sees it. Most messages are contiguous; only the
// others need a layout that stays as long as the message.
#pragma once

#include <cstdint>

#include "comm/matching/buffer_view.hpp"
#include "mpi/point/request.hpp"

namespace poe::mpi {

// If the blocks of a vector are at least this long, the message layer copies them itself. Shorter
// ones are copied faster by the loops of the layout.
inline constexpr Bytes kLeastPlainBlock = 512;

// The view of `count` elements of `type` at `buffer`, which may be MPI_BOTTOM. `layout` must stay
// as long as the view. Requires a committed type, count >= 0, and count * size below 2^63.
inline comm::BufferView view_of(TypedLayout& layout, Datatype& type, const void* buffer,
                                std::int64_t count) noexcept {
    auto* base = static_cast<std::byte*>(const_cast<void*>(buffer));
    if (type.size() == type.extent() && type.code() != 0) [[likely]]
        return {base, static_cast<Bytes>(count * type.size())};
    layout = type.layout(count);
    TypedLayout::Strided form;
    if (layout.strided(form) &&
        (form.blocks <= 1 || (form.block >= kLeastPlainBlock &&
                              form.stride >= static_cast<std::int64_t>(form.block)))) {
        // MPI_BOTTOM is null, so the displacement may be an absolute address.
        auto* start = reinterpret_cast<std::byte*>(  // NOLINT(performance-no-int-to-ptr)
            reinterpret_cast<std::uintptr_t>(base) +
            static_cast<std::uintptr_t>(form.displacement));
        if (form.blocks <= 1) return {start, form.block * static_cast<Bytes>(form.blocks)};
        return {start, form.block, static_cast<Bytes>(form.stride),
                static_cast<Bytes>(form.blocks)};
    }
    return {base, layout, layout.size()};
}

}  // namespace poe::mpi
