// LongVector: a vector for what grows with the number of records. If the long ones of the process take more than half the
// memory of the computer, or if the process may not have more, further ones have their elements in files without names. So
// the system keeps in memory what is used, and a trace may need more than there is. Files only then, because the system
// writes their pages to the disk even if there is memory for them.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace poe::trace {

// Blocks of at least so many bytes may be in a file.
inline constexpr std::size_t kLongBlock = std::size_t{16} << 20;

// Maps memory, or reserves room in a file of the folder for files that outlive a restart, which is on a disk, and maps that.
// Throws std::bad_alloc if there is neither. Any thread may call.
void* map_long_block(std::size_t bytes);
void unmap_long_block(void* block, std::size_t bytes) noexcept;
// How many bytes of such blocks fit into the file system now; 0 if it cannot be used.
std::size_t room_for_long_blocks();

template <typename T>
struct LongBlocks {
    using value_type = T;

    LongBlocks() = default;
    template <typename Other>
    LongBlocks(const LongBlocks<Other>&) noexcept {}

    T* allocate(std::size_t count) {
        if (count > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_alloc();
        const std::size_t bytes = count * sizeof(T);
        return static_cast<T*>(bytes < kLongBlock ? ::operator new(bytes) : map_long_block(bytes));
    }
    void deallocate(T* block, std::size_t count) noexcept {
        if (count * sizeof(T) < kLongBlock)
            ::operator delete(block);
        else
            unmap_long_block(block, count * sizeof(T));
    }
    template <typename Other>
    bool operator==(const LongBlocks<Other>&) const noexcept {
        return true;
    }
};

template <typename T>
using LongVector = std::vector<T, LongBlocks<T>>;

}  // namespace poe::trace
