// Copies with vector registers; see copy_block.hpp.
#include "base/copy_block.hpp"

#include "base/vector_copy.hpp"

namespace poe {

void copy_by_vectors(std::byte* to, const std::byte* from, Bytes n) noexcept {
#if defined(__x86_64__)
    // If the blocks overlap such that an ascending copy would overwrite bytes before it reads them,
    // they are left to memmove.
    const bool overlap =
        reinterpret_cast<std::uintptr_t>(to) - reinterpret_cast<std::uintptr_t>(from) < n;
    if (!overlap)
        return copy_vectors(to, from, n,
                            [](__m128i* place, __m128i vector) { _mm_store_si128(place, vector); });
#endif
    std::memmove(to, from, n);
}

}  // namespace poe
