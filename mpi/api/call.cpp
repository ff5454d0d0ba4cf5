// The turn to use the message layer, error messages, and error handlers.
#include "mpi/api/call.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <mutex>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "comm/bootstrap/call_error.hpp"
#include "comm/bootstrap/process_runtime.hpp"
#include "comm/bootstrap/runtime.hpp"
#include "mpi/check/place_words.hpp"
#include "mpi/communicator/comm.hpp"
#include "mpi/process/start_facts.hpp"
#include "mpi/tool/events.hpp"
#include "tracer/probe/process_context.hpp"

namespace poe::mpi {
namespace {

// The messages of MPL have the numbers from 0032-100 on. Those of MPI begin here; the class of the
// error is added.
constexpr int kFirstMessage = 200;
constexpr int kOtherMessage = 299;  // a class that the program has added

// The kept exceptions and their threads.
struct KeptException {
    std::thread::id thread;
    std::exception_ptr what;
};
std::mutex kept_lock;
std::vector<KeptException>& kept() {
    static auto& all = *new std::vector<KeptException>;  // never destroyed, as calls may be late
    return all;
}

// Removes the kept exception of this thread and returns it; null if there is none.
std::exception_ptr take_kept_exception() noexcept {
    const std::lock_guard guard(kept_lock);
    std::vector<KeptException>& all = kept();
    const auto found = std::find_if(all.begin(), all.end(), [](const KeptException& each) {
        return each.thread == std::this_thread::get_id();
    });
    if (found == all.end()) return nullptr;
    std::exception_ptr what = std::move(found->what);
    all.erase(found);
    --kept_exceptions;
    return what;
}

int message_number(int code) {
    Environment& mpi = environment();
    const std::lock_guard guard(mpi.lock);
    const int error_class = mpi.error_codes.class_of(code).value_or(MPI_ERR_UNKNOWN);
    return error_class <= MPI_ERR_ABI ? kFirstMessage + error_class : kOtherMessage;
}

std::string name_of(const ErrorObject& object) {
    if (object.kind != Kind::kComm) return {};
    CommBase* comm = environment().find_comm(static_cast<MPI_Comm>(object.handle));
    return comm == nullptr ? std::string{} : comm->name;
}

// The functions of programs have the handle's type as first parameter, a pointer in each case.
// Returns the code as the function has left it.
int call_function(const ErrorHandler& handler, const ErrorObject& object, int code) {
    switch (handler.target) {
        case Kind::kWin: {
            auto win = static_cast<MPI_Win>(object.handle);
            reinterpret_cast<MPI_Win_errhandler_function*>(handler.function)(&win, &code);
            return code;
        }
        case Kind::kFile: {
            auto file = static_cast<MPI_File>(object.handle);
            reinterpret_cast<MPI_File_errhandler_function*>(handler.function)(&file, &code);
            return code;
        }
        case Kind::kSession: {
            auto session = static_cast<MPI_Session>(object.handle);
            reinterpret_cast<MPI_Session_errhandler_function*>(handler.function)(&session, &code);
            return code;
        }
        default: {
            auto comm = static_cast<MPI_Comm>(object.handle);
            reinterpret_cast<MPI_Comm_errhandler_function*>(handler.function)(&comm, &code);
            return code;
        }
    }
}

// Where the error has happened, as messages of the task itself say it.
std::string own_place() {
    const comm::Runtime* runtime = process_context().runtime;
    return (runtime != nullptr ? " in task " + std::to_string(runtime->task()) : "") + " on node " +
           host_name();
}

// A single write, so that the lines of several tasks do not mix.
void print(const std::string& text) {
    std::fflush(stdout);
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
}

}  // namespace

std::atomic<int> kept_exceptions = 0;

void keep_exception() noexcept {
    const std::lock_guard guard(kept_lock);
    kept().push_back({std::this_thread::get_id(), std::current_exception()});
    ++kept_exceptions;
}

void throw_kept_exception() {
    if (std::exception_ptr what = take_kept_exception()) std::rethrow_exception(what);
}

void drop_kept_exception() noexcept {
    take_kept_exception();
}

bool Call::refuse_unready() {
    const State state = environment().state.load();
    if (state == State::kBeforeInit) {
        fail(MPI_ERR_OTHER, "", "MPI is not initialized", "call MPI_Init first");
    } else if (state == State::kFinalized) {
        fail(MPI_ERR_OTHER, "", "MPI is finalized already",
             "call MPI_Finalize after all other functions");
    } else if (turn_.runtime() != nullptr && !runtime().failure().empty()) {
        fail(MPI_ERR_OTHER, "", "messages are not available: " + runtime().failure());
    } else {
        fail(MPI_ERR_OTHER, "", "another thread is in an MPI call",
             "let one thread at a time call MPI");
    }
    return false;
}

int Call::fail(int code, std::string_view argument, std::string_view what,
               std::string_view remedy) {
    if (kept_exceptions.load(std::memory_order_relaxed) != 0) drop_kept_exception();
    code_ = code;
    code_ = invoke(object_, {code, argument, what, remedy});
    return code_;
}

bool Call::is_fatal() const noexcept {
    ErrorObject object = object_;
    const MPI_Errhandler handler = handler_of(object);
    return handler != MPI_ERRORS_RETURN && find<ErrorHandler>(handler) == nullptr;
}

void Call::warn(const Fault& fault) const {
    const Cause cause{fault.code, fault.argument, fault.what, fault.remedy};
    print("ATTENTION: " + message(cause, own_place()) + ".\n");
}

void report_for_all(Comm& comm, Function function, const void* site, const Fault& fault) {
    Call call(function, ErrorObject(handle_of(comm)), site);
    if (call.is_fatal()) {
        call.fail(fault);
    } else {
        call.warn(fault);
    }
}

void warn_for_all(Comm& comm, Function function, const void* site, const Fault& fault) {
    Call(function, ErrorObject(handle_of(comm)), site).warn(fault);
}

void Call::invoke_handler(ErrorObject object, int code, std::string_view what) {
    object_ = object;
    invoke(object, {code, "", what, ""});
}

MPI_Errhandler Call::handler_of(ErrorObject& object) const noexcept {
    if (given_handler_ != MPI_ERRHANDLER_NULL) return given_handler_;
    Environment& mpi = environment();
    if (object.kind == Kind::kComm) {
        const CommBase* comm = mpi.find_comm(static_cast<MPI_Comm>(object.handle));
        if (comm != nullptr) return comm->errhandler;
    } else if (object.kind == Kind::kFile && object.handle == MPI_FILE_NULL) {
        return mpi.file_errhandler;
    } else if (const auto* owner =
                   static_cast<const ErrorHandlerOwner*>(find_object(object.kind, object.handle))) {
        return owner->errhandler;
    }
    object = ErrorObject(mpi.default_error_comm());
    const CommBase* comm = mpi.self_has_own_errhandler ? mpi.self : mpi.world;
    return comm != nullptr ? comm->errhandler : mpi.initial_errhandler;
}

// For tools. A class that the program has added has no name.
void Call::raise_event(int code) {
    std::string_view name;
    {
        Environment& mpi = environment();
        const std::lock_guard guard(mpi.lock);
        name = error_class_name(mpi.error_codes.class_of(code).value_or(MPI_ERR_UNKNOWN));
    }
    outside([&] {
        tool::raise_error(function_name(function_).data(), name.empty() ? "" : name.data());
    });
}

int Call::invoke(ErrorObject object, const Cause& cause) {
    comm::announce_error(call_of(function_), message(cause, ""));
    if (process_context().events.is_wanted(EngineEvent::kErrorRaised)) raise_event(cause.code);
    const MPI_Errhandler handler = handler_of(object);
    if (handler == MPI_ERRORS_RETURN) return cause.code;
    auto* own = find<ErrorHandler>(handler);
    if (own == nullptr) end_job(cause);
    // The handler may free itself.
    Environment& mpi = environment();
    mpi.retain(handler);
    const int code = outside([&] { return call_function(*own, object, cause.code); });
    mpi.release(handler);
    return code;
}

std::string Call::message(const Cause& cause, const std::string& place) const {
    std::string text = "0032-" + std::to_string(message_number(cause.code)) + " ";
    text += function_name(function_);
    text += place;
    const std::string comm = name_of(object_);
    if (!comm.empty()) text += " with communicator " + comm;
    if (environment().checking) {
        const std::string line = check::words_of_site(site());
        if (!line.empty()) text += " at " + line;
    }
    text += ": ";
    if (!cause.argument.empty()) text += "argument " + std::string(cause.argument) + ": ";
    text += cause.what;
    const std::string_view name = error_class_name(cause.code);
    if (!name.empty()) text += " (" + std::string(name) + ")";
    if (!cause.remedy.empty()) text += "; " + std::string(cause.remedy);
    return text;
}

// If poe reports the error, the task does not print it, so that the user sees it once. Before
// MPI_Init a task may have no runtime yet; then it is made, because it leads to poe.
void Call::end_job(const Cause& cause) const {
    comm::Runtime* runtime = process_context().runtime;
    if (runtime == nullptr && started_by_poe()) runtime = &comm::the_runtime();
    const int status = (cause.code & 0xff) != 0 ? cause.code & 0xff : 1;
    print(runtime == nullptr || !runtime->stops_are_reported()
              ? "ERROR: " + message(cause, own_place()) + ".\n"
              : "");
    if (runtime == nullptr) ::_exit(status);
    runtime->stop_all(status, StopKind::kMpiError, message(cause, "") + ".");
}

Call::Nesting::Nesting(Call& call) noexcept {
    if (!call.turn_.entered()) return;
    turn_ = &call.runtime().turn();
    before_ = turn_->nest();
}

Call::Nesting::~Nesting() {
    if (turn_ != nullptr) turn_->unnest(before_);
}

}  // namespace poe::mpi
