// copy_block: memmove for the data of messages, without a case in which the C library is very slow.
//
// From a few kilobytes on, the C library copies with the instruction `rep movsb`. On some AMD
// processors this instruction takes about 25 times as long if the destination is up to 31 bytes
// ahead of the source within their pages: 64 KB take 38 us instead of 1.5. That is common, because
// large arrays of a program begin 16 bytes after the start of a page (malloc), and rings and slots
// in shared memory at multiples of 64 bytes. In this case vector registers are used.
#pragma once

#include <cstdint>
#include <cstring>

#include "base/types.hpp"

namespace poe {

// True if `rep movsb` is slow for these addresses on some processors. Pure.
inline bool delays_rep_movsb(std::uintptr_t to, std::uintptr_t from) noexcept {
    const std::uintptr_t ahead = (to - from) % kPage;
    return ahead > 0 && ahead < 32;
}

// The same copy, always with vector registers. Use copy_block().
void copy_by_vectors(std::byte* to, const std::byte* from, Bytes n) noexcept;

// Like memmove.
inline void copy_block(void* to, const void* from, Bytes n) noexcept {
#if defined(__x86_64__)
    // Shorter copies do not use `rep movsb`.
    constexpr Bytes kLeast = 1024;
    if (n >= kLeast && delays_rep_movsb(reinterpret_cast<std::uintptr_t>(to),
                                        reinterpret_cast<std::uintptr_t>(from))) [[unlikely]]
        return copy_by_vectors(static_cast<std::byte*>(to), static_cast<const std::byte*>(from), n);
#endif
    // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): bytes are at an address.
    std::memmove(to, from, n);
}

}  // namespace poe
