// Operations on windows (MPI 5.0, section 12.3).
#include <memory>
#include <mpi.h>
#include <string>

#include "mpi/api/bodies.hpp"
#include "mpi/api/point_call.hpp"
#include "mpi/api/window_call.hpp"
#include "mpi/point/works.hpp"
#include "mpi/window/epochs.hpp"
#include "mpi/window/origin.hpp"
#include "mpi/window/target_type.hpp"

namespace poe::mpi {
namespace {

// The arguments of a buffer, with their names.
struct GivenBuffer {
    const void* address = nullptr;
    MPI_Count count = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    const char* name = "origin_addr";
    const char* type_name = "origin_datatype";
};

struct GivenTarget {
    int rank = MPI_PROC_NULL;
    MPI_Aint displacement = 0;
    MPI_Count count = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
};

// Each of the following returns false after an error was reported.

bool resolve_window_buffer(Call& call, const GivenBuffer& given, OriginBuffer& buffer) {
    MessageArguments resolved;
    if (!resolve_buffer(call, given.address, given.count, given.type, resolved,
                        {given.name, given.type_name, "", ""}))
        return false;
    buffer = {given.address, given.count, resolved.type};
    return true;
}

// The rank, the epoch, the displacement and the target's datatype. `nobody` is set for
// MPI_PROC_NULL.
bool resolve_target(Call& call, const Window& window, const GivenTarget& given, bool& nobody,
                    AccessArguments& arguments) {
    nobody = given.rank == MPI_PROC_NULL;
    if (nobody) return true;
    if (!check_window_rank(call, window, given.rank, "target_rank")) return false;
    MessageArguments resolved;
    static const char kAnyAddress = 0;
    if (!resolve_buffer(call, &kAnyAddress, given.count, given.type, resolved,
                        {"", "target_datatype", "", ""}))
        return false;
    if (given.displacement < 0 && !window.dynamic()) {
        call.fail(MPI_ERR_DISP, "target_disp", std::to_string(given.displacement) + " is negative");
        return false;
    }
    if (const Fault fault = check_access_epoch(window, given.rank)) {
        call.fail(fault);
        return false;
    }
    arguments.rank = given.rank;
    arguments.displacement = given.displacement;
    arguments.count = given.count;
    arguments.type = resolved.type;
    return true;
}

bool check_lengths(Call& call, const OriginBuffer& buffer, const AccessArguments& arguments,
                   const char* name) {
    const std::int64_t bytes = arguments.count * arguments.type->size();
    if (buffer.type == nullptr || buffer.bytes() == bytes) return true;
    call.fail(MPI_ERR_TYPE, name,
              "the origin has " + std::to_string(buffer.bytes()) + " bytes and the target " +
                  std::to_string(bytes),
              "give counts and datatypes that describe the same data at both");
    return false;
}

// An operation of the program is no operation of windows, because the target cannot call it.
bool resolve_operation(Call& call, MPI_Op op, AccessArguments& arguments) {
    if (!is_predefined_operation(op)) {
        call.fail(MPI_ERR_OP, "op",
                  find<Operation>(op) != nullptr ? "it is an operation of the program"
                                                 : "it is no operation",
                  "use a predefined operation");
        return false;
    }
    arguments.operation = static_cast<std::uint16_t>(value_of(op));
    const std::uint16_t element = element_of(*arguments.type);
    if (element == 0 && op != MPI_REPLACE && op != MPI_NO_OP) {
        call.fail(MPI_ERR_TYPE, "target_datatype", "its elements are of different datatypes",
                  "accumulate data of one predefined datatype at a time");
        return false;
    }
    if (element == 0 || has_access_operation(arguments.operation, element)) return true;
    call.fail(MPI_ERR_OP, "op", "it is not defined on the target's datatype",
              "use another operation or datatype");
    return false;
}

// Starts the operation and, if `handle` is not null, makes its request.
int begin(Call& call, Window& window, const AccessArguments& arguments, MPI_Request* handle) {
    const Noted noted(call, {window.task(arguments.rank), TaskActivity::kNoType,
                             static_cast<Bytes>(arguments.count * arguments.type->size()),
                             window.comm->context, 0});
    if (handle != nullptr) {
        if (const Fault fault = check_requests_allowed(window, arguments.rank))
            return call.fail(fault);
    }
    std::shared_ptr<Pending> pending;
    if (Fault fault = start_access(call.runtime(), window, arguments, pending))
        return call.fail(fault);
    if (handle == nullptr) return MPI_SUCCESS;
    *handle = handle_of(make_work(call.runtime(),
                                  make_access_work(call.runtime(), window, std::move(pending)),
                                  window.comm, false));
    return MPI_SUCCESS;
}

// An operation on MPI_PROC_NULL has no effect.
int skip(MPI_Request* handle) {
    if (handle == nullptr) return MPI_SUCCESS;
    Request& request = make_request();
    request.type = Request::Type::kNobody;
    request.active = true;
    *handle = handle_of(request);
    return MPI_SUCCESS;
}

// MPI_Put, MPI_Get and MPI_Accumulate; `op` is significant for the last.
int move(Call& call, AccessKind kind, const GivenBuffer& origin, const GivenTarget& target,
         MPI_Op op, MPI_Win win, MPI_Request* handle) {
    Window& window = *find_window(win);
    AccessArguments arguments;
    arguments.kind = kind;
    OriginBuffer& buffer = kind == AccessKind::kGet ? arguments.result : arguments.given;
    bool nobody = false;
    if (!resolve_target(call, window, target, nobody, arguments)) return call.code();
    if (nobody) return skip(handle);
    if (!resolve_window_buffer(call, origin, buffer) ||
        !check_lengths(call, buffer, arguments, "origin_count"))
        return call.code();
    if (kind == AccessKind::kAccumulate) {
        if (!resolve_operation(call, op, arguments)) return call.code();
        if (op == MPI_NO_OP) return skip(handle);
    }
    return begin(call, window, arguments, handle);
}

// MPI_Get_accumulate, and MPI_Fetch_and_op with one element.
int fetch(Call& call, const GivenBuffer& origin, const GivenBuffer& result,
          const GivenTarget& target, MPI_Op op, MPI_Win win, MPI_Request* handle) {
    Window& window = *find_window(win);
    AccessArguments arguments;
    bool nobody = false;
    if (!resolve_target(call, window, target, nobody, arguments)) return call.code();
    if (nobody) return skip(handle);
    if (!resolve_window_buffer(call, result, arguments.result) ||
        !check_lengths(call, arguments.result, arguments, "result_count") ||
        !resolve_operation(call, op, arguments))
        return call.code();
    // MPI_NO_OP ignores the origin's buffer.
    arguments.kind = op == MPI_NO_OP ? AccessKind::kFetch : AccessKind::kGetAccumulate;
    if (op != MPI_NO_OP && (!resolve_window_buffer(call, origin, arguments.given) ||
                            !check_lengths(call, arguments.given, arguments, "origin_count")))
        return call.code();
    return begin(call, window, arguments, handle);
}

}  // namespace

int put(Call& call, const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
        int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype,
        MPI_Win win) {
    return move(call, AccessKind::kPut, {origin_addr, origin_count, origin_datatype},
                {target_rank, target_disp, target_count, target_datatype}, MPI_OP_NULL, win,
                nullptr);
}
int rput(Call& call, const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
         int target_rank, MPI_Aint target_disp, MPI_Count target_count,
         MPI_Datatype target_datatype, MPI_Win win, MPI_Request* request) {
    return move(call, AccessKind::kPut, {origin_addr, origin_count, origin_datatype},
                {target_rank, target_disp, target_count, target_datatype}, MPI_OP_NULL, win,
                request);
}

int get(Call& call, void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
        int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype,
        MPI_Win win) {
    return move(call, AccessKind::kGet, {origin_addr, origin_count, origin_datatype},
                {target_rank, target_disp, target_count, target_datatype}, MPI_OP_NULL, win,
                nullptr);
}
int rget(Call& call, void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
         int target_rank, MPI_Aint target_disp, MPI_Count target_count,
         MPI_Datatype target_datatype, MPI_Win win, MPI_Request* request) {
    return move(call, AccessKind::kGet, {origin_addr, origin_count, origin_datatype},
                {target_rank, target_disp, target_count, target_datatype}, MPI_OP_NULL, win,
                request);
}

int accumulate(Call& call, const void* origin_addr, MPI_Count origin_count,
               MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
               MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) {
    return move(call, AccessKind::kAccumulate, {origin_addr, origin_count, origin_datatype},
                {target_rank, target_disp, target_count, target_datatype}, op, win, nullptr);
}
int raccumulate(Call& call, const void* origin_addr, MPI_Count origin_count,
                MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
                MPI_Request* request) {
    return move(call, AccessKind::kAccumulate, {origin_addr, origin_count, origin_datatype},
                {target_rank, target_disp, target_count, target_datatype}, op, win, request);
}

int get_accumulate(Call& call, const void* origin_addr, MPI_Count origin_count,
                   MPI_Datatype origin_datatype, void* result_addr, MPI_Count result_count,
                   MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
                   MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) {
    return fetch(call, {origin_addr, origin_count, origin_datatype},
                 {result_addr, result_count, result_datatype, "result_addr", "result_datatype"},
                 {target_rank, target_disp, target_count, target_datatype}, op, win, nullptr);
}
int rget_accumulate(Call& call, const void* origin_addr, MPI_Count origin_count,
                    MPI_Datatype origin_datatype, void* result_addr, MPI_Count result_count,
                    MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
                    MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
                    MPI_Request* request) {
    return fetch(call, {origin_addr, origin_count, origin_datatype},
                 {result_addr, result_count, result_datatype, "result_addr", "result_datatype"},
                 {target_rank, target_disp, target_count, target_datatype}, op, win, request);
}

int fetch_and_op(Call& call, const void* origin_addr, void* result_addr, MPI_Datatype datatype,
                 int target_rank, MPI_Aint target_disp, MPI_Op op, MPI_Win win) {
    return fetch(call, {origin_addr, 1, datatype, "origin_addr", "datatype"},
                 {result_addr, 1, datatype, "result_addr", "datatype"},
                 {target_rank, target_disp, 1, datatype}, op, win, nullptr);
}

int compare_and_swap(Call& call, const void* origin_addr, const void* compare_addr,
                     void* result_addr, MPI_Datatype datatype, int target_rank,
                     MPI_Aint target_disp, MPI_Win win) {
    Window& window = *find_window(win);
    AccessArguments arguments;
    arguments.kind = AccessKind::kCompareAndSwap;
    bool nobody = false;
    if (!resolve_target(call, window, {target_rank, target_disp, 1, datatype}, nobody, arguments))
        return call.code();
    if (nobody) return MPI_SUCCESS;
    const PredefinedType* type = find_predefined_type(value_of(operand_type(datatype)));
    if (type == nullptr || !is_comparable(*type))
        return call.fail(MPI_ERR_TYPE, "datatype", "its values cannot be compared bit by bit",
                         "use an integer, a logical or MPI_BYTE");
    if (!resolve_window_buffer(call, {origin_addr, 1, datatype, "origin_addr", "datatype"},
                               arguments.given) ||
        !resolve_window_buffer(call, {compare_addr, 1, datatype, "compare_addr", "datatype"},
                               arguments.compared) ||
        !resolve_window_buffer(call, {result_addr, 1, datatype, "result_addr", "datatype"},
                               arguments.result))
        return call.code();
    return begin(call, window, arguments, nullptr);
}

}  // namespace poe::mpi
