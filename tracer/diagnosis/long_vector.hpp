// LongVector: a vector for data whose size grows with the number of records. Once the LongVectors
// of a process together use kMostBytesInMemory bytes of private memory, further long blocks are
// stored in mapped temporary files without names. When memory is short, the system can write the
// pages of these files to the disk. Therefore the private memory of an analysis hardly grows with
// the trace.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace poe::trace {

// The minimum size of a long block, in bytes. It is small, because an analysis has one vector for
// each task, and each of these vectors may be short.
inline constexpr std::size_t kLongBlock = std::size_t{64} << 10;
// The bytes of all blocks, short and long, from which on long blocks are stored in files.
inline constexpr std::size_t kMostBytesInMemory = std::size_t{128} << 20;

// Returns private memory, or a mapped file in the directory for temporary files that survive a
// restart, because that directory is on a disk. Throws std::bad_alloc if neither is available. Any
// thread may call it.
void* allocate_block(std::size_t bytes);
void free_block(void* block, std::size_t bytes) noexcept;
// How many bytes of long blocks fit into the file system now; 0 if it cannot be used.
std::size_t room_for_long_blocks();

template <typename T>
struct LongBlocks {
    using value_type = T;

    LongBlocks() = default;
    template <typename Other>
    LongBlocks(const LongBlocks<Other>&) noexcept {}

    T* allocate(std::size_t count) {
        if (count > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_alloc();
        return static_cast<T*>(allocate_block(count * sizeof(T)));
    }
    void deallocate(T* block, std::size_t count) noexcept { free_block(block, count * sizeof(T)); }
    template <typename Other>
    bool operator==(const LongBlocks<Other>&) const noexcept {
        return true;
    }
};

template <typename T>
using LongVector = std::vector<T, LongBlocks<T>>;

}  // namespace poe::trace
