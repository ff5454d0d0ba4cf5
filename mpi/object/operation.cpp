// The application of operations.
#include "mpi/object/operation.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "mpi/object/reductions.hpp"

namespace poe::mpi {
namespace {

struct Name {
    MPI_Op op;
    const char* name;
};

const char* operation_name(MPI_Op op) noexcept {
    const Name names[] = {
        {MPI_SUM, "MPI_SUM"},         {MPI_MIN, "MPI_MIN"},       {MPI_MAX, "MPI_MAX"},
        {MPI_PROD, "MPI_PROD"},       {MPI_BAND, "MPI_BAND"},     {MPI_BOR, "MPI_BOR"},
        {MPI_BXOR, "MPI_BXOR"},       {MPI_LAND, "MPI_LAND"},     {MPI_LOR, "MPI_LOR"},
        {MPI_LXOR, "MPI_LXOR"},       {MPI_MINLOC, "MPI_MINLOC"}, {MPI_MAXLOC, "MPI_MAXLOC"},
        {MPI_REPLACE, "MPI_REPLACE"}, {MPI_NO_OP, "MPI_NO_OP"},
    };
    for (const Name& each : names) {
        if (each.op == op) return each.name;
    }
    return nullptr;
}

}  // namespace

bool is_predefined_operation(MPI_Op op) noexcept {
    return operation_name(op) != nullptr;
}

bool is_commutative(MPI_Op op) noexcept {
    const auto* operation = find<Operation>(op);
    return operation != nullptr ? operation->commutative : op != MPI_REPLACE;
}

Fault check_operation(MPI_Op op, MPI_Datatype datatype) {
    if (!is_predefined(op)) return {};
    const PredefinedType* type = find_predefined_type(value_of(datatype));
    if (type != nullptr && find_kernel(value_of(op), *type) != nullptr) return {};
    const bool window_only = op == MPI_REPLACE || op == MPI_NO_OP;
    return {MPI_ERR_OP, "op",
            std::string(operation_name(op)) + " is not defined " +
                (window_only       ? std::string("for reductions")
                 : type != nullptr ? "on " + std::string(type->name)
                                   : "on derived datatypes"),
            window_only       ? "it exists for accesses to windows only"
            : type != nullptr ? "use another operation or datatype"
                              : "make an operation with MPI_Op_create"};
}

void apply(MPI_Op op, const void* in, void* inout, std::int64_t count, MPI_Datatype datatype,
           std::int64_t extent) {
    if (count <= 0) return;
    const auto* operation = find<Operation>(op);
    if (operation == nullptr) {
        const PredefinedType* type = find_predefined_type(value_of(datatype));
        find_kernel(value_of(op), *type)(in, inout, inout,
                                         static_cast<std::size_t>(count) * type->extent);
        return;
    }
    // The program's function must not change `in`, although its type does not say so.
    auto* from = static_cast<char*>(const_cast<void*>(in));
    auto* to = static_cast<char*>(inout);
    if (operation->large_function != nullptr) {
        MPI_Count length = count;
        operation->large_function(from, to, &length, &datatype);
        return;
    }
    while (count > 0) {
        int length =
            static_cast<int>(std::min<std::int64_t>(count, std::numeric_limits<int>::max()));
        const std::int64_t done = length;  // the function gets the address of `length`
        operation->function(from, to, &length, &datatype);
        count -= done;
        from += done * extent;
        to += done * extent;
    }
}

}  // namespace poe::mpi
