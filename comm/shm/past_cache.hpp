// Copies that leave the processor's caches alone.
//
// An ordinary store first has to bring its line here, from memory or from another core's cache,
// though all of it is overwritten. A store past the cache does not; the bytes go to memory, where
// who reads them next gets them from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include "base/types.hpp"

namespace poe::comm {

// As memcpy. What was copied is visible to who sees a release store that comes later.
inline void copy_past_cache(std::byte* to, const std::byte* from, Bytes n) noexcept {
#if defined(__x86_64__)
    constexpr std::size_t kLine = 64;
    const Bytes head = -reinterpret_cast<std::uintptr_t>(to) & (kLine - 1);
    if (n < head + kLine) {
        if (n > 0) std::memcpy(to, from, n);
        return;
    }
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
        _mm_stream_si128(target, a);
        _mm_stream_si128(target + 1, b);
        _mm_stream_si128(target + 2, c);
        _mm_stream_si128(target + 3, d);
    }
    std::memcpy(to, from, n);
    // Release stores do not order these; the fence does.
    _mm_sfence();
#else
    if (n > 0) std::memcpy(to, from, n);
#endif
}

}  // namespace poe::comm
