// Call: what every entry point of MPI does first and last. It checks that MPI is initialized, takes
// the turn to use the message layer where the function needs it, and reports an error: once, with
// function, task, node, communicator, argument and remedy, to the error handler that the standard
// says.
#pragma once

#include <cstdint>
#include <exception>
#include <mpi.h>
#include <new>
#include <string>
#include <string_view>
#include <thread>

#include "collectives/call/groups.hpp"
#include "comm/bootstrap/runtime.hpp"
#include "comm/progress/runtime_lock.hpp"
#include "mpi/api/call_turn.hpp"
#include "mpi/api/kept_exception.hpp"
#include "mpi/check/ledger.hpp"
#include "mpi/object/fault.hpp"
#include "mpi/process/environment.hpp"
#include "mpi/table/functions.hpp"
#include "tracer/probe/caller_site.hpp"
#include "tracer/probe/process_context.hpp"

// The return address of an entry point, which the function itself must find out.
#define MPI_CALL_SITE __builtin_return_address(0)

namespace poe::mpi {

// What a function needs; column `context` of the table of functions.
enum class Context : std::uint8_t {
    kAlways,   // nothing: it may be called before MPI_Init and after MPI_Finalize
    kLocal,    // MPI is initialized
    kRuntime,  // MPI is initialized and this thread has the turn to use the message layer
};
// With MPI_THREAD_MULTIPLE, functions of all three take the turn, because several threads may use
// one object.

// The object whose error handler an error invokes. A handle that names no object stands for
// Environment::default_error_comm().
struct ErrorObject {
    explicit ErrorObject(MPI_Comm comm) noexcept : handle(comm), kind(Kind::kComm) {}
    explicit ErrorObject(MPI_Win win) noexcept : handle(win), kind(Kind::kWin) {}
    explicit ErrorObject(MPI_File file) noexcept : handle(file), kind(Kind::kFile) {}
    explicit ErrorObject(MPI_Session session) noexcept : handle(session), kind(Kind::kSession) {}

    void* handle;
    Kind kind;
};

struct Comm;

// A local variable of an entry point. For the thread that made it.
class Call {
  public:
    Call(Function function, Context context, ErrorObject object, const void* site) noexcept
        : function_(function), context_(context), object_(object), site_(site) {
        if (context == Context::kRuntime) {
            turn_.take();
        } else if (process_context().many_threads.load(std::memory_order_acquire)) [[unlikely]] {
            // Objects that other threads may use. If another thread has just initialized MPI, its
            // stores are seen.
            turn_.take();
        }
    }
    // A report that belongs to another call, in whose turn it is made.
    Call(Function function, ErrorObject object, const void* site) noexcept
        : function_(function), context_(Context::kAlways), object_(object), site_(site) {}
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    // If false, the error was reported, and the entry point must return code().
    bool ready() {
        if (context_ == Context::kAlways) return true;
        if (environment().users.load(std::memory_order_relaxed) != 0 &&
            (context_ != Context::kRuntime || usable())) [[likely]]
            return true;
        return refuse_unready();
    }

    // Reports an error and returns its code, unless the error handler ends the program. `what` and
    // `remedy` are parts of a sentence without the full stop; `argument` is the parameter that is
    // wrong, or empty.
    int fail(int code, std::string_view argument, std::string_view what,
             std::string_view remedy = {});
    int fail(const Fault& fault) {
        return fail(fault.code, fault.argument, fault.what, fault.remedy);
    }
    // Reports the fault if it is one; the last statement of many bodies.
    int finish(const Fault& fault) { return fault ? fail(fault) : MPI_SUCCESS; }

    // True if an error of this call ends the job.
    bool is_fatal() const noexcept;
    // Prints the message of an error as a warning. Invokes no error handler.
    void warn(const Fault& fault) const;

    // The code of the last error.
    int code() const noexcept { return code_; }

    // Changes the object whose error handler the errors of this call invoke.
    void about(ErrorObject object) noexcept { object_ = object; }
    // From now on errors invoke this handler, without an object. For functions that make an object
    // and get its handler as an argument, which must be valid.
    void handle_errors_by(MPI_Errhandler handler) noexcept { given_handler_ = handler; }

    // Invokes the error handler of the object with this code, as for MPI_Comm_call_errhandler.
    // Returns if the handler does.
    void invoke_handler(ErrorObject object, int code, std::string_view what);

    // For functions that give the program a reference to an object, which it must free: called with
    // the result of the body. Check mode keeps a list of these objects.
    template <typename Handle>
    int given(int code, const Handle* handle) const {
        if (code == MPI_SUCCESS && environment().checking) [[unlikely]]
            check::note_acquired(handle, function_, site());
        return code;
    }
    // For functions to which the program gives a reference back.
    int taken(int code, const void* handle) const noexcept {
        if (code == MPI_SUCCESS && environment().checking) [[unlikely]]
            check::ledger().release(handle);
        return code;
    }

    Function function() const noexcept { return function_; }
    const void* site() const noexcept { return caller_site != nullptr ? caller_site : site_; }

    // Precondition: the context is kRuntime and ready() returned true.
    comm::Runtime& runtime() const noexcept { return *turn_.runtime(); }

    // Runs a function of the program. Calls of MPI that it makes are part of this call's turn.
    template <typename Work>
    auto outside(Work&& work) {
        const Nesting nesting(*this);
        return work();
    }

    // Runs a body and returns its result. An exception becomes an error. If the fast path of this
    // call has thrown an exception, reports that one and does not run the body.
    template <typename Work>
    int run(Work&& work) {
        try {
            if (kept_exceptions.load(std::memory_order_relaxed) != 0) [[unlikely]]
                throw_kept_exception();
            return work();
        } catch (const collectives::MemberLost& lost) {
            return fail(MPI_ERR_PROC_ABORTED, "", lost.what(), "find out why that task has ended");
        } catch (const std::bad_alloc&) {
            return fail(MPI_ERR_NO_MEM, "", "there is not enough memory", "");
        } catch (const std::exception& error) {
            return fail(MPI_ERR_OTHER, "", error.what(), "");
        }
    }

  private:
    class Nesting {
      public:
        explicit Nesting(Call& call) noexcept;
        ~Nesting();
        Nesting(const Nesting&) = delete;
        Nesting& operator=(const Nesting&) = delete;

      private:
        comm::RuntimeLock* turn_ = nullptr;  // null: the call has no turn of its own
        std::thread::id before_;
    };

    bool usable() const noexcept { return turn_.is_held() && runtime().failure().empty(); }
    bool refuse_unready();
    MPI_Errhandler handler_of(ErrorObject& object) const noexcept;
    // What is known of an error.
    struct Cause {
        int code;
        std::string_view argument;
        std::string_view what;
        std::string_view remedy;
    };
    // Returns the message for the user. `place` says in which task the error happened; the report
    // of poe gives no place, so that equal messages of several tasks are the same text.
    std::string message(const Cause& cause, const std::string& place) const;
    void raise_event(int code);
    // Returns the code of the function, which a handler of the program may change.
    int invoke(ErrorObject object, const Cause& cause);
    [[noreturn]] void end_job(const Cause& cause) const;

    Function function_;
    Context context_;
    ErrorObject object_;
    MPI_Errhandler given_handler_ = MPI_ERRHANDLER_NULL;
    const void* site_;
    CallTurn turn_;
    int code_ = MPI_SUCCESS;
};

// Both report a disagreement of the members of a communicator on a call, at one of them
// (check::Report). If the error handler ends the job, the first does so here; otherwise it prints a
// warning, and all members get the error later. The second prints a warning in any case, because
// the program has got the error already.
void report_for_all(Comm& comm, Function function, const void* site, const Fault& fault);
void warn_for_all(Comm& comm, Function function, const void* site, const Fault& fault);

}  // namespace poe::mpi
