// Error handlers of the program (MPI 5.0, section 9.3).
#include <atomic>

#include "mpi/foreign_abi/arguments.hpp"
#include "mpi/foreign_abi/by_hand.hpp"
#include "mpi/foreign_abi/function_slots.hpp"

namespace poe::mpi::foreign {
namespace {

// An error of the call that this thread makes was handled through a proxy, and the call shall not
// return it (kProxyHandlesErrors).
thread_local bool handled_by_proxy = false;

// `kind`: 0 communicator, 1 file, 2 window.
using Proxy = void(int kind, void* object, int* error_code, Function* function);

template <typename Handle>
inline constexpr int kProxyKind = 0;
template <>
inline constexpr int kProxyKind<MPI_File> = 1;
template <>
inline constexpr int kProxyKind<MPI_Win> = 2;

template <typename Handle>
struct ErrorHandlers {
    using Function = void(Handle* object, int* error_code, ...);
    using OfProgram = void(void* object, int* error_code, ...);

    template <std::size_t kNumber>
    static void call(Handle* object, int* error_code, ...) {
        invoke(FunctionSlots<ErrorHandlers>::at(kNumber), *object, *error_code);
    }

    // Not inlined, because there is one call() for each slot.
    [[gnu::noinline]] static void invoke(const FunctionSlot& slot, Handle object, int& error_code) {
        auto theirs = handle_out(object);
        int code = error_out(error_code);
        foreign::Function* const function = slot.function.load(std::memory_order_relaxed);
        foreign::Function* const proxy = slot.proxy.load(std::memory_order_relaxed);
        if (proxy != nullptr) {
            reinterpret_cast<Proxy*>(proxy)(kProxyKind<Handle>, &theirs, &code, function);
            // Not before: calls that the function makes have errors of their own.
            handled_by_proxy = kProxyHandlesErrors;
        } else {
            reinterpret_cast<OfProgram*>(function)(&theirs, &code);
        }
        error_code = error_in(code);
    }
};

// The slot of the error handler that this thread has created last; its proxy is stored there.
thread_local FunctionSlot* last_slot = nullptr;

template <typename Handle, typename Create>
int create(Function* function, Theirs<MPI_Errhandler>* errhandler, Create&& create_ours) {
    typename ErrorHandlers<Handle>::Function* ours = nullptr;
    if (const int code = FunctionSlots<ErrorHandlers<Handle>>::claim_for(function, ours))
        return code;
    if (ours != nullptr) last_slot = &FunctionSlots<ErrorHandlers<Handle>>::claimed();
    HandleOut<MPI_Errhandler> made(errhandler);
    return finish(create_ours(ours, made));
}

}  // namespace

int comm_create_errhandler(Function* function, Theirs<MPI_Errhandler>* errhandler) {
    return create<MPI_Comm>(function, errhandler, library.Comm_create_errhandler);
}
int win_create_errhandler(Function* function, Theirs<MPI_Errhandler>* errhandler) {
    return create<MPI_Win>(function, errhandler, library.Win_create_errhandler);
}
int file_create_errhandler(Function* function, Theirs<MPI_Errhandler>* errhandler) {
    return create<MPI_File>(function, errhandler, library.File_create_errhandler);
}
int session_create_errhandler(Function* function, Theirs<MPI_Errhandler>* errhandler) {
    return create<MPI_Session>(function, errhandler, library.Session_create_errhandler);
}

namespace {

// MPI::ERRORS_THROW_EXCEPTIONS of C++, throwing_errhandler(). An error returns, and the library for
// C++ throws the exception.

void return_error(MPI_Comm*, int*, ...) {}

// The error handler that stands for it; null until the program has used it.
std::atomic<MPI_Errhandler> thrower{nullptr};

MPI_Errhandler throwing() {
    static const MPI_Errhandler made = [] {
        MPI_Errhandler handler = MPI_ERRORS_RETURN;
        if (library.Comm_create_errhandler(return_error, &handler) == MPI_SUCCESS)
            thrower.store(handler, std::memory_order_release);
        return handler;
    }();
    return made;
}

}  // namespace

int comm_set_errhandler(Theirs<MPI_Comm> comm, Theirs<MPI_Errhandler> errhandler) {
    return finish(library.Comm_set_errhandler(
        handle_in<MPI_Comm>(comm),
        errhandler == throwing_errhandler() ? throwing() : handle_in<MPI_Errhandler>(errhandler)));
}
// The call that invokes the handler succeeds; no other error may be taken for handled.
namespace {
int finish_invoking(int code) noexcept {
    const int result = finish(code);
    handled_by_proxy = false;
    return result;
}
}  // namespace
int comm_call_errhandler(Theirs<MPI_Comm> comm, int code) {
    return finish_invoking(library.Comm_call_errhandler(handle_in<MPI_Comm>(comm), error_in(code)));
}
int win_call_errhandler(Theirs<MPI_Win> win, int code) {
    return finish_invoking(library.Win_call_errhandler(handle_in<MPI_Win>(win), error_in(code)));
}
int file_call_errhandler(Theirs<MPI_File> file, int code) {
    return finish_invoking(library.File_call_errhandler(handle_in<MPI_File>(file), error_in(code)));
}
int session_call_errhandler(Theirs<MPI_Session> session, int code) {
    return finish_invoking(
        library.Session_call_errhandler(handle_in<MPI_Session>(session), error_in(code)));
}

int errhandler_free(Theirs<MPI_Errhandler>* errhandler) {
    if (errhandler != nullptr && *errhandler == throwing_errhandler()) {
        *errhandler = handle_out(MPI_ERRHANDLER_NULL);
        return MPI_SUCCESS;
    }
    HandleInOut<MPI_Errhandler> ours(errhandler);
    return finish(library.Errhandler_free(ours));
}
int comm_get_errhandler(Theirs<MPI_Comm> comm, Theirs<MPI_Errhandler>* errhandler) {
    MPI_Errhandler ours = nullptr;
    const int code = library.Comm_get_errhandler(handle_in<MPI_Comm>(comm),
                                                 errhandler == nullptr ? nullptr : &ours);
    if (code != MPI_SUCCESS) return finish(code);
    *errhandler = handle_out(ours);
    if (ours == thrower.load(std::memory_order_acquire)) {
        // The program does not free a predefined error handler.
        library.Errhandler_free(&ours);
        *errhandler = throwing_errhandler();
    }
    return MPI_SUCCESS;
}

int finish_error(int code) noexcept {
    if (!handled_by_proxy) return known_error_out(code);
    handled_by_proxy = false;
    return MPI_SUCCESS;
}

void set_errhandler_proxy(Theirs<MPI_Errhandler>, Function* proxy) noexcept {
    if (last_slot != nullptr) last_slot->proxy = proxy;
}

}  // namespace poe::mpi::foreign
