// Error handlers of the program (MPI 5.0, section 9.3).
#include "mpi/mpich_abi/arguments.hpp"
#include "mpi/mpich_abi/by_hand.hpp"
#include "mpi/mpich_abi/function_slots.hpp"

namespace poe::mpi::mpich {
namespace {

// MPICH's library for C++ passes arguments this way. `kind`: 0 communicator, 1 file, 2 window.
using Proxy = void(int kind, int* object, int* error_code, Function* function);

template <typename Handle>
inline constexpr int kProxyKind = 0;
template <>
inline constexpr int kProxyKind<MPI_File> = 1;
template <>
inline constexpr int kProxyKind<MPI_Win> = 2;

int object_out(MPI_Comm object) {
    return handle_out(object);
}
int object_out(MPI_Win object) {
    return handle_out(object);
}
int object_out(MPI_Session object) {
    return handle_out(object);
}
File object_out(MPI_File object) {
    return file_out(object);
}

template <typename Handle>
struct ErrorHandlers {
    using Function = void(Handle* object, int* error_code, ...);
    using OfProgram = void(void* object, int* error_code, ...);

    template <std::size_t kNumber>
    static void call(Handle* object, int* error_code, ...) {
        const FunctionSlot& slot = FunctionSlots<ErrorHandlers>::at(kNumber);
        auto theirs = object_out(*object);
        int code = error_out(*error_code);
        mpich::Function* const function = slot.function.load(std::memory_order_relaxed);
        mpich::Function* const proxy = slot.proxy.load(std::memory_order_relaxed);
        if (proxy != nullptr)
            reinterpret_cast<Proxy*>(proxy)(kProxyKind<Handle>, reinterpret_cast<int*>(&theirs),
                                            &code, function);
        else
            reinterpret_cast<OfProgram*>(function)(&theirs, &code);
        *error_code = error_in(code);
    }
};

// Where the proxy of the error handler goes that this thread has created last.
thread_local FunctionSlot* last_slot = nullptr;

template <typename Handle, typename Create>
int create(Function* function, int* errhandler, Create&& create_ours) {
    typename ErrorHandlers<Handle>::Function* ours = nullptr;
    if (function != nullptr) {
        ours = FunctionSlots<ErrorHandlers<Handle>>::claim(function);
        if (ours == nullptr) {
            library.Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_NO_MEM);
            return error_out(MPI_ERR_NO_MEM);
        }
        last_slot = &FunctionSlots<ErrorHandlers<Handle>>::claimed();
    }
    HandleOut<MPI_Errhandler> made(errhandler);
    return error_out(create_ours(ours, made));
}

}  // namespace

int comm_create_errhandler(Function* function, int* errhandler) {
    return create<MPI_Comm>(function, errhandler, library.Comm_create_errhandler);
}
int win_create_errhandler(Function* function, int* errhandler) {
    return create<MPI_Win>(function, errhandler, library.Win_create_errhandler);
}
int file_create_errhandler(Function* function, int* errhandler) {
    return create<MPI_File>(function, errhandler, library.File_create_errhandler);
}
int session_create_errhandler(Function* function, int* errhandler) {
    return create<MPI_Session>(function, errhandler, library.Session_create_errhandler);
}

void set_errhandler_proxy(int, Function* proxy) noexcept {
    if (last_slot != nullptr) last_slot->proxy = proxy;
}

}  // namespace poe::mpi::mpich
