// Datatype: the object that a handle of type MPI_Datatype names (MPI 5.0, chapter 5). It holds the
// type map, the arguments of the constructor that made it, a name, and once committed the layout
// from which data is moved.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mpi/datatype/abi_constants.hpp"
#include "mpi/datatype/type_map.hpp"
#include "mpi/datatype/typed_layout.hpp"

namespace poe::mpi {

class Datatype;

// Keeps a datatype alive: a type that is derived from it or a request that uses it holds one.
class TypeReference {
  public:
    TypeReference() = default;
    // Takes one more reference.
    explicit TypeReference(Datatype& type) noexcept;
    TypeReference(const TypeReference& other) noexcept;
    TypeReference(TypeReference&& other) noexcept : type_(std::exchange(other.type_, nullptr)) {}
    TypeReference& operator=(TypeReference other) noexcept {
        std::swap(type_, other.type_);
        return *this;
    }
    ~TypeReference();

    Datatype* get() const noexcept { return type_; }
    Datatype& operator*() const noexcept { return *type_; }
    Datatype* operator->() const noexcept { return type_; }

  private:
    Datatype* type_ = nullptr;
};

// Which form of a function the program called; MPI_Type_get_contents returns the arguments in the
// same form.
enum class Form { kInt, kLarge };

// The arguments of a constructor, in the order that MPI_Type_get_contents returns them (MPI 5.0,
// section 5.1.13). A type that was made by a function with `_c` has its counts in `large_counts`.
struct Contents {
    Combiner combiner = Combiner::kNamed;
    bool large = false;
    std::vector<std::int64_t> integers;
    std::vector<std::int64_t> addresses;
    std::vector<std::int64_t> large_counts;
    std::vector<TypeReference> types;
};

// Handles of different threads may name one datatype, so references are counted atomically. All
// other changes (commit, set_name, attributes) happen under the lock of the runtime.
class Datatype {
  public:
    static constexpr std::uint32_t kMagic = 0x45505954;

    // A derived datatype with one reference, which belongs to the handle of the user.
    Datatype(TypeMap map, Contents contents);
    // A predefined datatype. It is committed and lives as long as the process. `code` is its handle,
    // or 0 if it has none (the parameterised types of Fortran 90).
    struct Predefined {
        int code = 0;
        std::string_view name;
    };
    Datatype(TypeMap map, Contents contents, Predefined which);
    Datatype(const Datatype&) = delete;
    ~Datatype() = default;

    // The memory of a datatype is reused for datatypes only and its first word is then cleared, so
    // live() recognises a handle that the program has freed.
    static void* operator new(std::size_t bytes);
    static void operator delete(void* memory) noexcept;
    static bool live(const Datatype* type) noexcept { return type->magic_ == kMagic; }

    bool predefined() const noexcept { return predefined_; }
    // The handle of a predefined datatype as a number. Of others: what the room above stores here
    // for MPI_Type_toint; 0 at first.
    std::int32_t integer_handle() const noexcept { return integer_handle_; }
    void set_integer_handle(std::int32_t handle) noexcept { integer_handle_ = handle; }

    // No effect on predefined datatypes. The last release() of a derived one deletes it.
    void hold() noexcept;
    void release() noexcept;

    const TypeMap& map() const noexcept { return map_; }
    std::int64_t size() const noexcept { return map_.size; }
    std::int64_t extent() const noexcept { return extent_; }
    std::int64_t lower_bound() const noexcept { return lower_bound_; }
    const Contents& contents() const noexcept { return contents_; }

    // Computes the layout from which data is moved. A second call has no effect.
    void commit();
    bool committed() const noexcept { return committed_; }
    // The memory of `count` elements of this type. Requires committed(), count >= 0, and count *
    // size() below 2^63. The layout is valid while the type exists.
    TypedLayout layout(std::int64_t count) const noexcept {
        return TypedLayout(data_, count, extent_);
    }

    std::string_view name() const noexcept { return name_; }
    // Keeps at most kMaxObjectName - 1 characters.
    void set_name(std::string_view name) { name_ = name.substr(0, kMaxObjectName - 1); }

    // Attributes belong to the room of attributes, which also deletes them before the last
    // release(). Null: none.
    void* attributes() const noexcept { return attributes_; }
    void set_attributes(void* attributes) noexcept { attributes_ = attributes; }

  private:
    // These three are at the beginning of every object that has a handle.
    std::uint32_t magic_ = kMagic;
    std::int32_t integer_handle_ = 0;
    std::atomic<std::uint32_t> references_{1};

    bool predefined_ = false;
    bool committed_ = false;
    std::int64_t extent_ = 0;
    std::int64_t lower_bound_ = 0;
    Placed data_;  // without basic types; only if committed
    TypeMap map_;
    Contents contents_;
    std::string name_;
    void* attributes_ = nullptr;
};

// The predefined datatype whose handle has this value, or null.
Datatype* find_predefined_datatype(std::uintptr_t handle) noexcept;
// The same for a code that exists.
Datatype& predefined_datatype(int code) noexcept;

}  // namespace poe::mpi
