// Reduction operations and the local reduction (MPI 5.0, section 6.9).
#include <mpi.h>

#include "mpi/api/bodies.hpp"
#include "mpi/api/datatype_call.hpp"

namespace poe::mpi {

int op_create(Call&, Callback<MPI_User_function, MPI_User_function_c> user_fn, int commute,
              MPI_Op* op) {
    Operation& operation = environment().operations.make();
    operation.function = user_fn.narrow;
    operation.large_function = user_fn.wide;
    operation.commutative = commute != 0;
    *op = handle_of<MPI_Op>(operation);
    return MPI_SUCCESS;
}

int op_free(Call& call, MPI_Op* op) {
    auto* operation = find<Operation>(*op);
    if (operation == nullptr) {
        return call.fail(MPI_ERR_OP, "op",
                         is_predefined_operation(*op) ? "a predefined operation cannot be freed"
                         : *op == MPI_OP_NULL         ? "it is MPI_OP_NULL"
                                                      : "it is no operation, or was freed already");
    }
    environment().operations.release(*operation);
    *op = MPI_OP_NULL;
    return MPI_SUCCESS;
}

int op_commutative(Call&, MPI_Op op, int* commute) {
    *commute = is_commutative(op) ? 1 : 0;
    return MPI_SUCCESS;
}

int reduce_local(Call& call, const void* inbuf, void* inoutbuf, MPI_Count count,
                 MPI_Datatype datatype, MPI_Op op) {
    const MPI_Datatype operands = operand_type(datatype);
    if (Fault fault = check_operation(op, operands)) return call.fail(fault);
    if (count == 0) return MPI_SUCCESS;
    if (inbuf == MPI_IN_PLACE || inoutbuf == MPI_IN_PLACE) {
        return call.fail(MPI_ERR_BUFFER, inbuf == MPI_IN_PLACE ? "inbuf" : "inoutbuf",
                         "MPI_IN_PLACE has no meaning here");
    }
    if (inbuf == inoutbuf) {
        return call.fail(MPI_ERR_BUFFER, "inoutbuf", "it is the same buffer as inbuf",
                         "use two buffers");
    }
    // Holding a reference lets the function free its operation.
    auto* operation = find<Operation>(op);
    if (operation != nullptr) add_reference(*operation);
    call.outside([&] {
        apply(op, inbuf, inoutbuf, count, operation != nullptr ? datatype : operands,
              datatype_of(datatype).extent());
        return 0;
    });
    if (operation != nullptr) environment().operations.release(*operation);
    return MPI_SUCCESS;
}

}  // namespace poe::mpi
