// The execution of operations on memory; see access.hpp.
#include "mpi/window/access.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <mpi.h>

#include "base/copy_block.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/datatype/predefined.hpp"
#include "mpi/object/reductions.hpp"

namespace poe::mpi {
namespace {

constexpr std::size_t kPieceBytes = 16 << 10;
using Piece = std::array<std::byte, kPieceBytes>;

bool is_operation(std::uint16_t operation, MPI_Op op) noexcept {
    return operation == value_of(op);
}

// The elements of pairs have gaps in memory, which the packed form has not.
bool has_gaps(const PredefinedType& type) noexcept {
    return type.size != type.extent;
}

// Combines elements of the packed form into `target`, which is in packed form, too.
void combine_packed(ReductionKernel kernel, const PredefinedType& type, const std::byte* data,
                    std::byte* target, Bytes bytes) {
    if (!has_gaps(type)) return kernel(data, target, target, bytes);
    const TypedLayout one = predefined_datatype(static_cast<int>(type.code)).layout(1);
    std::array<std::byte, 64> left{};
    std::array<std::byte, 64> right{};
    for (Bytes at = 0; at < bytes; at += type.size, data += type.size, target += type.size) {
        one.copy_in(left.data(), 0, data, type.size);
        one.copy_in(right.data(), 0, target, type.size);
        kernel(left.data(), right.data(), right.data(), type.extent);
        one.copy_out(right.data(), 0, target, type.size);
    }
}

// For layouts and datatypes with gaps.
void combine(ReductionKernel kernel, const PredefinedType& type, std::byte* memory,
             const TypedLayout& layout, const std::byte* data) {
    const Bytes bytes = layout.size();
    Piece piece;
    const Bytes most = kPieceBytes / type.size * type.size;
    for (Bytes at = 0; at < bytes; at += most) {
        const Bytes length = std::min(most, bytes - at);
        layout.copy_out(memory, at, piece.data(), length);
        combine_packed(kernel, type, data + at, piece.data(), length);
        layout.copy_in(memory, at, piece.data(), length);
    }
}

}  // namespace

bool has_access_operation(std::uint16_t operation, std::uint16_t element) noexcept {
    const PredefinedType* type = find_predefined_type(element);
    return type != nullptr &&
           (is_operation(operation, MPI_REPLACE) || is_operation(operation, MPI_NO_OP) ||
            find_kernel(operation, *type) != nullptr);
}

void carry_out(const Access& access, std::byte* memory, const TypedLayout& layout,
               const std::byte* data, std::byte* fetched) {
    const Bytes bytes = layout.size();
    if (bytes == 0) return;
    TypedLayout::Strided form;
    const bool flat = layout.strided(form) && form.blocks <= 1;
    if (flat) memory += form.displacement;
    const auto store = [&] {
        if (flat) {
            copy_block(memory, data, bytes);
        } else {
            layout.copy_in(memory, 0, data, bytes);
        }
    };
    if (fetched != nullptr && flat) {
        copy_block(fetched, memory, bytes);
    } else if (fetched != nullptr) {
        layout.copy_out(memory, 0, fetched, bytes);
    }
    switch (access.kind) {
        case AccessKind::kPut:
            return store();
        case AccessKind::kAccumulate:
        case AccessKind::kGetAccumulate: {
            if (is_operation(access.operation, MPI_REPLACE)) return store();
            const PredefinedType& type = *find_predefined_type(access.element);
            const ReductionKernel kernel = find_kernel(access.operation, type);
            if (flat && !has_gaps(type)) return kernel(data, memory, memory, bytes);
            return combine(kernel, type, flat ? memory - form.displacement : memory, layout, data);
        }
        case AccessKind::kCompareAndSwap:
            if (std::memcmp(fetched, data + bytes, bytes) == 0) store();
            return;
        default:
            return;
    }
}

}  // namespace poe::mpi
