// Copies with vector registers; see copy_block.hpp.
#include "base/copy_block.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace poe {

void copy_by_vectors(std::byte* to, const std::byte* from, Bytes n) noexcept {
#if defined(__SSE2__)
    constexpr Bytes kVector = sizeof(__m128i);
    constexpr Bytes kStep = 4 * kVector;
    // The blocks overlap such that a copy from the front would overwrite bytes before it reads
    // them.
    const bool overlap =
        reinterpret_cast<std::uintptr_t>(to) - reinterpret_cast<std::uintptr_t>(from) < n;
    if (!overlap && n >= kStep) {
        // Stores that cross lines are slow, so the destination is aligned first.
        const Bytes head = -reinterpret_cast<std::uintptr_t>(to) % kVector;
        std::memcpy(to, from, head);
        to += head;
        from += head;
        n -= head;
        for (; n >= kStep; to += kStep, from += kStep, n -= kStep) {
            const auto* source = reinterpret_cast<const __m128i*>(from);
            auto* target = reinterpret_cast<__m128i*>(to);
            const __m128i a = _mm_loadu_si128(source);
            const __m128i b = _mm_loadu_si128(source + 1);
            const __m128i c = _mm_loadu_si128(source + 2);
            const __m128i d = _mm_loadu_si128(source + 3);
            _mm_store_si128(target, a);
            _mm_store_si128(target + 1, b);
            _mm_store_si128(target + 2, c);
            _mm_store_si128(target + 3, d);
        }
    }
#endif
    std::memmove(to, from, n);
}

}  // namespace poe
