// Operations of the program (MPI 5.0, section 6.9.5).
#include "mpi/foreign_abi/arguments.hpp"
#include "mpi/foreign_abi/by_hand.hpp"
#include "mpi/foreign_abi/function_slots.hpp"

namespace poe::mpi::foreign {
namespace {

template <typename Count>
struct Operations {
    using Function = void(void* invec, void* inoutvec, Count* len, MPI_Datatype* datatype);
    using OfProgram = void(void* invec, void* inoutvec, Count* len, Theirs<MPI_Datatype>* datatype);

    template <std::size_t kNumber>
    static void call(void* invec, void* inoutvec, Count* len, MPI_Datatype* datatype) {
        invoke(FunctionSlots<Operations>::at(kNumber), invec, inoutvec, len, *datatype);
    }

    // Not inlined, because there is one call() for each slot.
    [[gnu::noinline]] static void invoke(const FunctionSlot& slot, void* invec, void* inoutvec,
                                         Count* len, MPI_Datatype datatype) {
        Theirs<MPI_Datatype> handle = handle_out(datatype);
        foreign::Function* const function = slot.function.load(std::memory_order_relaxed);
        foreign::Function* const proxy = slot.proxy.load(std::memory_order_relaxed);
        if (proxy != nullptr)
            call_operation_proxy(proxy, invec, inoutvec, static_cast<int>(*len), handle, function);
        else
            reinterpret_cast<OfProgram*>(function)(invec, inoutvec, len, &handle);
    }
};

template <typename Count, typename Create>
int create(Function* user_fn, Theirs<MPI_Op>* op, Create&& create_ours) {
    typename Operations<Count>::Function* ours = nullptr;
    if (const int code = FunctionSlots<Operations<Count>>::claim_for(user_fn, ours)) return code;
    HandleOut<MPI_Op> made(op);
    return finish(create_ours(ours, static_cast<MPI_Op*>(made)));
}

}  // namespace

int op_create(Function* user_fn, int commute, Theirs<MPI_Op>* op) {
    return create<int>(user_fn, op, [&](MPI_User_function* ours, MPI_Op* made) {
        return library.Op_create(ours, commute, made);
    });
}
int op_create_c(Function* user_fn, int commute, Theirs<MPI_Op>* op) {
    return create<MPI_Count>(user_fn, op, [&](MPI_User_function_c* ours, MPI_Op* made) {
        return library.Op_create_c(ours, commute, made);
    });
}

// Both are called by the thread that has just created the operation.
void set_operation_proxy(Theirs<MPI_Op>, Function* proxy) noexcept {
    FunctionSlots<Operations<int>>::claimed().proxy = proxy;
}
void set_operation_behind(Theirs<MPI_Op>, Function* function) noexcept {
    FunctionSlot& slot = FunctionSlots<Operations<int>>::claimed();
    slot.proxy = slot.function.load();
    slot.function = function;
}

}  // namespace poe::mpi::foreign
