// Files: how they are opened and closed, their sizes, hints and consistency (MPI 5.0, sections 14.2
// and 14.6).
#include <mpi.h>
#include <mutex>
#include <string>

#include "mpi/api/bodies.hpp"
#include "mpi/api/checked_call.hpp"
#include "mpi/api/file_call.hpp"
#include "mpi/file/opening.hpp"
#include "mpi/file/threads.hpp"

namespace poe::mpi {
namespace {

// The info of an argument; false, after a report, if it is none. MPI_INFO_NULL gives null.
bool resolve_info(Call& call, MPI_Info handle, const Info*& info) {
    info = nullptr;
    if (handle == MPI_INFO_NULL) return true;
    info = environment().find_readable_info(handle);
    if (info == nullptr) call.fail(MPI_ERR_INFO, "info", "it is no info");
    return info != nullptr;
}

bool check_size(Call& call, const File& file, MPI_Offset size) {
    if (!file.writable()) {
        call.fail(MPI_ERR_READ_ONLY, "fh",
                  "the file '" + file.name + "' was opened for reading only", "");
        return false;
    }
    if (size >= 0) return true;
    call.fail(MPI_ERR_ARG, "size", std::to_string(size) + " is negative");
    return false;
}

}  // namespace

int file_open(Call& call, MPI_Comm comm, const char* filename, int amode, MPI_Info info,
              MPI_File* fh) {
    *fh = MPI_FILE_NULL;
    Comm* const members = find_comm(comm);
    if (members == nullptr)
        return call.fail(MPI_ERR_COMM, "comm",
                         comm == MPI_COMM_NULL ? "it is MPI_COMM_NULL" : "it is no communicator");
    if (members->is_inter())
        return call.fail(MPI_ERR_COMM, "comm", "it is an intercommunicator",
                         "merge the groups with MPI_Intercomm_merge first");
    const Info* hints = nullptr;
    if (!resolve_info(call, info, hints)) return call.code();
    const VisibleCollective visible(call, *members);
    if (const int code = agree(call, *members)) return code;
    const MadeFile made = open_file(call.runtime(), *members, filename, amode, hints);
    if (made.fault) return call.fail(made.fault);
    *fh = handle_of(*made.file);
    return MPI_SUCCESS;
}

int file_close(Call& call, MPI_File* fh) {
    File* const file = find_file(*fh);
    if (file == nullptr)
        return call.fail(
            MPI_ERR_FILE, "fh",
            *fh == MPI_FILE_NULL ? "it is MPI_FILE_NULL" : "it is no file, or was closed already");
    call.about(ErrorObject(*fh));
    if (refuse_split(call, *file)) return call.code();
    await_file(call.runtime(), *file);
    const MPI_Errhandler handler = file->errhandler;
    environment().retain(handler);
    Fault fault;
    {
        const VisibleCollective visible(call, *file->comm);
        fault = close_file(call.runtime(), *file);
    }
    *fh = MPI_FILE_NULL;
    // The file does not exist any more, but an error still invokes its handler.
    call.about(ErrorObject(MPI_FILE_NULL));
    call.handle_errors_by(handler);
    const int code = call.finish(fault);
    environment().release(handler);
    return code;
}

int file_delete(Call& call, const char* filename, MPI_Info) {
    return call.finish(delete_file(call.runtime(), filename));
}

int file_set_size(Call& call, MPI_File fh, MPI_Offset size) {
    File& file = *find_file(fh);
    if (refuse_split(call, file) || !check_size(call, file, size)) return call.code();
    const VisibleCollective visible(call, *file.comm);
    if (const int code = agree(call, *file.comm)) return code;
    return call.finish(resize_file(call.runtime(), file, size));
}

int file_preallocate(Call& call, MPI_File fh, MPI_Offset size) {
    File& file = *find_file(fh);
    if (refuse_split(call, file) || !check_size(call, file, size)) return call.code();
    const VisibleCollective visible(call, *file.comm);
    if (const int code = agree(call, *file.comm)) return code;
    return call.finish(preallocate_file(call.runtime(), file, size));
}

int file_get_size(Call& call, MPI_File fh, MPI_Offset* size) {
    std::int64_t bytes = 0;
    if (Fault fault = size_of_file(call.runtime(), *find_file(fh), bytes)) return call.fail(fault);
    *size = bytes;
    return MPI_SUCCESS;
}

int file_get_group(Call&, MPI_File fh, MPI_Group* group) {
    *group = environment().make_group(find_file(fh)->comm->local);
    return MPI_SUCCESS;
}

int file_get_amode(Call&, MPI_File fh, int* amode) {
    *amode = find_file(fh)->amode;
    return MPI_SUCCESS;
}

int file_set_info(Call& call, MPI_File fh, MPI_Info info) {
    const Info* hints = nullptr;
    if (!resolve_info(call, info, hints)) return call.code();
    File& file = *find_file(fh);
    await_file(call.runtime(), file);
    const std::lock_guard guard(environment().lock);
    set_file_hints(file, hints);
    return MPI_SUCCESS;
}

int file_get_info(Call&, MPI_File fh, MPI_Info* info_used) {
    const File& file = *find_file(fh);
    const std::lock_guard guard(environment().lock);
    Info& copy = environment().infos.make();
    if (const auto* hints = find<Info>(file.info)) copy.copy_from(*hints);
    copy.set("cb_nodes", std::to_string(file.aggregators.size()));
    add_used_hints(file.hints, copy);
    *info_used = handle_of<MPI_Info>(static_cast<Object&>(copy));
    return MPI_SUCCESS;
}

int file_set_atomicity(Call& call, MPI_File fh, int flag) {
    File& file = *find_file(fh);
    if (refuse_split(call, file)) return call.code();
    const VisibleCollective visible(call, *file.comm);
    if (const int code = agree(call, *file.comm)) return code;
    const bool atomic = flag != 0;
    if (Fault fault = agree_on_value(call.runtime(), file, atomic ? 1 : 0, "flag", {}))
        return call.fail(fault);
    await_file(call.runtime(), file);
    file.atomic = atomic;
    return MPI_SUCCESS;
}

int file_get_atomicity(Call&, MPI_File fh, int* flag) {
    *flag = find_file(fh)->atomic ? 1 : 0;
    return MPI_SUCCESS;
}

int file_sync(Call& call, MPI_File fh) {
    File& file = *find_file(fh);
    if (refuse_split(call, file)) return call.code();
    const VisibleCollective visible(call, *file.comm);
    if (const int code = agree(call, *file.comm)) return code;
    Fault own;
    use_file(call.runtime(), file, [&] { own = sync_file(file); });
    return call.finish(agree_on_fault(call.runtime(), *file.comm, file.name, own));
}

}  // namespace poe::mpi
