// Calls of reductions; see reductions.hpp. Apart from the predefined reductions, because these are
// entry points of libmpl.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "collectives/call/reductions.hpp"

namespace poe::collectives {

void reduce_to(const Reduction& reduction, std::byte* out, const std::byte* one,
               const std::byte* two, Bytes length, std::byte* scratch) {
    if (reduction.operation != nullptr) {
        reduction.operation->reduce(out, one, two, length);
        return;
    }
    constexpr Bytes kPiece = Bytes{1} << 30;
    const bool users = reduction.name == nullptr;
    auto* first = const_cast<std::byte*>(one);
    auto* second = const_cast<std::byte*>(two);
    for (Bytes done = 0; done < length;) {
        const Bytes piece = users ? length : std::min(length - done, kPiece);
        // Old programs declare the length as a pointer to long, so the upper half must be zero.
        alignas(std::uint64_t) char length_of_piece[sizeof(std::uint64_t)];
        const std::uint64_t wide = piece;
        std::memcpy(length_of_piece, &wide, sizeof wide);
        reduction.function(first + done, second + done, users ? scratch : out + done,
                           reinterpret_cast<int*>(length_of_piece));
        if (users && scratch != nullptr) std::memcpy(out, scratch, length);
        done += piece;
    }
}

void reduce_into(const Reduction& reduction, std::byte* to, const std::byte* from, Bytes length,
                 bool append, std::byte* scratch) {
    reduce_to(reduction, to, append ? to : from, append ? from : to, length, scratch);
}

}  // namespace poe::collectives
