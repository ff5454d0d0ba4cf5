// The innermost loops that move data between memory and its packed form: blocks of equal length at
// equal distances, and blocks at given displacements. Blocks of the usual short lengths are moved by
// plain loads and stores, because a call of memcpy takes longer than they do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/types.hpp"

namespace poe::mpi {

// Memory is addressed by number: a buffer may be MPI_BOTTOM, a null pointer, to which a displacement
// must not be added in C++.
using Address = std::uintptr_t;

inline Address moved(Address at, std::int64_t distance) noexcept {
    return at + static_cast<Address>(distance);
}

enum class Direction { kPack, kUnpack };

// Copies n bytes from memory to the packed form, or back.
template <Direction kDirection>
inline void move_bytes(Address at, std::byte* packed, Bytes n) noexcept {
    if constexpr (kDirection == Direction::kPack) {
        std::memcpy(packed, reinterpret_cast<const void*>(at), n);
    } else {
        std::memcpy(reinterpret_cast<void*>(at), packed, n);
    }
}

// The same for 16 bytes or more, in steps of 16. The last step may repeat bytes of the one before.
template <Direction kDirection>
inline void move_by_sixteen(Address at, std::byte* packed, Bytes n) noexcept {
    Bytes done = 0;
    for (; done + 32 <= n; done += 32) move_bytes<kDirection>(at + done, packed + done, 32);
    if (done + 16 <= n) move_bytes<kDirection>(at + done, packed + done, 16);
    if (n % 16 != 0) move_bytes<kDirection>(at + n - 16, packed + n - 16, 16);
}

// Any short length.
template <Direction kDirection>
inline void move_short(Address at, std::byte* packed, Bytes n) noexcept {
    if (n >= 16) return move_by_sixteen<kDirection>(at, packed, n);
    if (n >= 8) {
        move_bytes<kDirection>(at, packed, 8);
        move_bytes<kDirection>(at + n - 8, packed + n - 8, 8);
    } else if (n >= 4) {
        move_bytes<kDirection>(at, packed, 4);
        move_bytes<kDirection>(at + n - 4, packed + n - 4, 4);
    } else {
        for (Bytes i = 0; i < n; ++i) move_bytes<kDirection>(at + i, packed + i, 1);
    }
}

// Blocks that are longer are moved by memcpy.
inline constexpr Bytes kShortBlock = 256;

// `count` blocks of kBlock bytes: in memory `stride` bytes apart, in the packed form `step`.
template <Direction kDirection, Bytes kBlock>
inline void move_fixed(Address at, std::int64_t stride, std::int64_t count, std::byte* packed,
                       Bytes step) noexcept {
    std::int64_t i = 0;
    for (; i + 4 <= count; i += 4) {
        move_bytes<kDirection>(at, packed, kBlock);
        move_bytes<kDirection>(moved(at, stride), packed + step, kBlock);
        move_bytes<kDirection>(moved(at, 2 * stride), packed + 2 * step, kBlock);
        move_bytes<kDirection>(moved(at, 3 * stride), packed + 3 * step, kBlock);
        at = moved(at, 4 * stride);
        packed += 4 * step;
    }
    for (; i < count; ++i) {
        move_bytes<kDirection>(at, packed, kBlock);
        at = moved(at, stride);
        packed += step;
    }
}

// Calls `call` with a constant of the type integral_constant<Bytes, block> if `block` is one of the
// usual lengths, otherwise with 0.
template <typename Call>
inline void with_fixed_block(Bytes block, Call&& call) noexcept {
    switch (block) {
        case 1:
            return call(std::integral_constant<Bytes, 1>{});
        case 2:
            return call(std::integral_constant<Bytes, 2>{});
        case 4:
            return call(std::integral_constant<Bytes, 4>{});
        case 8:
            return call(std::integral_constant<Bytes, 8>{});
        case 12:
            return call(std::integral_constant<Bytes, 12>{});
        case 16:
            return call(std::integral_constant<Bytes, 16>{});
        case 24:
            return call(std::integral_constant<Bytes, 24>{});
        case 32:
            return call(std::integral_constant<Bytes, 32>{});
        case 48:
            return call(std::integral_constant<Bytes, 48>{});
        case 64:
            return call(std::integral_constant<Bytes, 64>{});
        default:
            return call(std::integral_constant<Bytes, 0>{});
    }
}

// `count` blocks of `block` bytes: in memory `stride` bytes apart, in the packed form `step`.
template <Direction kDirection>
inline void move_strided(Address at, std::int64_t stride, Bytes block, std::int64_t count,
                         std::byte* packed, Bytes step) noexcept {
    with_fixed_block(block, [&](auto fixed) {
        if constexpr (fixed.value != 0) {
            move_fixed<kDirection, fixed.value>(at, stride, count, packed, step);
        } else {
            for (std::int64_t i = 0; i < count; ++i) {
                if (block <= kShortBlock) {
                    move_short<kDirection>(at, packed, block);
                } else {
                    move_bytes<kDirection>(at, packed, block);
                }
                at = moved(at, stride);
                packed += step;
            }
        }
    });
}

// `count` blocks of `block` bytes at the displacements `where`.
template <Direction kDirection>
inline void move_indexed(Address base, const std::int64_t* where, Bytes block, std::size_t count,
                         std::byte* packed) noexcept {
    with_fixed_block(block, [&](auto fixed) {
        for (std::size_t i = 0; i < count; ++i) {
            const Address at = moved(base, where[i]);
            if constexpr (fixed.value != 0) {
                move_bytes<kDirection>(at, packed, fixed.value);
            } else if (block <= kShortBlock) {
                move_short<kDirection>(at, packed, block);
            } else {
                move_bytes<kDirection>(at, packed, block);
            }
            packed += block;
        }
    });
}

}  // namespace poe::mpi
