// Keys of attributes and their functions (MPI 5.0, section 7.7), and the values of predefined
// attributes.
//
// The functions of the program and its extra state are in a Keyval, which is the extra state of the
// key in our library. A Keyval is never freed, because attributes keep a key alive that the program
// has freed.
#include <array>
#include <map>
#include <mutex>

#include "interface/functions.hpp"
#include "mpi/foreign_abi/arguments.hpp"
#include "mpi/foreign_abi/by_hand.hpp"
#include "mpi/foreign_abi/fortran_values.hpp"

namespace poe::mpi::foreign {
namespace {

template <typename Handle>
using CopyFunction = int(Theirs<Handle> object, int keyval, void* extra_state, void* value_in,
                         void* value_out, int* flag);
template <typename Handle>
using DeleteFunction = int(Theirs<Handle> object, int keyval, void* value, void* extra_state);
// How foreign libraries for other languages call them. `type` is that of the value: 0 is an
// address.
template <typename Handle>
using CopyProxy = int(Function* function, Theirs<Handle> object, int keyval, void* extra_state,
                      int type, void* value_in, void** value_out, int* flag);
template <typename Handle>
using DeleteProxy = int(Function* function, Theirs<Handle> object, int keyval, int type,
                        void* value, void* extra_state);
constexpr int kAddress = 0;

struct Keyval {
    Function* copy;
    Function* remove;
    void* extra_state;
    Function* copy_proxy = nullptr;  // null: the functions are of C
    Function* delete_proxy = nullptr;
};

struct Keyvals {
    std::mutex lock;
    std::map<int, Keyval*> by_number;
};
Keyvals& keyvals() {
    static auto* all = new Keyvals;
    return *all;
}

// The value of an attribute and its type, as a function of another language gets them.
struct TypedValue {
    explicit TypedValue(void* attribute) : value(attribute) {
        if (const FortranValue* of_fortran = find_fortran_value(attribute)) {
            value = reinterpret_cast<void*>(of_fortran->value);
            type = of_fortran->type;
        }
    }
    void* value;
    int type = kAddress;
};

template <typename Handle>
int copy_attribute(Handle object, int keyval, void* extra_state, void* value_in, void* value_out,
                   int* flag) {
    const auto& key = *static_cast<Keyval*>(extra_state);
    const auto theirs = handle_out(object);
    if (key.copy_proxy == nullptr)
        return error_in(reinterpret_cast<CopyFunction<Handle>*>(key.copy)(
            theirs, keyval, key.extra_state, value_in, value_out, flag));
    const TypedValue in(value_in);
    void* out = nullptr;
    const int code = reinterpret_cast<CopyProxy<Handle>*>(key.copy_proxy)(
        key.copy, theirs, keyval, key.extra_state, in.type, in.value, &out, flag);
    if (code == MPI_SUCCESS && *flag != 0 && in.type != kAddress)
        out = keep_fortran_value(reinterpret_cast<MPI_Aint>(out), in.type);
    *static_cast<void**>(value_out) = out;
    return error_in(code);
}

template <typename Handle>
int delete_attribute(Handle object, int keyval, void* value, void* extra_state) {
    const auto& key = *static_cast<Keyval*>(extra_state);
    const auto theirs = handle_out(object);
    if (key.delete_proxy == nullptr)
        return error_in(reinterpret_cast<DeleteFunction<Handle>*>(key.remove)(theirs, keyval, value,
                                                                              key.extra_state));
    const TypedValue typed(value);
    return error_in(reinterpret_cast<DeleteProxy<Handle>*>(key.delete_proxy)(
        key.remove, theirs, keyval, typed.type, typed.value, key.extra_state));
}

template <typename Handle, typename Copy, typename Delete, typename Create>
int create_keyval(Function* copy, Function* remove, int* keyval, void* extra_state, Copy* duplicate,
                  Create* create) {
    Copy* our_copy = is_null_copy(copy)   ? nullptr
                     : is_duplicate(copy) ? duplicate
                                          : &copy_attribute<Handle>;
    Delete* our_delete = is_null_delete(remove) ? nullptr : &delete_attribute<Handle>;
    auto* state = new Keyval{copy, remove, extra_state};
    const int code = create(our_copy, our_delete, keyval, state);
    if (code != MPI_SUCCESS) {
        delete state;
        return finish(code);
    }
    const std::lock_guard guard(keyvals().lock);
    keyvals().by_number[*keyval] = state;
    return MPI_SUCCESS;
}

// Predefined attributes whose values are constants: how to convert them. The address of the
// converted value goes to the program, as that of the value would.
struct ConvertedValue {
    int keyval;
    int (*convert)(int);
};
constexpr ConvertedValue kConverted[] = {
    {MPI_HOST, rank_out},
    {MPI_IO, rank_out},
    {MPI_LASTUSEDCODE, error_out},
    {MPI_WIN_CREATE_FLAVOR, value_out<kWindowFlavor>},
    {MPI_WIN_MODEL, value_out<kWindowModel>},
};
std::array<int, std::size(kConverted)> converted_values;

void convert_value(int keyval, void* attribute_val) {
    for (std::size_t i = 0; i < std::size(kConverted); ++i) {
        if (kConverted[i].keyval != keyval) continue;
        auto** value = static_cast<int**>(attribute_val);
        __atomic_store_n(&converted_values[i], kConverted[i].convert(**value), __ATOMIC_RELAXED);
        *value = &converted_values[i];
    }
}

}  // namespace

int comm_create_keyval(Function* copy, Function* remove, int* keyval, void* extra_state) {
    return create_keyval<MPI_Comm, MPI_Comm_copy_attr_function, MPI_Comm_delete_attr_function>(
        copy, remove, keyval, extra_state, MPI_COMM_DUP_FN, library.Comm_create_keyval);
}
int keyval_create(Function* copy, Function* remove, int* keyval, void* extra_state) {
    return create_keyval<MPI_Comm, MPI_Copy_function, MPI_Delete_function>(
        copy, remove, keyval, extra_state, MPI_DUP_FN, library.Keyval_create);
}
int type_create_keyval(Function* copy, Function* remove, int* keyval, void* extra_state) {
    return create_keyval<MPI_Datatype, MPI_Type_copy_attr_function, MPI_Type_delete_attr_function>(
        copy, remove, keyval, extra_state, MPI_TYPE_DUP_FN, library.Type_create_keyval);
}
int win_create_keyval(Function* copy, Function* remove, int* keyval, void* extra_state) {
    return create_keyval<MPI_Win, MPI_Win_copy_attr_function, MPI_Win_delete_attr_function>(
        copy, remove, keyval, extra_state, MPI_WIN_DUP_FN, library.Win_create_keyval);
}

void set_keyval_proxies(int keyval, Function* copy_proxy, Function* delete_proxy) noexcept {
    const std::lock_guard guard(keyvals().lock);
    const auto found = keyvals().by_number.find(keyval);
    if (found == keyvals().by_number.end()) return;
    found->second->copy_proxy = copy_proxy;
    found->second->delete_proxy = delete_proxy;
}

namespace {
// `get` is one of our functions that get an attribute.
template <typename Handle>
int get_attr(Theirs<Handle> object, int keyval, void* attribute_val, int* flag,
             int (*get)(Handle, int, void*, int*)) {
    const int ours = keyval_in(keyval);
    const int code = get(handle_in<Handle>(object), ours, attribute_val, flag);
    if (code == MPI_SUCCESS && *flag != 0) convert_value(ours, attribute_val);
    return finish(code);
}
}  // namespace

int comm_get_attr(Theirs<MPI_Comm> comm, int keyval, void* attribute_val, int* flag) {
    return get_attr<MPI_Comm>(comm, keyval, attribute_val, flag, library.Comm_get_attr);
}
int attr_get(Theirs<MPI_Comm> comm, int keyval, void* attribute_val, int* flag) {
    return get_attr<MPI_Comm>(comm, keyval, attribute_val, flag, library.Attr_get);
}
int win_get_attr(Theirs<MPI_Win> win, int keyval, void* attribute_val, int* flag) {
    return get_attr<MPI_Win>(win, keyval, attribute_val, flag, library.Win_get_attr);
}

}  // namespace poe::mpi::foreign
