// LongVector: a vector for what grows with the number of records. A process has at most kMostBytesInMemory of them in memory
// of its own. Further blocks are in files without names, whose pages the system may write to the disk whenever it needs
// memory. So the memory that an analysis needs does not grow with the trace.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace poe::trace {

// Blocks of at least so many bytes may be in a file. A vector for each of many tasks is short, so this is little.
inline constexpr std::size_t kLongBlock = std::size_t{64} << 10;
// How many bytes of blocks, short and long, are in memory before long ones are in files.
inline constexpr std::size_t kMostBytesInMemory = std::size_t{128} << 20;

// Returns memory for a vector, or reserves room in a file of the folder for files that outlive a restart, which is on a disk, and
// maps that. Throws std::bad_alloc if there is neither. Any thread may call.
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
