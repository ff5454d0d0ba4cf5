// Operations of the program (MPI 5.0, section 6.9.5).
#include "mpi/mpich_abi/arguments.hpp"
#include "mpi/mpich_abi/by_hand.hpp"
#include "mpi/mpich_abi/function_slots.hpp"

namespace poe::mpi::mpich {
namespace {

// MPICH's library for C++ passes arguments this way.
using Proxy = void(void* invec, void* inoutvec, int len, int datatype, mpich::Function* function);

template <typename Count>
struct Operations {
    using Function = void(void* invec, void* inoutvec, Count* len, MPI_Datatype* datatype);
    using OfProgram = void(void* invec, void* inoutvec, Count* len, int* datatype);

    template <std::size_t kNumber>
    static void call(void* invec, void* inoutvec, Count* len, MPI_Datatype* datatype) {
        const FunctionSlot& slot = FunctionSlots<Operations>::at(kNumber);
        int handle = handle_out(*datatype);
        mpich::Function* const function = slot.function.load(std::memory_order_relaxed);
        mpich::Function* const proxy = slot.proxy.load(std::memory_order_relaxed);
        if (proxy != nullptr)
            reinterpret_cast<Proxy*>(proxy)(invec, inoutvec, static_cast<int>(*len), handle,
                                            function);
        else
            reinterpret_cast<OfProgram*>(function)(invec, inoutvec, len, &handle);
    }
};

template <typename Count, typename Create>
int create(Function* user_fn, int* op, Create&& create_ours) {
    typename Operations<Count>::Function* ours = nullptr;
    if (const int code = FunctionSlots<Operations<Count>>::claim_for(user_fn, ours)) return code;
    HandleOut<MPI_Op> made(op);
    return finish(create_ours(ours, static_cast<MPI_Op*>(made)));
}

}  // namespace

int op_create(Function* user_fn, int commute, int* op) {
    return create<int>(user_fn, op, [&](MPI_User_function* ours, MPI_Op* made) {
        return library.Op_create(ours, commute, made);
    });
}
int op_create_c(Function* user_fn, int commute, int* op) {
    return create<MPI_Count>(user_fn, op, [&](MPI_User_function_c* ours, MPI_Op* made) {
        return library.Op_create_c(ours, commute, made);
    });
}

// Called by the thread that has just created the operation.
void set_operation_proxy(int, Function* proxy) noexcept {
    FunctionSlots<Operations<int>>::claimed().proxy = proxy;
}

}  // namespace poe::mpi::mpich
