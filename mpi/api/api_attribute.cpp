// Attributes and their keys (MPI 5.0, section 7.7).
#include <algorithm>
#include <mpi.h>
#include <string_view>

#include "base/parse.hpp"
#include "comm/bootstrap/process_runtime.hpp"
#include "mpi/api/bodies.hpp"
#include "mpi/process/process_sets.hpp"
#include "mpi/process/start_facts.hpp"
#include "mpi/window/window.hpp"

namespace poe::mpi {
namespace {

template <typename Copy, typename Delete>
int create_keyval(Kind kind, Copy* copy, Delete* remove, int* keyval, void* extra_state) {
    *keyval = environment().keyvals.create(kind, reinterpret_cast<CopyFunction*>(copy),
                                           reinterpret_cast<DeleteFunction*>(remove), extra_state);
    return MPI_SUCCESS;
}

int free_keyval(Call& call, Kind kind, int* keyval) {
    if (Fault fault = environment().keyvals.free(kind, *keyval)) return call.fail(fault);
    *keyval = MPI_KEYVAL_INVALID;
    return MPI_SUCCESS;
}

// The key, or null after reporting an error.
KeyvalPtr find_keyval(Call& call, Kind kind, int number) {
    KeyvalPtr keyval = environment().keyvals.find(kind, number);
    if (keyval == nullptr) {
        call.fail(MPI_ERR_KEYVAL, "keyval",
                  number == MPI_KEYVAL_INVALID ? "it is MPI_KEYVAL_INVALID"
                                               : std::to_string(number) +
                                                     " is no attribute key of such objects that "
                                                     "a program can set");
    }
    return keyval;
}

int set_attribute(Call& call, Kind kind, Attributes& attributes, void* object, int number,
                  void* value) {
    const KeyvalPtr keyval = find_keyval(call, kind, number);
    if (keyval == nullptr) return call.code();
    return call.finish(call.outside([&] { return attributes.set(object, keyval, value); }));
}

int get_attribute(Call& call, Kind kind, const Attributes* attributes, int number,
                  void* attribute_val, int* flag) {
    if (find_keyval(call, kind, number) == nullptr) return call.code();
    void* value = nullptr;
    *flag = attributes != nullptr && attributes->get(number, value) ? 1 : 0;
    if (*flag != 0) *static_cast<void**>(attribute_val) = value;
    return MPI_SUCCESS;
}

int delete_attribute(Call& call, Kind kind, Attributes& attributes, void* object, int number) {
    if (find_keyval(call, kind, number) == nullptr) return call.code();
    return call.finish(call.outside([&] { return attributes.remove(object, number); }));
}

// Which program of the job this task runs: the number in the name of its process set.
std::optional<int> number_of_program() {
    if (!started_by_poe()) return std::nullopt;
    constexpr std::string_view kPrefix = "poe://program/";
    const TaskId own = environment().task;
    for (const ProcessSet& set : process_sets(comm::the_runtime().tasks())) {
        if (set.name.starts_with(kPrefix) && std::ranges::find(set.tasks, own) != set.tasks.end())
            return parse_number<int>(set.name.substr(kPrefix.size()));
    }
    return 0;
}

// The address of the value of a predefined attribute; null if it is unknown. `is_key` is false
// if the key is not predefined.
const int* predefined_attribute(int number, bool& is_key) {
    Environment& mpi = environment();
    const auto known = [](const std::optional<int>& value) { return value ? &*value : nullptr; };
    is_key = true;
    switch (number) {
        case MPI_TAG_UB:
            return &mpi.predefined.tag_ub;
        case MPI_IO:
            return &mpi.predefined.io;
        case MPI_HOST:
            return &mpi.predefined.host;
        case MPI_WTIME_IS_GLOBAL:
            return &mpi.predefined.wtime_is_global;
        case MPI_APPNUM:
            if (!mpi.predefined.appnum) mpi.predefined.appnum = number_of_program();
            return known(mpi.predefined.appnum);
        case MPI_LASTUSEDCODE:
            return &mpi.error_codes.last_used();
        case MPI_UNIVERSE_SIZE:
            return known(mpi.predefined.universe_size);
        default:
            is_key = false;
            return nullptr;
    }
}

// The value of a predefined attribute of a window, which the program gets as a pointer; false if
// the key is not predefined.
bool find_window_attribute(Window& window, int number, void*& value) {
    switch (number) {
        case MPI_WIN_BASE: {
            const auto base = static_cast<std::uintptr_t>(window.member(window.rank()).base);
            value = reinterpret_cast<void*>(base);  // NOLINT(performance-no-int-to-ptr)
            return true;
        }
        case MPI_WIN_SIZE:
            value = &window.values.size;
            return true;
        case MPI_WIN_DISP_UNIT:
            value = &window.values.unit;
            return true;
        case MPI_WIN_CREATE_FLAVOR:
            value = &window.values.flavor;
            return true;
        case MPI_WIN_MODEL:
            value = &window.values.model;
            return true;
        default:
            return false;
    }
}

}  // namespace

int comm_create_keyval(Call&, MPI_Comm_copy_attr_function* comm_copy_attr_fn,
                       MPI_Comm_delete_attr_function* comm_delete_attr_fn, int* comm_keyval,
                       void* extra_state) {
    return create_keyval(Kind::kComm, comm_copy_attr_fn, comm_delete_attr_fn, comm_keyval,
                         extra_state);
}
int type_create_keyval(Call&, MPI_Type_copy_attr_function* type_copy_attr_fn,
                       MPI_Type_delete_attr_function* type_delete_attr_fn, int* type_keyval,
                       void* extra_state) {
    return create_keyval(Kind::kDatatype, type_copy_attr_fn, type_delete_attr_fn, type_keyval,
                         extra_state);
}
int win_create_keyval(Call&, MPI_Win_copy_attr_function* win_copy_attr_fn,
                      MPI_Win_delete_attr_function* win_delete_attr_fn, int* win_keyval,
                      void* extra_state) {
    return create_keyval(Kind::kWin, win_copy_attr_fn, win_delete_attr_fn, win_keyval, extra_state);
}

int comm_free_keyval(Call& call, int* comm_keyval) {
    return free_keyval(call, Kind::kComm, comm_keyval);
}
int type_free_keyval(Call& call, int* type_keyval) {
    return free_keyval(call, Kind::kDatatype, type_keyval);
}
int win_free_keyval(Call& call, int* win_keyval) {
    return free_keyval(call, Kind::kWin, win_keyval);
}

int comm_set_attr(Call& call, MPI_Comm comm, int comm_keyval, void* attribute_val) {
    return set_attribute(call, Kind::kComm, environment().find_comm(comm)->attributes, comm,
                         comm_keyval, attribute_val);
}

int comm_get_attr(Call& call, MPI_Comm comm, int comm_keyval, void* attribute_val, int* flag) {
    bool is_key = false;
    const int* value = predefined_attribute(comm_keyval, is_key);
    if (!is_key) {
        return get_attribute(call, Kind::kComm, &environment().find_comm(comm)->attributes,
                             comm_keyval, attribute_val, flag);
    }
    *flag = value != nullptr ? 1 : 0;
    if (value != nullptr) *static_cast<void**>(attribute_val) = const_cast<int*>(value);
    return MPI_SUCCESS;
}

int comm_delete_attr(Call& call, MPI_Comm comm, int comm_keyval) {
    return delete_attribute(call, Kind::kComm, environment().find_comm(comm)->attributes, comm,
                            comm_keyval);
}

int type_set_attr(Call& call, MPI_Datatype datatype, int type_keyval, void* attribute_val) {
    return set_attribute(call, Kind::kDatatype, environment().type_attributes.of(datatype),
                         datatype, type_keyval, attribute_val);
}

int type_get_attr(Call& call, MPI_Datatype datatype, int type_keyval, void* attribute_val,
                  int* flag) {
    return get_attribute(call, Kind::kDatatype, environment().type_attributes.find(datatype),
                         type_keyval, attribute_val, flag);
}

int type_delete_attr(Call& call, MPI_Datatype datatype, int type_keyval) {
    return delete_attribute(call, Kind::kDatatype, environment().type_attributes.of(datatype),
                            datatype, type_keyval);
}

int win_set_attr(Call& call, MPI_Win win, int win_keyval, void* attribute_val) {
    return set_attribute(call, Kind::kWin, find_window(win)->attributes, win, win_keyval,
                         attribute_val);
}

int win_get_attr(Call& call, MPI_Win win, int win_keyval, void* attribute_val, int* flag) {
    Window& window = *find_window(win);
    void* value = nullptr;
    if (!find_window_attribute(window, win_keyval, value))
        return get_attribute(call, Kind::kWin, &window.attributes, win_keyval, attribute_val, flag);
    *flag = 1;
    *static_cast<void**>(attribute_val) = value;
    return MPI_SUCCESS;
}

int win_delete_attr(Call& call, MPI_Win win, int win_keyval) {
    return delete_attribute(call, Kind::kWin, find_window(win)->attributes, win, win_keyval);
}

}  // namespace poe::mpi
