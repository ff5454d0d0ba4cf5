// Handles and the objects behind them (MPI 5.0, sections 2.5.1 and 20.3).
//
// A handle is a pointer that programs do not look into. The handle of a predefined object is a
// number below 4096. The handle of an object that the program has made is the address of its Object
// header. An object stays allocated after it was freed, and a freed object has no magic number, so
// that a stale handle is detected instead of crashing the program.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mpi.h>
#include <mutex>
#include <vector>

namespace poe::mpi {

// The kinds of handles.
enum class Kind : std::uint8_t {
    kComm,
    kDatatype,
    kErrhandler,
    kFile,
    kGroup,
    kInfo,
    kMessage,
    kOp,
    kRequest,
    kSession,
    kWin,
};
inline constexpr std::size_t kKinds = 11;

// The C type of a handle, and the kind that it belongs to.
template <typename Handle>
inline constexpr Kind kKindOf = Kind{};
template <>
inline constexpr Kind kKindOf<MPI_Comm> = Kind::kComm;
template <>
inline constexpr Kind kKindOf<MPI_Datatype> = Kind::kDatatype;
template <>
inline constexpr Kind kKindOf<MPI_Errhandler> = Kind::kErrhandler;
template <>
inline constexpr Kind kKindOf<MPI_File> = Kind::kFile;
template <>
inline constexpr Kind kKindOf<MPI_Group> = Kind::kGroup;
template <>
inline constexpr Kind kKindOf<MPI_Info> = Kind::kInfo;
template <>
inline constexpr Kind kKindOf<MPI_Message> = Kind::kMessage;
template <>
inline constexpr Kind kKindOf<MPI_Op> = Kind::kOp;
template <>
inline constexpr Kind kKindOf<MPI_Request> = Kind::kRequest;
template <>
inline constexpr Kind kKindOf<MPI_Session> = Kind::kSession;
template <>
inline constexpr Kind kKindOf<MPI_Win> = Kind::kWin;

// The first value that can be the handle of an object that the program has made.
inline constexpr std::uintptr_t kFirstAddress = 4096;

inline std::uintptr_t value_of(const void* handle) noexcept {
    return reinterpret_cast<std::uintptr_t>(handle);
}
inline bool is_predefined(const void* handle) noexcept {
    return value_of(handle) < kFirstAddress;
}

// The beginning of every object that a handle can name. Every class of such objects derives from
// Object, is default-constructible and has a function reset(), which releases what the object owns.
struct Object {
    std::atomic<std::uint32_t> magic{0};  // magic_of() its kind while the object is in use
    std::int32_t integer = 0;             // the handle as an integer, from kFirstAddress on
    std::atomic<std::int32_t> references{0};

    Object() = default;
    Object(const Object&) = delete;
    Object& operator=(const Object&) = delete;
};

constexpr std::uint32_t magic_of(Kind kind) noexcept {
    return 0x4d504900u + static_cast<std::uint32_t>(kind);
}

// The object of this kind that the handle names; null for predefined handles and for handles that
// name no object of this kind. Never blocks, any thread may call it.
inline Object* find_object(Kind kind, const void* handle) noexcept {
    const std::uintptr_t value = value_of(handle);
    if (value < kFirstAddress || value % alignof(Object) != 0) return nullptr;
    auto* object = static_cast<Object*>(const_cast<void*>(handle));
    return object->magic.load(std::memory_order_relaxed) == magic_of(kind) ? object : nullptr;
}

// The same as a T, which must be the class of all objects of this kind or a base of it.
template <typename T, typename Handle>
T* find(Handle handle) noexcept {
    return static_cast<T*>(find_object(kKindOf<Handle>, handle));
}

template <typename Handle>
Handle handle_of(Object& object) noexcept {
    return reinterpret_cast<Handle>(&object);
}

// A pool, as far as its element type does not matter.
class AnyPool {
  public:
    virtual ~AnyPool() = default;
    // The object in use with this integer handle, or null. Thread-safe.
    virtual Object* at(int integer) = 0;
};

// The objects of one kind. Never returns memory to the system. Thread-safe.
template <typename T>
class Pool final : public AnyPool {
  public:
    explicit Pool(Kind kind) noexcept : kind_(kind) {}

    // Returns an object with one reference, in the state that T's constructor or reset() leaves.
    T& make() {
        const std::lock_guard guard(lock_);
        if (free_.empty()) {
            free_.reserve(objects_.size() + 1);  // so that release() never allocates
            T& added = objects_.emplace_back();
            added.integer = static_cast<std::int32_t>(kFirstAddress + objects_.size() - 1);
            free_.push_back(&added);
        }
        T& object = *free_.back();
        free_.pop_back();
        ++in_use_;
        object.references.store(1, std::memory_order_relaxed);
        object.magic.store(magic_of(kind_), std::memory_order_release);
        return object;
    }

    // Drops a reference. With the last one the object is reset and its handle becomes invalid.
    void release(T& object) {
        if (object.references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
        object.magic.store(0, std::memory_order_relaxed);
        object.reset();
        const std::lock_guard guard(lock_);
        free_.push_back(&object);
        --in_use_;
    }

    Object* at(int integer) override {
        const std::lock_guard guard(lock_);
        const auto index = static_cast<std::int64_t>(integer) - std::int64_t{kFirstAddress};
        if (index < 0 || index >= static_cast<std::int64_t>(objects_.size())) return nullptr;
        T& object = objects_[static_cast<std::size_t>(index)];
        return object.magic.load(std::memory_order_relaxed) == magic_of(kind_) ? &object : nullptr;
    }

    // The first object in use for which `matches` is true; null if there is none.
    template <typename Matches>
    T* find_if(Matches&& matches) {
        const std::lock_guard guard(lock_);
        for (T& object : objects_)
            if (object.magic.load(std::memory_order_relaxed) == magic_of(kind_) && matches(object))
                return &object;
        return nullptr;
    }

    // The number of objects in use, to find what a program has not freed.
    std::size_t in_use() {
        const std::lock_guard guard(lock_);
        return in_use_;
    }

  private:
    const Kind kind_;
    std::mutex lock_;
    std::deque<T> objects_;  // at fixed addresses
    std::vector<T*> free_;
    std::size_t in_use_ = 0;
};

inline void add_reference(Object& object) noexcept {
    object.references.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace poe::mpi
