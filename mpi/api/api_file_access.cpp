// Reading and writing files (MPI 5.0, section 14.4). Each function names what it does;
// file_call.hpp has the ways to do it.
#include <mpi.h>

#include "mpi/api/bodies.hpp"
#include "mpi/api/file_call.hpp"

namespace poe::mpi {
namespace {

constexpr FileAccess kRead = FileAccess::kRead;
constexpr FileAccess kWrite = FileAccess::kWrite;
constexpr FilePointer kIndividual = FilePointer::kIndividual;
constexpr FilePointer kShared = FilePointer::kShared;
constexpr FilePointer kOrdered = FilePointer::kOrdered;

}  // namespace

// With explicit offsets.

int file_read_at(Call& call, MPI_File fh, MPI_Offset offset, void* buf, MPI_Count count,
                 MPI_Datatype datatype, MPI_Status* status) {
    return access_file(call, {fh, kRead, FilePointer::kExplicit, offset, buf, count, datatype},
                       status);
}
int file_read_at_all(Call& call, MPI_File fh, MPI_Offset offset, void* buf, MPI_Count count,
                     MPI_Datatype datatype, MPI_Status* status) {
    return access_file_all(call, {fh, kRead, FilePointer::kExplicit, offset, buf, count, datatype},
                           status);
}
int file_iread_at(Call& call, MPI_File fh, MPI_Offset offset, void* buf, MPI_Count count,
                  MPI_Datatype datatype, MPI_Request* request) {
    return start_access_file(
        call, {fh, kRead, FilePointer::kExplicit, offset, buf, count, datatype}, request);
}
int file_iread_at_all(Call& call, MPI_File fh, MPI_Offset offset, void* buf, MPI_Count count,
                      MPI_Datatype datatype, MPI_Request* request) {
    return start_access_file_all(
        call, {fh, kRead, FilePointer::kExplicit, offset, buf, count, datatype}, request);
}
int file_write_at(Call& call, MPI_File fh, MPI_Offset offset, const void* buf, MPI_Count count,
                  MPI_Datatype datatype, MPI_Status* status) {
    return access_file(call, {fh, kWrite, FilePointer::kExplicit, offset, buf, count, datatype},
                       status);
}
int file_write_at_all(Call& call, MPI_File fh, MPI_Offset offset, const void* buf, MPI_Count count,
                      MPI_Datatype datatype, MPI_Status* status) {
    return access_file_all(call, {fh, kWrite, FilePointer::kExplicit, offset, buf, count, datatype},
                           status);
}
int file_iwrite_at(Call& call, MPI_File fh, MPI_Offset offset, const void* buf, MPI_Count count,
                   MPI_Datatype datatype, MPI_Request* request) {
    return start_access_file(
        call, {fh, kWrite, FilePointer::kExplicit, offset, buf, count, datatype}, request);
}
int file_iwrite_at_all(Call& call, MPI_File fh, MPI_Offset offset, const void* buf, MPI_Count count,
                       MPI_Datatype datatype, MPI_Request* request) {
    return start_access_file_all(
        call, {fh, kWrite, FilePointer::kExplicit, offset, buf, count, datatype}, request);
}

// With individual file pointers.

int file_read(Call& call, MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype,
              MPI_Status* status) {
    return access_file(call, {fh, kRead, kIndividual, 0, buf, count, datatype}, status);
}
int file_read_all(Call& call, MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype,
                  MPI_Status* status) {
    return access_file_all(call, {fh, kRead, kIndividual, 0, buf, count, datatype}, status);
}
int file_iread(Call& call, MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype,
               MPI_Request* request) {
    return start_access_file(call, {fh, kRead, kIndividual, 0, buf, count, datatype}, request);
}
int file_iread_all(Call& call, MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype,
                   MPI_Request* request) {
    return start_access_file_all(call, {fh, kRead, kIndividual, 0, buf, count, datatype}, request);
}
int file_write(Call& call, MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype,
               MPI_Status* status) {
    return access_file(call, {fh, kWrite, kIndividual, 0, buf, count, datatype}, status);
}
int file_write_all(Call& call, MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype,
                   MPI_Status* status) {
    return access_file_all(call, {fh, kWrite, kIndividual, 0, buf, count, datatype}, status);
}
int file_iwrite(Call& call, MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype,
                MPI_Request* request) {
    return start_access_file(call, {fh, kWrite, kIndividual, 0, buf, count, datatype}, request);
}
int file_iwrite_all(Call& call, MPI_File fh, const void* buf, MPI_Count count,
                    MPI_Datatype datatype, MPI_Request* request) {
    return start_access_file_all(call, {fh, kWrite, kIndividual, 0, buf, count, datatype}, request);
}

// With the shared file pointer.

int file_read_shared(Call& call, MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype,
                     MPI_Status* status) {
    return access_file(call, {fh, kRead, kShared, 0, buf, count, datatype}, status);
}
int file_iread_shared(Call& call, MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype,
                      MPI_Request* request) {
    return start_access_file(call, {fh, kRead, kShared, 0, buf, count, datatype}, request);
}
int file_read_ordered(Call& call, MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype,
                      MPI_Status* status) {
    return access_file_all(call, {fh, kRead, kOrdered, 0, buf, count, datatype}, status);
}
int file_write_shared(Call& call, MPI_File fh, const void* buf, MPI_Count count,
                      MPI_Datatype datatype, MPI_Status* status) {
    return access_file(call, {fh, kWrite, kShared, 0, buf, count, datatype}, status);
}
int file_iwrite_shared(Call& call, MPI_File fh, const void* buf, MPI_Count count,
                       MPI_Datatype datatype, MPI_Request* request) {
    return start_access_file(call, {fh, kWrite, kShared, 0, buf, count, datatype}, request);
}
int file_write_ordered(Call& call, MPI_File fh, const void* buf, MPI_Count count,
                       MPI_Datatype datatype, MPI_Status* status) {
    return access_file_all(call, {fh, kWrite, kOrdered, 0, buf, count, datatype}, status);
}

// Split collective calls (section 14.4.5).

int file_read_at_all_begin(Call& call, MPI_File fh, MPI_Offset offset, void* buf, MPI_Count count,
                           MPI_Datatype datatype) {
    return begin_access_file(call,
                             {fh, kRead, FilePointer::kExplicit, offset, buf, count, datatype},
                             "MPI_File_read_at_all");
}
int file_read_at_all_end(Call& call, MPI_File fh, void* buf, MPI_Status* status) {
    return end_access_file(call, fh, buf, "MPI_File_read_at_all", status);
}
int file_read_all_begin(Call& call, MPI_File fh, void* buf, MPI_Count count,
                        MPI_Datatype datatype) {
    return begin_access_file(call, {fh, kRead, kIndividual, 0, buf, count, datatype},
                             "MPI_File_read_all");
}
int file_read_all_end(Call& call, MPI_File fh, void* buf, MPI_Status* status) {
    return end_access_file(call, fh, buf, "MPI_File_read_all", status);
}
int file_read_ordered_begin(Call& call, MPI_File fh, void* buf, MPI_Count count,
                            MPI_Datatype datatype) {
    return begin_access_file(call, {fh, kRead, kOrdered, 0, buf, count, datatype},
                             "MPI_File_read_ordered");
}
int file_read_ordered_end(Call& call, MPI_File fh, void* buf, MPI_Status* status) {
    return end_access_file(call, fh, buf, "MPI_File_read_ordered", status);
}
int file_write_at_all_begin(Call& call, MPI_File fh, MPI_Offset offset, const void* buf,
                            MPI_Count count, MPI_Datatype datatype) {
    return begin_access_file(call,
                             {fh, kWrite, FilePointer::kExplicit, offset, buf, count, datatype},
                             "MPI_File_write_at_all");
}
int file_write_at_all_end(Call& call, MPI_File fh, const void* buf, MPI_Status* status) {
    return end_access_file(call, fh, buf, "MPI_File_write_at_all", status);
}
int file_write_all_begin(Call& call, MPI_File fh, const void* buf, MPI_Count count,
                         MPI_Datatype datatype) {
    return begin_access_file(call, {fh, kWrite, kIndividual, 0, buf, count, datatype},
                             "MPI_File_write_all");
}
int file_write_all_end(Call& call, MPI_File fh, const void* buf, MPI_Status* status) {
    return end_access_file(call, fh, buf, "MPI_File_write_all", status);
}
int file_write_ordered_begin(Call& call, MPI_File fh, const void* buf, MPI_Count count,
                             MPI_Datatype datatype) {
    return begin_access_file(call, {fh, kWrite, kOrdered, 0, buf, count, datatype},
                             "MPI_File_write_ordered");
}
int file_write_ordered_end(Call& call, MPI_File fh, const void* buf, MPI_Status* status) {
    return end_access_file(call, fh, buf, "MPI_File_write_ordered", status);
}

}  // namespace poe::mpi
