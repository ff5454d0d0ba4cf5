// Handles of MPICH's binary interface, which are of type int, and of the standard's, which are
// pointers.
//
//   handle                  as an int
//   predefined              the number of mpich_constants.tsv
//   made by the program     bits 31..30: 10; bits 29..26: the kind; below: number of the object
//   of a file               a pointer in both interfaces; only MPI_FILE_NULL differs
//
// An object has its number forever (Pool in mpi/object/handle.hpp), and so has its address.
// Therefore a table per kind, from numbers to addresses, needs no entry to be removed: an entry is
// written when a handle first goes to the program. The table of a kind grows in chunks, which are
// never freed.
//
// Conversions never block. A chunk is allocated once per 4096 objects. Any thread may convert any
// handle: a thread that has a handle got it, directly or through another thread, from the call that
// wrote the entry, and a second write stores the same address.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <mpi.h>

#include "interface/predefined.hpp"
#include "interface/types.hpp"
#include "mpi/object/handle.hpp"

namespace poe::mpi::foreign {

inline constexpr unsigned kNumberBits = 26;
inline constexpr std::uint32_t kNumberMask = (1u << kNumberBits) - 1;

// From the number of an object to its address.
class HandleTable {
  public:
    // Null if no object with this number has gone to the program.
    void* at(std::uint32_t number) const noexcept {
        const Chunk* chunk = chunks_[number / kChunk].load(std::memory_order_acquire);
        return chunk == nullptr ? nullptr
                                : (*chunk)[number % kChunk].load(std::memory_order_relaxed);
    }

    // Returns false if there is no memory for a chunk.
    bool put(std::uint32_t number, void* handle) noexcept {
        Chunk* chunk = chunks_[number / kChunk].load(std::memory_order_acquire);
        if (chunk == nullptr && (chunk = add_chunk(number / kChunk)) == nullptr) return false;
        std::atomic<void*>& entry = (*chunk)[number % kChunk];
        if (entry.load(std::memory_order_relaxed) != handle)
            entry.store(handle, std::memory_order_relaxed);
        return true;
    }

  private:
    static constexpr std::uint32_t kChunk = 4096;
    using Chunk = std::array<std::atomic<void*>, kChunk>;

    Chunk* add_chunk(std::uint32_t index) noexcept {
        auto* made = static_cast<Chunk*>(std::calloc(1, sizeof(Chunk)));
        Chunk* found = nullptr;
        if (made == nullptr || chunks_[index].compare_exchange_strong(found, made)) return made;
        std::free(made);
        return found;
    }

    std::array<std::atomic<Chunk*>, (kNumberMask + 1) / kChunk> chunks_{};
};

// The tables, by Kind.
extern std::array<HandleTable, kKinds> handle_tables;

template <typename Handle>
HandleTable& table_of() noexcept {
    return handle_tables[static_cast<std::size_t>(kKindOf<Handle>)];
}

// The bits of handles of this kind that a program has made.
template <typename Handle>
inline constexpr std::uint32_t kMadeBits =
    0x80000000u | kKindBits[static_cast<std::size_t>(kKindOf<Handle>)];

// Our handle. A number that is no handle of this kind becomes the null pointer, which every
// function refuses as such.
template <typename Handle>
Handle handle_in(Theirs<Handle> handle) noexcept {
    const auto bits = static_cast<std::uint32_t>(handle);
    const Slot& slot = kPredefined<Handle>[slot_of(bits)];
    std::uintptr_t value = 0;
    if (slot.theirs == bits) [[likely]]
        value = slot.ours;
    else if ((bits & ~kNumberMask) == kMadeBits<Handle>)
        value = reinterpret_cast<std::uintptr_t>(table_of<Handle>().at(bits & kNumberMask));
    // A predefined handle is a number. NOLINTNEXTLINE(performance-no-int-to-ptr)
    return reinterpret_cast<Handle>(value);
}

// The handle of MPICH's interface. What does not exist there becomes the null handle of the kind.
template <typename Handle>
Theirs<Handle> handle_out(Handle handle) noexcept {
    if (is_predefined(handle)) return kPredefinedOut[value_of(handle)];
    const auto number =
        static_cast<std::uint32_t>(reinterpret_cast<const Object*>(handle)->integer);
    if (number > kNumberMask || !table_of<Handle>().put(number, handle))
        return static_cast<int>(kNull<Handle>);
    return static_cast<int>(kMadeBits<Handle> | number);
}

template <>
inline MPI_File handle_in<MPI_File>(void* file) noexcept {
    return file == nullptr ? MPI_FILE_NULL : static_cast<MPI_File>(file);
}
template <>
inline void* handle_out<MPI_File>(MPI_File file) noexcept {
    return file == MPI_FILE_NULL ? nullptr : static_cast<void*>(file);
}

}  // namespace poe::mpi::foreign
