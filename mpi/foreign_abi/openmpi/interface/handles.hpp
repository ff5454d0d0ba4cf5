// Handles of Open MPI's binary interface, which are addresses of objects of its library, and of the
// standard's, which are numbers or addresses of our objects.
//
//   handle                  the address of
//   predefined              a variable with the name of objects.tsv, which a program may have copied
//   made by the program     an object that this library allocates for our object
//
// Each of these objects begins with our handle. Our object has its number forever (Pool in
// mpi/object/handle.hpp), and so has its address. Therefore a table per kind, from numbers to
// objects, needs no entry to be removed: an object is allocated when a handle with this number
// first goes to the program, and never freed.
//
// Conversions never block. Any thread may convert any handle: a thread that has a handle got it,
// directly or through another thread, from the call that made the object.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <mpi.h>
#include <vector>

#include "interface/layout.hpp"
#include "interface/predefined.hpp"
#include "interface/types.hpp"
#include "mpi/object/handle.hpp"

namespace poe::mpi::foreign {

// The address of each of our predefined handles, by its value.
extern std::array<void*, kFirstAddress> predefined_out;
// The predefined objects of a kind, by their numbers in Fortran.
extern std::array<std::vector<void*>, kKinds> predefined_numbers;

// From the number of an object of ours to the object of this interface.
class ObjectTable {
  public:
    // Null if no object with this number has gone to the program.
    ForeignObject* at(std::uint32_t number) const noexcept {
        if (number >= kMost) return nullptr;
        const Chunk* chunk = chunks_[number / kChunk].load(std::memory_order_acquire);
        return chunk == nullptr ? nullptr
                                : (*chunk)[number % kChunk].load(std::memory_order_acquire);
    }

    // The object for our handle; null if there is no memory. `size` is that of the object.
    ForeignObject* object_of(Kind kind, std::uint32_t number, std::uintptr_t ours,
                             std::size_t size) noexcept {
        if (number >= kMost) return nullptr;
        std::atomic<Chunk*>& place = chunks_[number / kChunk];
        Chunk* chunk = place.load(std::memory_order_acquire);
        if (chunk == nullptr) chunk = keep_first(place, allocate<Chunk>(sizeof(Chunk)));
        if (chunk == nullptr) return nullptr;
        std::atomic<ForeignObject*>& entry = (*chunk)[number % kChunk];
        ForeignObject* object = entry.load(std::memory_order_acquire);
        if (object == nullptr) {
            object = allocate<ForeignObject>(size);
            if (object == nullptr) return nullptr;
            *object = {ours, static_cast<std::int32_t>(number), kind};
            layout::set_members(*object);
            object = keep_first(entry, object);
        }
        if (kind == Kind::kComm) layout::forget_sizes(object);
        __atomic_store_n(&object->ours, ours, __ATOMIC_RELAXED);
        return object;
    }

  private:
    static constexpr std::uint32_t kChunk = 4096;
    static constexpr std::uint32_t kMost = 1u << 26;
    using Chunk = std::array<std::atomic<ForeignObject*>, kChunk>;

    // Memory of zeros; null if there is none.
    template <typename T>
    static T* allocate(std::size_t size) noexcept {
        return static_cast<T*>(std::calloc(1, size));
    }
    // Puts `made` there. If another thread was faster, frees it and returns what is there.
    template <typename T>
    static T* keep_first(std::atomic<T*>& place, T* made) noexcept {
        T* found = nullptr;
        if (made == nullptr || place.compare_exchange_strong(found, made)) return made;
        std::free(made);
        return found;
    }

    std::array<std::atomic<Chunk*>, kMost / kChunk> chunks_{};
};

// The tables, by Kind.
extern std::array<ObjectTable, kKinds> object_tables;

template <typename Handle>
ObjectTable& table_of() noexcept {
    return object_tables[static_cast<std::size_t>(kKindOf<Handle>)];
}

// Our handle. A number, which is no address, becomes the null pointer, which every function
// refuses.
template <typename Handle>
Handle handle_in(void* handle) noexcept {
    constexpr std::uintptr_t kLeastAddress = 65536;  // the system maps nothing below
    if (reinterpret_cast<std::uintptr_t>(handle) < kLeastAddress) [[unlikely]]
        return nullptr;
    // A predefined handle is a number. NOLINTNEXTLINE(performance-no-int-to-ptr)
    return reinterpret_cast<Handle>(static_cast<const ForeignObject*>(handle)->ours);
}

// The number of a handle in Fortran, and the handle with a number. A number that stands for none
// becomes the null pointer.
inline int to_fortran(const void* handle) noexcept {
    return handle == nullptr ? -1
                             : static_cast<int>(static_cast<const ForeignObject*>(handle)->fortran);
}
template <typename Handle>
void* from_fortran(int number) noexcept {
    const auto& predefined = predefined_numbers[static_cast<std::size_t>(kKindOf<Handle>)];
    const auto index = static_cast<std::uint32_t>(number);
    return index < predefined.size() ? predefined[index] : table_of<Handle>().at(index);
}

// The handle of Open MPI's interface. What does not exist there becomes the null handle of the
// kind.
template <typename Handle>
void* handle_out(Handle handle) noexcept {
    if (is_predefined(handle)) return predefined_out[value_of(handle)];
    const auto number =
        static_cast<std::uint32_t>(reinterpret_cast<const poe::mpi::Object*>(handle)->integer);
    return table_of<Handle>().object_of(
        kKindOf<Handle>, number, reinterpret_cast<std::uintptr_t>(handle), kObjectSize<Handle>);
}

}  // namespace poe::mpi::foreign
