// The fields of a status (MPI 5.0, sections 3.2.5, 3.8.4 and 13.3).
#include <mpi.h>

#include "mpi/api/bodies.hpp"
#include "mpi/object/status.hpp"

namespace poe::mpi {

int status_get_source(Call&, const MPI_Status* status, int* source) {
    *source = status->MPI_SOURCE;
    return MPI_SUCCESS;
}
int status_get_tag(Call&, const MPI_Status* status, int* tag) {
    *tag = status->MPI_TAG;
    return MPI_SUCCESS;
}
int status_get_error(Call&, const MPI_Status* status, int* error) {
    *error = status->MPI_ERROR;
    return MPI_SUCCESS;
}

int status_set_source(Call&, MPI_Status* status, int source) {
    status->MPI_SOURCE = source;
    return MPI_SUCCESS;
}
int status_set_tag(Call&, MPI_Status* status, int tag) {
    status->MPI_TAG = tag;
    return MPI_SUCCESS;
}
int status_set_error(Call&, MPI_Status* status, int error) {
    status->MPI_ERROR = error;
    return MPI_SUCCESS;
}

int status_set_cancelled(Call&, MPI_Status* status, int flag) {
    set_cancelled(*status, flag != 0);
    return MPI_SUCCESS;
}
int test_cancelled(Call&, const MPI_Status* status, int* flag) {
    *flag = is_cancelled(*status) ? 1 : 0;
    return MPI_SUCCESS;
}

}  // namespace poe::mpi
