// Datatype: the object that a handle of type MPI_Datatype names (MPI 5.0, chapter 5). It holds the
// type map, the arguments of the constructor that made it, a name, and once committed the layout
// from which data is moved.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mpi/datatype/abi_constants.hpp"
#include "mpi/datatype/type_map.hpp"
#include "mpi/datatype/typed_layout.hpp"
#include "mpi/object/handle.hpp"

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
// other changes (commit, set_name) happen in one thread at a time.
class Datatype : public Object {
  public:
    // Without meaning until define(). Pools make datatypes, see below.
    Datatype() = default;

    void define(TypeMap map, Contents contents);
    // Makes it a predefined datatype: committed, and never released. `represented`: see
    // named_code().
    void make_predefined(std::string_view name, int represented = 0);
    // What a pool calls when the last reference is gone.
    void reset();

    bool predefined() const noexcept { return predefined_; }
    // The handle of a named predefined datatype as a number; 0 for all others.
    int code() const noexcept {
        return integer < static_cast<std::int32_t>(kFirstAddress) ? integer : 0;
    }
    // The same, but of a datatype of MPI_Type_create_f90_real and the like: the handle of the named
    // datatype that it represents.
    int named_code() const noexcept { return represented_ != 0 ? represented_ : code(); }

    // No effect on predefined datatypes. The last release() of a derived one invalidates its
    // handle.
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

  private:
    bool predefined_ = false;
    bool committed_ = false;
    int represented_ = 0;
    std::int64_t extent_ = 0;
    std::int64_t lower_bound_ = 0;
    Placed data_;  // without basic types; only if committed
    TypeMap map_;
    Contents contents_;
    std::string name_;
};

// All datatypes but the named predefined ones. Lives as long as the process.
Pool<Datatype>& datatype_pool();

// The predefined datatype whose handle has this value, or null.
Datatype* find_predefined_datatype(std::uintptr_t handle) noexcept;
// The same for a code that exists.
Datatype& predefined_datatype(int code) noexcept;

}  // namespace poe::mpi
