// Copies with the vector registers that every x86-64 processor has. The caller chooses how they are
// stored: in the caches (copy_block.cpp) or past them (comm/shm/non_temporal.hpp).
#pragma once

#if defined(__x86_64__)
#include <cstdint>
#include <cstring>
#include <emmintrin.h>

#include "base/types.hpp"

namespace poe {

// Like memcpy. Ascends through both blocks. store(place, vector) stores 16 bytes at an aligned
// place; it is called for all bytes except those before the first line of the destination and after
// the last one.
template <typename Store>
inline void copy_vectors(std::byte* to, const std::byte* from, Bytes n, Store store) noexcept {
    const Bytes head = -reinterpret_cast<std::uintptr_t>(to) % kLine;
    if (n >= head + kLine) {
        std::memcpy(to, from, head);
        to += head;
        from += head;
        n -= head;
        for (; n >= kLine; to += kLine, from += kLine, n -= kLine) {
            const auto* source = reinterpret_cast<const __m128i*>(from);
            auto* target = reinterpret_cast<__m128i*>(to);
            const __m128i a = _mm_loadu_si128(source);
            const __m128i b = _mm_loadu_si128(source + 1);
            const __m128i c = _mm_loadu_si128(source + 2);
            const __m128i d = _mm_loadu_si128(source + 3);
            store(target, a);
            store(target + 1, b);
            store(target + 2, c);
            store(target + 3, d);
        }
    }
    if (n > 0) std::memcpy(to, from, n);
}

}  // namespace poe
#endif
