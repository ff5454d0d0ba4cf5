// What the bodies of the functions that read and write files share: one description of a data
// access, and the ways to make it (MPI 5.0, section 14.4).
//
//   pointer       position                               afterwards
//   explicit      an argument                            the file pointers stay
//   individual    the individual file pointer            advances by what was moved
//   shared        the shared file pointer                has advanced before the data move
//   ordered       the shared file pointer, in rank order the same; a collective call
#pragma once

#include <mpi.h>

#include "mpi/api/call.hpp"
#include "mpi/file/file.hpp"
#include "mpi/file/transfer.hpp"

namespace poe::mpi {

enum class FilePointer : std::uint8_t { kExplicit, kIndividual, kShared, kOrdered };

struct DataAccess {
    MPI_File fh = MPI_FILE_NULL;
    FileAccess access = FileAccess::kRead;
    FilePointer pointer = FilePointer::kIndividual;
    MPI_Offset offset = 0;  // kExplicit
    const void* buf = nullptr;
    MPI_Count count = 0;
    MPI_Datatype datatype = MPI_DATATYPE_NULL;
};

// Each of these returns the error code after the report. Precondition: the file is open.

// Independent accesses. The status is stored even after an error, because it says how many bytes
// have been moved.
int access_file(Call& call, const DataAccess& what, MPI_Status* status);
int start_access_file(Call& call, const DataAccess& what, MPI_Request* request);
// Collective accesses.
int access_file_all(Call& call, const DataAccess& what, MPI_Status* status);
int start_access_file_all(Call& call, const DataAccess& what, MPI_Request* request);
// Split collective calls. `name` is that of the pair of functions, without the endings.
int begin_access_file(Call& call, const DataAccess& what, const char* name);
int end_access_file(Call& call, MPI_File fh, const void* buf, const char* name, MPI_Status* status);

// Refuses a call on a file that was opened with MPI_MODE_SEQUENTIAL; reports the error.
bool refuse_sequential(Call& call, const File& file);
// Refuses a collective call while a split collective call is in progress; reports the error.
bool refuse_split(Call& call, const File& file);

// The shared file pointer of a file.
Fault add_to_shared_pointer(Call& call, File& file, std::int64_t etypes, std::int64_t& before);

}  // namespace poe::mpi
