// What the bodies of the functions about datatypes share: datatypes of handles, the form of the
// call, and the reports of the room of datatypes.
#pragma once

#include <mpi.h>

#include "mpi/api/call.hpp"
#include "mpi/datatype/queries.hpp"

namespace poe::mpi {

// The datatype of a handle that the entry point has checked.
inline Datatype& datatype_of(MPI_Datatype handle) noexcept {
    return *find_datatype(handle);
}

// Whether the program called the large-count form of a function.
inline Form form_of(const Call& call) noexcept {
    return function_name(call.function()).ends_with("_c") ? Form::kLarge : Form::kInt;
}

// Reports the error if there is one. The last statement of many bodies.
inline int finish(Call& call, const ErrorReport& report) {
    return report ? call.fail(report.error_class, report.argument, report.text) : MPI_SUCCESS;
}

// The same for a function that makes a datatype, whose handle it stores. `made` is a reference,
// because the expression for `report` sets it.
inline int finish(Call& call, const ErrorReport& report, Datatype* const& made,
                  MPI_Datatype* handle) {
    if (report) return finish(call, report);
    *handle = made != nullptr ? handle_of(*made) : MPI_DATATYPE_NULL;
    return MPI_SUCCESS;
}

}  // namespace poe::mpi
