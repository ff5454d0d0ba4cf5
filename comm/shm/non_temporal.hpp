// Copies with non-temporal stores, which bypass the processor's caches.
//
// An ordinary store must first fetch its cache line, from memory or from another core's cache,
// although the whole line is overwritten. A non-temporal store need not fetch it. The bytes go to
// memory, and the next reader fetches them from there.
#pragma once

#include <cstddef>
#include <cstring>

#include "base/types.hpp"
#include "base/vector_copy.hpp"

namespace poe::comm {

// Like memcpy. The copied bytes are visible to any thread that acquires a release store made after
// this call.
inline void copy_non_temporal(std::byte* to, const std::byte* from, Bytes n) noexcept {
#if defined(__x86_64__)
    copy_vectors(to, from, n,
                 [](__m128i* place, __m128i vector) { _mm_stream_si128(place, vector); });
    // Release stores do not order non-temporal stores; the fence does.
    _mm_sfence();
#else
    if (n > 0) std::memcpy(to, from, n);
#endif
}

}  // namespace poe::comm
