// Packing (MPI 5.0, sections 5.2 and 5.3).
#include <mpi.h>

#include "mpi/api/bodies.hpp"
#include "mpi/api/datatype_call.hpp"
#include "mpi/datatype/packing.hpp"

namespace poe::mpi {

namespace {

// Stores the new position after a call that had no error.
int finish_at(Call& call, const ErrorReport& error, std::int64_t at, CountOut position) {
    if (!error) position.set(at);
    return finish(call, error);
}

}  // namespace

int pack(Call& call, const void* inbuf, MPI_Count incount, MPI_Datatype datatype, void* outbuf,
         MPI_Count outsize, CountOut position, MPI_Comm) {
    std::int64_t at = position.get();
    const ErrorReport error = pack(inbuf, incount, datatype_of(datatype), outbuf, outsize, at);
    return finish_at(call, error, at, position);
}

int unpack(Call& call, const void* inbuf, MPI_Count insize, CountOut position, void* outbuf,
           MPI_Count outcount, MPI_Datatype datatype, MPI_Comm) {
    std::int64_t at = position.get();
    const ErrorReport error = unpack(inbuf, insize, at, outbuf, outcount, datatype_of(datatype));
    return finish_at(call, error, at, position);
}

int pack_size(Call& call, MPI_Count incount, MPI_Datatype datatype, MPI_Comm, CountOut size) {
    std::int64_t bytes = 0;
    const ErrorReport error = pack_size(incount, datatype_of(datatype), bytes);
    return finish_at(call, error, bytes, size);
}

int pack_external(Call& call, const char* datarep, const void* inbuf, MPI_Count incount,
                  MPI_Datatype datatype, void* outbuf, MPI_Count outsize, CountOut position) {
    std::int64_t at = position.get();
    const ErrorReport error =
        pack_external(datarep, inbuf, incount, datatype_of(datatype), outbuf, outsize, at);
    return finish_at(call, error, at, position);
}

int unpack_external(Call& call, const char* datarep, const void* inbuf, MPI_Count insize,
                    CountOut position, void* outbuf, MPI_Count outcount, MPI_Datatype datatype) {
    std::int64_t at = position.get();
    const ErrorReport error =
        unpack_external(datarep, inbuf, insize, at, outbuf, outcount, datatype_of(datatype));
    return finish_at(call, error, at, position);
}

int pack_external_size(Call& call, const char* datarep, MPI_Count incount, MPI_Datatype datatype,
                       CountOut size) {
    std::int64_t bytes = 0;
    const ErrorReport error = pack_external_size(datarep, incount, datatype_of(datatype), bytes);
    return finish_at(call, error, bytes, size);
}

}  // namespace poe::mpi
