/* Rows of mpi_death_tasks.c: files. The victim is rank 0 of the file, which holds the shared pointer, and opens and
 * aggregates for all. */
#include "mpi_death_tasks.h"

enum { kBlock = 4000 };

static MPI_Comm for_files;
static MPI_File file, whole; /* with interleaved parts, and as a stream of bytes */
static MPI_Datatype interleaved;

static void make_files(void) {
    MPI_Comm_split(MPI_COMM_WORLD, 0, rank == kVictim ? -1 : rank, &for_files);
    MPI_File_set_errhandler(MPI_FILE_NULL, handler);
    const int modes = MPI_MODE_CREATE | MPI_MODE_RDWR;
    int place;
    MPI_Comm_rank(for_files, &place);
    MPI_Type_vector(kBlock / 100, 100, 100 * size, MPI_BYTE, &interleaved);
    MPI_Type_commit(&interleaved);
    MPI_File_open(for_files, path, modes, MPI_INFO_NULL, &file);
    MPI_File_set_view(file, 100 * place, MPI_BYTE, interleaved, "native", MPI_INFO_NULL);
    MPI_File_open(for_files, path, modes, MPI_INFO_NULL, &whole);
}

ROW(kAll, file_open) {
    MPI_File made;
    TRY(MPI_File_open(for_files, path, MPI_MODE_RDWR, MPI_INFO_NULL, &made));
    return MPI_File_close(&made);
}
ROW(kAlone, file_close) {
    TRY(MPI_File_close(&file));
    return then_meet();
}
ROW(kAll, file_set_view) {
    return MPI_File_set_view(file, 100 * rank, MPI_BYTE, interleaved, "native", MPI_INFO_NULL);
}
ROW(kAll, file_set_size) {
    return MPI_File_set_size(whole, 10000);
}
ROW(kAll, file_preallocate) {
    return MPI_File_preallocate(whole, 10000);
}
ROW(kAll, file_sync) {
    return MPI_File_sync(whole);
}
ROW(kAll, file_set_atomicity) {
    return MPI_File_set_atomicity(whole, 0);
}
ROW(kAll, file_set_info) {
    TRY(MPI_File_set_info(whole, MPI_INFO_NULL));
    return then_meet();
}
ROW(kAll, write_at_all) {
    return MPI_File_write_at_all(file, 0, memory, kBlock, MPI_BYTE, MPI_STATUS_IGNORE);
}
ROW(kAll, read_at_all) {
    return MPI_File_read_at_all(file, 0, memory, kBlock, MPI_BYTE, MPI_STATUS_IGNORE);
}
ROW(kAll, write_all) {
    TRY(MPI_File_seek(file, 0, MPI_SEEK_SET));
    return MPI_File_write_all(file, memory, kBlock, MPI_BYTE, MPI_STATUS_IGNORE);
}
ROW(kAll, read_all) {
    TRY(MPI_File_seek(file, 0, MPI_SEEK_SET));
    return MPI_File_read_all(file, memory, kBlock, MPI_BYTE, MPI_STATUS_IGNORE);
}
ROW(kAll, write_at_all_begin) {
    TRY(MPI_File_write_at_all_begin(file, 0, memory, kBlock, MPI_BYTE));
    return MPI_File_write_at_all_end(file, memory, MPI_STATUS_IGNORE);
}
ROW(kAll, read_at_all_begin) {
    TRY(MPI_File_read_at_all_begin(file, 0, memory, kBlock, MPI_BYTE));
    return MPI_File_read_at_all_end(file, memory, MPI_STATUS_IGNORE);
}
ROW(kAll, iwrite_at_all) {
    MPI_Request request;
    TRY(MPI_File_iwrite_at_all(file, 0, memory, kBlock, MPI_BYTE, &request));
    return MPI_Wait(&request, MPI_STATUS_IGNORE);
}
ROW(kAll, iread_at_all) {
    MPI_Request request;
    TRY(MPI_File_iread_at_all(file, 0, memory, kBlock, MPI_BYTE, &request));
    return MPI_Wait(&request, MPI_STATUS_IGNORE);
}
ROW(kAll, seek_shared) {
    return MPI_File_seek_shared(whole, 0, MPI_SEEK_SET);
}
ROW(kAll, write_ordered) {
    TRY(MPI_File_seek_shared(whole, 0, MPI_SEEK_SET));
    return MPI_File_write_ordered(whole, memory, 100, MPI_BYTE, MPI_STATUS_IGNORE);
}
ROW(kAll, read_ordered) {
    TRY(MPI_File_seek_shared(whole, 0, MPI_SEEK_SET));
    return MPI_File_read_ordered(whole, memory, 100, MPI_BYTE, MPI_STATUS_IGNORE);
}
ROW(kAll, write_ordered_begin) {
    TRY(MPI_File_seek_shared(whole, 0, MPI_SEEK_SET));
    TRY(MPI_File_write_ordered_begin(whole, memory, 100, MPI_BYTE));
    return MPI_File_write_ordered_end(whole, memory, MPI_STATUS_IGNORE);
}
/* Members that do not share memory ask rank 0 for the pointer. */
ROW(kAll, write_shared) {
    TRY(MPI_File_write_shared(whole, memory, 100, MPI_BYTE, MPI_STATUS_IGNORE));
    return MPI_File_seek_shared(whole, 0, MPI_SEEK_SET);
}
ROW(kAlone, read_shared) {
    MPI_Offset place;
    TRY(MPI_File_read_shared(whole, memory, 100, MPI_BYTE, MPI_STATUS_IGNORE));
    TRY(MPI_File_get_position_shared(whole, &place));
    return then_meet();
}
ROW(kAlone, iwrite_shared) {
    MPI_Request request;
    TRY(MPI_File_iwrite_shared(whole, memory, 100, MPI_BYTE, &request));
    TRY(MPI_Wait(&request, MPI_STATUS_IGNORE));
    return then_meet();
}
