// Copies with non-temporal stores, which bypass the processor's caches.
//
// An ordinary store must first fetch its cache line, from memory or from another core's cache,
// although the whole line is overwritten. A non-temporal store need not fetch it. The bytes go to
// memory, and the next reader fetches them from there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include "base/types.hpp"

namespace poe::comm {

// Like memcpy. The copied bytes are visible to any thread that acquires a release store made after
// this call.
inline void copy_non_temporal(std::byte* to, const std::byte* from, Bytes n) noexcept {
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
    // Release stores do not order non-temporal stores; the fence does.
    _mm_sfence();
#else
    if (n > 0) std::memcpy(to, from, n);
#endif
}

}  // namespace poe::comm
