// Attributes: values that programs attach to communicators, datatypes and windows under keys of
// their own (MPI 5.0, section 7.7).
//
// A key belongs to one kind of objects. Its functions are called when an attribute is copied or
// deleted; they may call MPI, so the callers of this file must not hold a lock that MPI functions
// take. A key that the program has freed lives on until no attribute has it.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mpi.h>
#include <mutex>
#include <vector>

#include "mpi/object/fault.hpp"
#include "mpi/object/handle.hpp"

namespace poe::mpi {

// The functions of a key, stored as communicator functions. The two other kinds differ only in the
// type of the handle, a pointer in each case.
using CopyFunction = MPI_Comm_copy_attr_function;
using DeleteFunction = MPI_Comm_delete_attr_function;

struct Keyval {
    int number = MPI_KEYVAL_INVALID;
    Kind kind = Kind::kComm;
    CopyFunction* copy = nullptr;  // may be a sentinel: MPI_COMM_NULL_COPY_FN or MPI_COMM_DUP_FN
    DeleteFunction* remove = nullptr;  // may be the sentinel MPI_COMM_NULL_DELETE_FN
    void* extra_state = nullptr;
};
using KeyvalPtr = std::shared_ptr<const Keyval>;

// All keys of the program. Thread-safe.
class Keyvals {
  public:
    // Returns the number of the new key.
    int create(Kind kind, CopyFunction* copy, DeleteFunction* remove, void* extra_state);
    // Null if there is no such key for this kind of objects. Attributes keep a freed key alive, so
    // another copy of its number still works.
    KeyvalPtr find(Kind kind, int number);
    // Refuses a number that is no key of this kind.
    Fault free(Kind kind, int number);

  private:
    struct Entry {
        std::weak_ptr<const Keyval> keyval;
        KeyvalPtr owned;  // null once the program has freed the key
    };

    std::mutex lock_;
    std::map<int, Entry> entries_;
    int next_ = static_cast<int>(kFirstAddress);  // above the predefined keys
};

// The attributes of one object, in the order in which they were set. The lock guards the list
// against other threads and is never held while a function of the program runs.
class Attributes {
  public:
    // Sets the attribute. If it is set already, its value is deleted first; if that fails, the old
    // value stays. Returns the code of a failing function of the program.
    Fault set(void* object, const KeyvalPtr& keyval, void* value);
    // False if the attribute is not set.
    bool get(int number, void*& value) const;
    // Refuses an attribute that is not set. If the delete function fails, the attribute stays.
    Fault remove(void* object, int number);

    // Copies those attributes to the new object `to` whose copy functions say so. After a failure,
    // `to` has the attributes that were copied before; the caller frees the object.
    Fault copy_to(Attributes& to, void* object) const;
    // Deletes all attributes, the one that was set last first. Continues after a failing delete
    // function, and returns the first failure.
    Fault remove_all(void* object);

    bool empty() const;

  private:
    struct Entry {
        KeyvalPtr keyval;
        void* value;
    };

    std::vector<Entry> snapshot() const;
    void erase(int number);

    mutable std::mutex lock_;
    std::vector<Entry> entries_;
};

// The attributes of datatypes, which keep none themselves: few datatypes have any, and predefined
// datatypes can have some too. Thread-safe.
class AttributeTable {
  public:
    // The attributes of the object with this handle; made at the first call.
    Attributes& of(const void* handle);
    // The same, but null if the object never had attributes.
    Attributes* find(const void* handle);
    // Forgets the attributes of an object that was freed, after Attributes::remove_all.
    void forget(const void* handle);

  private:
    std::mutex lock_;
    std::map<const void*, std::unique_ptr<Attributes>> sets_;
};

}  // namespace poe::mpi
