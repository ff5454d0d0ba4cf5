// Names that are not MPI's and that Open MPI's binary interface has nevertheless: what its
// libraries for Fortran and C++ (libmpi_mpifh.so.40, libmpi_cxx.so.40) need of the one for C. They
// pass, and look into, the objects behind handles; interface/layout.hpp says what they find there.
//
//   type of an object   1 communicator, 2 datatype, 3 window, for attributes
//                       1 communicator, 2 window, 3 file, for error handlers
//   language            1 C++, 2 Fortran, for error handlers
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <string_view>
#include <vector>

#include "interface/layout.hpp"
#include "mpi/foreign_abi/exported.hpp"
#include "mpi/foreign_abi/fortran_values.hpp"

namespace foreign = poe::mpi::foreign;
using foreign::Function;
using foreign::Theirs;

namespace poe::mpi::foreign {
namespace {

enum class OfAttribute { kNone, kComm, kType, kWin };
enum class OfErrhandler { kPredefined, kComm, kWin, kFile };
constexpr int kCpp = 1;
constexpr int kFortran = 2;

// Subroutines of the program, as the functions that they stand for.

void call_operation(void* invec, void* inoutvec, int* len, void** datatype, Function* subroutine) {
    using Subroutine = void(void* invec, void* inoutvec, int* len, int* datatype);
    int integer = to_fortran(*datatype);
    reinterpret_cast<Subroutine*>(subroutine)(invec, inoutvec, len, &integer);
}

void call_error_handler(int, void** object, int* code, Function* subroutine) {
    using Subroutine = void(int* object, int* code);
    int integer = to_fortran(*object);
    reinterpret_cast<Subroutine*>(subroutine)(&integer, code);
}

// An error handler of C++ gets an object of C++, which Open MPI's library for C++ creates. `kind`
// is 0 for a communicator, 1 for a file, and 2 for a window, as in error_handlers.cpp.
void call_error_handler_of_cpp(int kind, void** object, int* code, Function* function) {
    using Invoke = void(void** object, int* code, const char* message, Function* function);
    static constexpr const char* kNames[] = {"ompi_mpi_cxx_comm_errhandler_invoke",
                                             "ompi_mpi_cxx_file_errhandler_invoke",
                                             "ompi_mpi_cxx_win_errhandler_invoke"};
    auto* const invoke = reinterpret_cast<Invoke*>(::dlsym(RTLD_DEFAULT, kNames[kind]));
    if (invoke != nullptr) invoke(object, code, nullptr, function);
}

// Integer is the type of attributes: MPI_Fint before MPI 2, MPI_Aint since.
template <typename Integer>
int call_copy(Function* subroutine, void* object, int keyval, void* extra_state, int,
              void* value_in, void** value_out, int* flag) {
    using Subroutine = void(int* object, int* keyval, Integer* extra_state, Integer* value_in,
                            Integer* value_out, int* flag, int* code);
    int integer = to_fortran(object);
    auto extra = static_cast<Integer>(reinterpret_cast<MPI_Aint>(extra_state));
    auto in = static_cast<Integer>(reinterpret_cast<MPI_Aint>(value_in));
    Integer out = 0;
    int code = MPI_SUCCESS;
    reinterpret_cast<Subroutine*>(subroutine)(&integer, &keyval, &extra, &in, &out, flag, &code);
    *value_out = reinterpret_cast<void*>(MPI_Aint{out});  // NOLINT(performance-no-int-to-ptr)
    return code;
}

template <typename Integer>
int call_delete(Function* subroutine, void* object, int keyval, int, void* value,
                void* extra_state) {
    using Subroutine =
        void(int* object, int* keyval, Integer* value, Integer* extra_state, int* code);
    int integer = to_fortran(object);
    auto attribute = static_cast<Integer>(reinterpret_cast<MPI_Aint>(value));
    auto extra = static_cast<Integer>(reinterpret_cast<MPI_Aint>(extra_state));
    int code = MPI_SUCCESS;
    reinterpret_cast<Subroutine*>(subroutine)(&integer, &keyval, &attribute, &extra, &code);
    return code;
}

int create_keyval(OfAttribute type, Function* copy, Function* remove, int* keyval, void* extra) {
    switch (type) {
        case OfAttribute::kComm:
            return comm_create_keyval(copy, remove, keyval, extra);
        case OfAttribute::kType:
            return type_create_keyval(copy, remove, keyval, extra);
        case OfAttribute::kWin:
            return win_create_keyval(copy, remove, keyval, extra);
        case OfAttribute::kNone:
            break;
    }
    return finish(MPI_ERR_ARG);
}

template <typename Integer>
int create_fortran_keyval(OfAttribute type, Function* copy, Function* remove, int* keyval,
                          MPI_Aint extra) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    const int code = create_keyval(type, copy, remove, keyval, reinterpret_cast<void*>(extra));
    if (code == MPI_SUCCESS)
        set_keyval_proxies(*keyval, reinterpret_cast<Function*>(&call_copy<Integer>),
                           reinterpret_cast<Function*>(&call_delete<Integer>));
    return code;
}

// The types of values that fortran_values.hpp tells apart.
constexpr int kAddressSized = 1;
constexpr int kInteger = 3;

int set_attribute(OfAttribute type, void* object, int keyval, MPI_Aint value, int kind) {
    void* const kept = keep_fortran_value(value, kind);
    const int key = keyval_in(keyval);
    switch (type) {
        case OfAttribute::kComm:
            return finish(library.Comm_set_attr(handle_in<MPI_Comm>(object), key, kept));
        case OfAttribute::kType:
            return finish(library.Type_set_attr(handle_in<MPI_Datatype>(object), key, kept));
        case OfAttribute::kWin:
            return finish(library.Win_set_attr(handle_in<MPI_Win>(object), key, kept));
        case OfAttribute::kNone:
            break;
    }
    return finish(MPI_ERR_ARG);
}

// What Fortran gets of a value that C gets as `value`.
MPI_Aint value_for_fortran(int key, void* value) {
    if (const FortranValue* kept = find_fortran_value(value)) return kept->value;
    switch (key) {
        case MPI_WIN_BASE:
            return reinterpret_cast<MPI_Aint>(value);
        case MPI_WIN_SIZE:
            return *static_cast<const MPI_Aint*>(value);
        default:
            return value_out<kAttributeKey>(key) != key ? *static_cast<const int*>(value)
                                                        : reinterpret_cast<MPI_Aint>(value);
    }
}

// `object` is a communicator, a datatype or a window. Its kind is that of our object.
int get_attribute(void* object, int keyval, MPI_Aint* result, int* flag) {
    void* value = nullptr;
    const Kind kind = static_cast<const ForeignObject*>(object)->kind;
    int code = MPI_SUCCESS;
    if (kind == Kind::kDatatype)
        code = finish(library.Type_get_attr(handle_in<MPI_Datatype>(object), keyval_in(keyval),
                                            static_cast<void*>(&value), flag));
    else if (kind == Kind::kWin)
        code = win_get_attr(object, keyval, static_cast<void*>(&value), flag);
    else
        code = comm_get_attr(object, keyval, static_cast<void*>(&value), flag);
    if (code == MPI_SUCCESS && *flag != 0) *result = value_for_fortran(keyval_in(keyval), value);
    return code;
}

// The string without blanks at its ends.
std::string trimmed(const char* text, int length) {
    const std::string_view all(text, static_cast<std::size_t>(std::max(length, 0)));
    const std::size_t first = all.find_first_not_of(' ');
    if (first == std::string_view::npos) return "";
    return std::string(all.substr(first, all.find_last_not_of(' ') - first + 1));
}

// Strings as an argv, which opal_argv_free() frees. Null if there is no memory.
char** argv_of(const std::vector<std::string>& strings) {
    auto** argv = static_cast<char**>(std::calloc(strings.size() + 1, sizeof(char*)));
    for (std::size_t i = 0; argv != nullptr && i < strings.size(); ++i)
        argv[i] = ::strdup(strings[i].c_str());
    return argv;
}

// Strings up to a blank one, `advance` bytes apart.
char** argv_until_blank(const char* strings, int length, int advance) {
    std::vector<std::string> found;
    for (std::string text; !(text = trimmed(strings, length)).empty(); strings += advance)
        found.push_back(std::move(text));
    return argv_of(found);
}

}  // namespace

// Open MPI's library for Fortran creates an operation or a generalized request as one of C, says in
// the object that the functions are subroutines, and then asks for the number.
void note_fortran_operation(void* op) noexcept {
    if (op == nullptr || layout::get<std::uint32_t>(op, layout::kOpFlags) != layout::kOfFortran)
        return;
    layout::put(op, layout::kOpFlags, std::uint32_t{0});
    set_operation_proxy(op, reinterpret_cast<Function*>(&call_operation));
}
void note_fortran_grequest(void* request) noexcept {
    if (request == nullptr || layout::get<char>(request, layout::kGrequestOfC) != 0) return;
    layout::put(request, layout::kGrequestOfC, char{1});
    set_grequest_of_fortran(request);
}

// It reads the sizes of a communicator whose number it has converted.
void note_sizes(void* comm) noexcept {
    if (comm == nullptr || layout::has_sizes(comm)) return;
    const auto ours = handle_in<MPI_Comm>(comm);
    int initialized = 0;
    int finalized = 0;
    library.Initialized(&initialized);
    library.Finalized(&finalized);
    if (ours == MPI_COMM_NULL || initialized == 0 || finalized != 0) return;
    int inter = 0;
    int size = 0;
    int remote_size = 0;
    library.Comm_test_inter(ours, &inter);
    if (inter != 0) library.Comm_remote_size(ours, &remote_size);
    library.Comm_size(ours, &size);
    layout::put(comm, layout::kCommFlags, inter);
    layout::put(comm, layout::kRemoteGroup + layout::kGroupSize, remote_size);
    layout::put(comm, layout::kLocalGroup + layout::kGroupSize, size);
}

}  // namespace poe::mpi::foreign

#pragma GCC visibility push(default)
extern "C" {

// What these libraries read. The first is true if functions of theirs shall check arguments, and
// the second says that MPI is initialized: both are checked by our library anyway.
char ompi_mpi_param_check = 0;
int ompi_mpi_state = 2;
// Open MPI's error codes that are not MPI's: there are none.
int ompi_errcode_intern_lastused = 0;
long ompi_errcodes_intern[15] = {};
long ompi_registered_datareps[8] = {};
foreign::Status ompi_status_empty = foreign::empty_status();
char ompi_request_empty[160] = {};

// The constants of Fortran that are known by their addresses. A program has variables of these
// names too, which then are the ones that are used.
int mpi_fortran_bottom_ = 0;
int mpi_fortran_in_place_ = 0;
int mpi_fortran_unweighted_ = 0;
int mpi_fortran_weights_empty_ = 0;
int mpi_fortran_errcodes_ignore_ = 0;
char mpi_fortran_argv_null_ = 0;
char mpi_fortran_argvs_null_ = 0;
int mpi_fortran_status_ignore_[2] = {};
int mpi_fortran_statuses_ignore_[2] = {};
extern int* foreign_status_ignore __asm__("MPI_F_STATUS_IGNORE");
extern int* foreign_statuses_ignore __asm__("MPI_F_STATUSES_IGNORE");
int* foreign_status_ignore = mpi_fortran_status_ignore_;
int* foreign_statuses_ignore = mpi_fortran_statuses_ignore_;

int ompi_fortran_string_f2c(const char* text, int length, char** result) {
    *result = ::strdup(foreign::trimmed(text, length).c_str());
    return *result == nullptr ? foreign::finish(MPI_ERR_NO_MEM) : MPI_SUCCESS;
}
int ompi_fortran_string_c2f(const char* text, char* result, int length) {
    const auto room = static_cast<std::size_t>(std::max(length, 0));
    const std::size_t used = std::min(std::strlen(text), room);
    std::memcpy(result, text, used);
    std::memset(result + used, ' ', room - used);
    return MPI_SUCCESS;
}
int ompi_fortran_argv_blank_f2c(const char* strings, int length, int advance, char*** argv) {
    *argv = foreign::argv_until_blank(strings, length, advance);
    return *argv == nullptr ? foreign::finish(MPI_ERR_NO_MEM) : MPI_SUCCESS;
}
int ompi_fortran_argv_count_f2c(const char* strings, int count, int length, int advance,
                                char*** argv) {
    std::vector<std::string> found;
    for (int i = 0; i < count; ++i, strings += advance)
        found.push_back(foreign::trimmed(strings, length));
    *argv = foreign::argv_of(found);
    return *argv == nullptr ? foreign::finish(MPI_ERR_NO_MEM) : MPI_SUCCESS;
}
// Each row of the array is an argv; the strings of one are `count` strings apart.
int ompi_fortran_multiple_argvs_f2c(int count, const char* strings, int length, char**** argvs) {
    *argvs = static_cast<char***>(
        std::calloc(static_cast<std::size_t>(std::max(count, 0)) + 1, sizeof(char**)));
    if (*argvs == nullptr) return foreign::finish(MPI_ERR_NO_MEM);
    for (int i = 0; i < count; ++i, strings += length)
        (*argvs)[i] = foreign::argv_until_blank(strings, length, length * count);
    return MPI_SUCCESS;
}

int ompi_attr_create_keyval_fint(int type, Function* copy, Function* remove, int* keyval, int extra,
                                 int, void*) {
    return foreign::create_fortran_keyval<int>(static_cast<foreign::OfAttribute>(type), copy,
                                               remove, keyval, extra);
}
int ompi_attr_create_keyval_aint(int type, Function* copy, Function* remove, int* keyval,
                                 MPI_Aint extra, int, void*) {
    return foreign::create_fortran_keyval<MPI_Aint>(static_cast<foreign::OfAttribute>(type), copy,
                                                    remove, keyval, extra);
}
// For C++, whose functions have the arguments of C.
int ompi_attr_create_keyval(int type, Function* copy, Function* remove, int* keyval, void* extra,
                            int, void*) {
    return foreign::create_keyval(static_cast<foreign::OfAttribute>(type), copy, remove, keyval,
                                  extra);
}
int ompi_attr_set_fint(int type, void* object, void*, int keyval, int value, bool) {
    return foreign::set_attribute(static_cast<foreign::OfAttribute>(type), object, keyval, value,
                                  foreign::kInteger);
}
int ompi_attr_set_aint(int type, void* object, void*, int keyval, MPI_Aint value, bool) {
    return foreign::set_attribute(static_cast<foreign::OfAttribute>(type), object, keyval, value,
                                  foreign::kAddressSized);
}
// `object` is what the library has read from the object itself.
int ompi_attr_get_fint(void* object, int keyval, int* value, int* flag) {
    MPI_Aint found = 0;
    const int code = foreign::get_attribute(object, keyval, &found, flag);
    if (code == MPI_SUCCESS && *flag != 0) *value = static_cast<int>(found);
    return code;
}
int ompi_attr_get_aint(void* object, int keyval, MPI_Aint* value, int* flag) {
    return foreign::get_attribute(object, keyval, value, flag);
}

// Returns MPI_ERRHANDLER_NULL after an error.
void* ompi_errhandler_create(int type, Function* function, int language) {
    void* made = &ompi_mpi_errhandler_null;
    switch (static_cast<foreign::OfErrhandler>(type)) {
        case foreign::OfErrhandler::kComm:
            foreign::comm_create_errhandler(function, &made);
            break;
        case foreign::OfErrhandler::kWin:
            foreign::win_create_errhandler(function, &made);
            break;
        case foreign::OfErrhandler::kFile:
            foreign::file_create_errhandler(function, &made);
            break;
        case foreign::OfErrhandler::kPredefined:
            break;
    }
    if (made == &ompi_mpi_errhandler_null) return made;
    if (language == foreign::kFortran)
        foreign::set_errhandler_proxy(made,
                                      reinterpret_cast<Function*>(&foreign::call_error_handler));
    if (language == foreign::kCpp)
        foreign::set_errhandler_proxy(
            made, reinterpret_cast<Function*>(&foreign::call_error_handler_of_cpp));
    return made;
}
// These libraries found an error themselves. Their view of the object's error handler is not ours.
int ompi_errhandler_invoke(void*, void*, int, int code, const char*) {
    foreign::library.Comm_call_errhandler(MPI_COMM_WORLD, foreign::error_in(code));
    return code;
}
void ompi_mpi_errors_are_fatal_comm_handler(void**, int* code, ...) {
    foreign::library.Abort(MPI_COMM_WORLD, code == nullptr ? 1 : *code);
}

void* ompi_datatype_match_size(int size, unsigned type_class, unsigned) {
    const int classes[] = {MPI_TYPECLASS_INTEGER, MPI_TYPECLASS_REAL, MPI_TYPECLASS_COMPLEX};
    const unsigned number = (type_class >> 12) - 1;
    MPI_Datatype ours = MPI_DATATYPE_NULL;
    if (number < std::size(classes) &&
        foreign::library.Type_match_size(classes[number], size, &ours) != MPI_SUCCESS)
        ours = MPI_DATATYPE_NULL;
    return foreign::handle_out(ours);
}

// The operation that was just created with a function of the library for C++ calls `function`
// through it.
void ompi_op_set_cxx_callback(void* op, Function* function) {
    foreign::set_operation_behind(op, function);
}

}  // extern "C"
#pragma GCC visibility pop
