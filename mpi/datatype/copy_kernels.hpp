// The innermost loops that move data between memory and its packed form: blocks of equal length at
// equal distances, and blocks at given displacements. Blocks of the usual short lengths are moved
// by plain loads and stores, because a call of memcpy takes longer than they do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/copy_block.hpp"
#include "base/types.hpp"

namespace poe::mpi {

// Memory is addressed by number: a buffer may be MPI_BOTTOM, a null pointer, to which a
// displacement must not be added in C++.
using Address = std::uintptr_t;

inline Address moved(Address at, std::int64_t distance) noexcept {
    return at + static_cast<Address>(distance);
}

enum class Direction { kPack, kUnpack };

// Copies n bytes from memory to the packed form, or back.
template <Direction kDirection>
inline void move_bytes(Address at, std::byte* packed, Bytes n) noexcept {
    if constexpr (kDirection == Direction::kPack) {
        copy_block(packed, reinterpret_cast<const void*>(at), n);
    } else {
        copy_block(reinterpret_cast<void*>(at), packed, n);
    }
}

// Blocks that are longer are moved by memcpy. Blocks of unpacked data are seldom aligned as memcpy
// needs it to be fast.
template <Direction kDirection>
inline constexpr Bytes kShortBlock = kDirection == Direction::kPack ? 128 : 512;

// How one block is moved. A value of one of these types is chosen once for many blocks.

// kBytes bytes.
template <Direction kDirection, Bytes kBytes>
struct FixedMove {
    void operator()(Address at, std::byte* packed) const noexcept {
        move_bytes<kDirection>(at, packed, kBytes);
    }
};

// kHalf to 2 * kHalf bytes, as two parts that may overlap.
template <Direction kDirection, Bytes kHalf>
struct TwoPartMove {
    Bytes n;
    void operator()(Address at, std::byte* packed) const noexcept {
        move_bytes<kDirection>(at, packed, kHalf);
        move_bytes<kDirection>(at + n - kHalf, packed + n - kHalf, kHalf);
    }
};

// 16 bytes or more, in steps whose destinations are aligned, because a store that crosses a cache
// line takes twice the time. The first and the last step may repeat bytes of their neighbours.
template <Direction kDirection>
struct SteppedMove {
    Bytes n;
    void operator()(Address at, std::byte* packed) const noexcept {
        const Address to = kDirection == Direction::kPack ? reinterpret_cast<Address>(packed) : at;
        move_bytes<kDirection>(at, packed, 16);
        Bytes done = 16 - to % 16;
        for (; done + 32 <= n; done += 32) move_bytes<kDirection>(at + done, packed + done, 32);
        if (done + 16 <= n) move_bytes<kDirection>(at + done, packed + done, 16);
        move_bytes<kDirection>(at + n - 16, packed + n - 16, 16);
    }
};

template <Direction kDirection>
struct LongMove {
    Bytes n;
    void operator()(Address at, std::byte* packed) const noexcept {
        move_bytes<kDirection>(at, packed, n);
    }
};

// Calls `call` with the move for blocks of `n` bytes.
template <Direction kDirection, typename Call>
[[gnu::always_inline]] inline void with_move(Bytes n, Call call) noexcept {
    switch (n) {
        case 1:
            return call(FixedMove<kDirection, 1>{});
        case 2:
            return call(FixedMove<kDirection, 2>{});
        case 3:
            return call(TwoPartMove<kDirection, 2>{n});
        case 4:
            return call(FixedMove<kDirection, 4>{});
        case 8:
            return call(FixedMove<kDirection, 8>{});
        case 16:
            return call(FixedMove<kDirection, 16>{});
        case 24:
            return call(FixedMove<kDirection, 24>{});
        case 32:
            return call(FixedMove<kDirection, 32>{});
        case 64:
            return call(FixedMove<kDirection, 64>{});
        default:
            break;
    }
    if (n < 8) return call(TwoPartMove<kDirection, 4>{n});
    if (n < 16) return call(TwoPartMove<kDirection, 8>{n});
    if (n < 32) return call(TwoPartMove<kDirection, 16>{n});
    if (n < 64) return call(TwoPartMove<kDirection, 32>{n});
    if (n <= kShortBlock<kDirection>) return call(SteppedMove<kDirection>{n});
    return call(LongMove<kDirection>{n});
}

// `count` blocks at equal distances: in memory `stride` bytes apart, in the packed form `step`.
template <typename Move>
[[gnu::always_inline]] inline void repeat_move(Move move, Address at, std::int64_t stride,
                                               std::int64_t count, std::byte* packed,
                                               Bytes step) noexcept {
    std::int64_t i = 0;
    for (; i + 4 <= count; i += 4) {
        move(at, packed);
        move(moved(at, stride), packed + step);
        move(moved(at, 2 * stride), packed + 2 * step);
        move(moved(at, 3 * stride), packed + 3 * step);
        at = moved(at, 4 * stride);
        packed += 4 * step;
    }
    for (; i < count; ++i) {
        move(at, packed);
        at = moved(at, stride);
        packed += step;
    }
}

// `count` blocks of `block` bytes: in memory `stride` bytes apart, in the packed form `step`.
template <Direction kDirection>
inline void move_strided(Address at, std::int64_t stride, Bytes block, std::int64_t count,
                         std::byte* packed, Bytes step) noexcept {
    with_move<kDirection>(block,
                          [=](auto move) { repeat_move(move, at, stride, count, packed, step); });
}

// A loop and its distances in memory.
struct LoopShape {
    std::int64_t count;
    std::int64_t stride;
};

// A loop in a loop: `outer.count` times `inner.count` blocks of `block` bytes.
template <Direction kDirection>
inline void move_strided_twice(Address at, LoopShape outer, LoopShape inner, Bytes block,
                               std::byte* packed) noexcept {
    with_move<kDirection>(block, [=](auto move) {
        Address row = at;
        std::byte* to = packed;
        for (std::int64_t i = 0; i < outer.count; ++i, row = moved(row, outer.stride)) {
            repeat_move(move, row, inner.stride, inner.count, to, block);
            to += block * static_cast<Bytes>(inner.count);
        }
    });
}

// `count` blocks of `block` bytes at the displacements `where`.
template <Direction kDirection>
inline void move_indexed(Address base, const std::int64_t* where, Bytes block, std::size_t count,
                         std::byte* packed) noexcept {
    with_move<kDirection>(block, [=](auto move) {
        std::byte* to = packed;
        for (std::size_t i = 0; i < count; ++i, to += block) move(moved(base, where[i]), to);
    });
}

}  // namespace poe::mpi
