// Attributes of Fortran (MPI 5.0, sections 7.7 and 19.3.7).
//
// The value of an attribute is an integer in Fortran and a pointer in C. An attribute that Fortran
// sets is stored as the address of a Value, so C gets a pointer to the integer, as the standard
// says.
//
//   set by          read by Fortran as                     read by C as
//   Fortran         the integer                            a pointer to it
//   C               the address                            the pointer
//   MPI             the integer behind the pointer; MPI_WIN_BASE: the address     a pointer
//
// The functions of a key are Fortran subroutines; a key that Fortran creates therefore has
// functions of C here, which call them and own the Values. The functions of a key that C has
// created do not free the Value of an attribute that Fortran has set, so it exists until the
// process ends.
#include <memory>
#include <mutex>
#include <unordered_set>
#include <vector>

#include "mpi/fortran/by_hand.hpp"

namespace poe::mpi::fortran {
namespace {

// A value as Fortran sees it: its first bytes are also the INTEGER of MPI_ATTR_PUT.
using Value = MPI_Aint;

// The subroutines of module mpi and mpi_f08, and those of MPI 1, in which all integers are INTEGER.
using Copy = void(int* object, int* keyval, MPI_Aint* extra_state, MPI_Aint* value_in,
                  MPI_Aint* value_out, int* flag, int* ierror);
using Delete = void(int* object, int* keyval, MPI_Aint* value, MPI_Aint* extra_state, int* ierror);
using OldCopy = void(int* object, int* keyval, int* extra_state, int* value_in, int* value_out,
                     int* flag, int* ierror);
using OldDelete = void(int* object, int* keyval, int* value, int* extra_state, int* ierror);

struct Key {
    Procedure* copy;
    Procedure* remove;
    MPI_Aint extra_state;
};

// The values and keys of this process. Never destroyed, because MPI_Finalize may run after the
// destructors.
struct Store {
    std::mutex lock;
    std::unordered_set<Value*> values;
    std::vector<std::unique_ptr<Key>> keys;  // MPI has their addresses as extra states
};
Store& store() {
    static auto* const made = new Store;
    return *made;
}

Value* make_value(MPI_Aint value) {
    auto* made = new Value(value);
    const std::lock_guard guard(store().lock);
    store().values.insert(made);
    return made;
}

// Fortran's value of what C has: the integer if it is a Value, otherwise the address.
MPI_Aint value_of(void* pointer) {
    const std::lock_guard guard(store().lock);
    auto* value = static_cast<Value*>(pointer);
    return store().values.contains(value) ? *value : reinterpret_cast<MPI_Aint>(pointer);
}

void free_value(void* pointer) {
    auto* value = static_cast<Value*>(pointer);
    const std::lock_guard guard(store().lock);
    if (store().values.erase(value) != 0) delete value;
}

// The functions of keys, for one kind of objects. A template, because an object may have an own
// type.
template <typename Handle, bool kOld>
struct Functions {
    static int copy(Handle object, int keyval, void* extra_state, void* value_in, void* value_out,
                    int* flag) {
        const Key& key = *static_cast<Key*>(extra_state);
        int integer = to_fortran(object);
        int code = MPI_SUCCESS;
        MPI_Aint state = key.extra_state;
        MPI_Aint in = value_of(value_in);
        MPI_Aint out = 0;
        *flag = 0;
        if constexpr (kOld) {
            int old_state = static_cast<int>(state);
            int old_in = static_cast<int>(in);
            int old_out = 0;
            reinterpret_cast<OldCopy*>(key.copy)(&integer, &keyval, &old_state, &old_in, &old_out,
                                                 flag, &code);
            out = old_out;
        } else {
            reinterpret_cast<Copy*>(key.copy)(&integer, &keyval, &state, &in, &out, flag, &code);
        }
        if (code == MPI_SUCCESS && *flag != 0) *static_cast<void**>(value_out) = make_value(out);
        return code;
    }

    static int remove(Handle object, int keyval, void* pointer, void* extra_state) {
        const Key& key = *static_cast<Key*>(extra_state);
        int integer = to_fortran(object);
        int code = MPI_SUCCESS;
        MPI_Aint state = key.extra_state;
        MPI_Aint value = value_of(pointer);
        if constexpr (kOld) {
            int old_state = static_cast<int>(state);
            int old_value = static_cast<int>(value);
            reinterpret_cast<OldDelete*>(key.remove)(&integer, &keyval, &old_value, &old_state,
                                                     &code);
        } else {
            reinterpret_cast<Delete*>(key.remove)(&integer, &keyval, &value, &state, &code);
        }
        if (code == MPI_SUCCESS) free_value(pointer);
        return code;
    }
};

// Stores the subroutines of a new key; returns the extra state of the functions above.
Key* make_key(Procedure* copy_fn, Procedure* delete_fn, MPI_Aint extra_state) {
    auto key = std::make_unique<Key>(Key{copy_fn, delete_fn, extra_state});
    const std::lock_guard guard(store().lock);
    return store().keys.emplace_back(std::move(key)).get();
}

// Sets an attribute by calling set(pointer).
template <typename Set>
int set_value(MPI_Aint value, Set&& set) {
    Value* made = make_value(value);
    const int code = set(made);
    if (code != MPI_SUCCESS) free_value(made);
    return code;
}

// Fortran's value of an attribute that C has as a pointer.
MPI_Aint read_value(int keyval, void* pointer) {
    switch (keyval) {
        case MPI_TAG_UB:
        case MPI_IO:
        case MPI_HOST:
        case MPI_WTIME_IS_GLOBAL:
        case MPI_APPNUM:
        case MPI_LASTUSEDCODE:
        case MPI_UNIVERSE_SIZE:
        case MPI_WIN_DISP_UNIT:
        case MPI_WIN_CREATE_FLAVOR:
        case MPI_WIN_MODEL:
            return *static_cast<int*>(pointer);
        case MPI_WIN_SIZE:
            return *static_cast<MPI_Aint*>(pointer);
        default:
            return value_of(pointer);
    }
}

}  // namespace

int keyval_create(Procedure* copy_fn, Procedure* delete_fn, int* keyval, const int* extra_state) {
    using Old = Functions<MPI_Comm, true>;
    return MPI_Keyval_create(Old::copy, Old::remove, keyval,
                             make_key(copy_fn, delete_fn, *extra_state));
}
int comm_create_keyval(Procedure* copy_fn, Procedure* delete_fn, int* keyval,
                       const MPI_Aint* extra_state) {
    using New = Functions<MPI_Comm, false>;
    return MPI_Comm_create_keyval(New::copy, New::remove, keyval,
                                  make_key(copy_fn, delete_fn, *extra_state));
}
int type_create_keyval(Procedure* copy_fn, Procedure* delete_fn, int* keyval,
                       const MPI_Aint* extra_state) {
    using New = Functions<MPI_Datatype, false>;
    return MPI_Type_create_keyval(New::copy, New::remove, keyval,
                                  make_key(copy_fn, delete_fn, *extra_state));
}
int win_create_keyval(Procedure* copy_fn, Procedure* delete_fn, int* keyval,
                      const MPI_Aint* extra_state) {
    using New = Functions<MPI_Win, false>;
    return MPI_Win_create_keyval(New::copy, New::remove, keyval,
                                 make_key(copy_fn, delete_fn, *extra_state));
}

int attr_put(const int* comm, const int* keyval, const int* attribute_val) {
    return set_value(*attribute_val, [&](void* value) {
        return MPI_Attr_put(from_fortran<MPI_Comm>(*comm), *keyval, value);
    });
}
int attr_get(const int* comm, const int* keyval, int* attribute_val, int* flag) {
    void* pointer = nullptr;
    const int code = MPI_Attr_get(from_fortran<MPI_Comm>(*comm), *keyval, &pointer, flag);
    if (code == MPI_SUCCESS && *flag != 0)
        *attribute_val = static_cast<int>(read_value(*keyval, pointer));
    return code;
}

int comm_set_attr(const int* comm, const int* keyval, const MPI_Aint* attribute_val) {
    return set_value(*attribute_val, [&](void* value) {
        return MPI_Comm_set_attr(from_fortran<MPI_Comm>(*comm), *keyval, value);
    });
}
int type_set_attr(const int* datatype, const int* keyval, const MPI_Aint* attribute_val) {
    return set_value(*attribute_val, [&](void* value) {
        return MPI_Type_set_attr(from_fortran<MPI_Datatype>(*datatype), *keyval, value);
    });
}
int win_set_attr(const int* win, const int* keyval, const MPI_Aint* attribute_val) {
    return set_value(*attribute_val, [&](void* value) {
        return MPI_Win_set_attr(from_fortran<MPI_Win>(*win), *keyval, value);
    });
}

int comm_get_attr(const int* comm, const int* keyval, MPI_Aint* attribute_val, int* flag) {
    void* pointer = nullptr;
    const int code = MPI_Comm_get_attr(from_fortran<MPI_Comm>(*comm), *keyval, &pointer, flag);
    if (code == MPI_SUCCESS && *flag != 0) *attribute_val = read_value(*keyval, pointer);
    return code;
}
int type_get_attr(const int* datatype, const int* keyval, MPI_Aint* attribute_val, int* flag) {
    void* pointer = nullptr;
    const int code =
        MPI_Type_get_attr(from_fortran<MPI_Datatype>(*datatype), *keyval, &pointer, flag);
    if (code == MPI_SUCCESS && *flag != 0) *attribute_val = read_value(*keyval, pointer);
    return code;
}
int win_get_attr(const int* win, const int* keyval, MPI_Aint* attribute_val, int* flag) {
    void* pointer = nullptr;
    const int code = MPI_Win_get_attr(from_fortran<MPI_Win>(*win), *keyval, &pointer, flag);
    if (code == MPI_SUCCESS && *flag != 0) *attribute_val = read_value(*keyval, pointer);
    return code;
}

}  // namespace poe::mpi::fortran

#pragma GCC visibility push(default)
extern "C" {

// The predefined functions of keys. They are ordinary subroutines, so a key needs no special case.
#define POE_ATTRIBUTE_FUNCTIONS(prefix, Integer)                                                   \
    void prefix##null_copy_fn_(int*, int*, Integer*, Integer*, Integer*, int* flag, int* ierror) { \
        *flag = 0;                                                                                 \
        *ierror = MPI_SUCCESS;                                                                     \
    }                                                                                              \
    void prefix##dup_fn_(int*, int*, Integer*, Integer* value_in, Integer* value_out, int* flag,   \
                         int* ierror) {                                                            \
        *flag = 1;                                                                                 \
        *value_out = *value_in;                                                                    \
        *ierror = MPI_SUCCESS;                                                                     \
    }                                                                                              \
    void prefix##null_delete_fn_(int*, int*, Integer*, Integer*, int* ierror) {                    \
        *ierror = MPI_SUCCESS;                                                                     \
    }
POE_ATTRIBUTE_FUNCTIONS(mpi_, int)
POE_ATTRIBUTE_FUNCTIONS(mpi_comm_, MPI_Aint)
POE_ATTRIBUTE_FUNCTIONS(mpi_type_, MPI_Aint)
POE_ATTRIBUTE_FUNCTIONS(mpi_win_, MPI_Aint)
#undef POE_ATTRIBUTE_FUNCTIONS

}  // extern "C"
#pragma GCC visibility pop
