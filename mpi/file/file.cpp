// Open files; see file.hpp.
#include "mpi/file/file.hpp"

#include <cerrno>
#include <cstring>

#include "mpi/file/shared_pointer.hpp"
#include "mpi/process/environment.hpp"

namespace poe::mpi {
namespace {

struct Meaning {
    int error;
    int error_class;
    const char* remedy;
};

constexpr Meaning kMeanings[] = {
    {ENOENT, MPI_ERR_NO_SUCH_FILE, "check the name, or open the file with MPI_MODE_CREATE"},
    {EEXIST, MPI_ERR_FILE_EXISTS, "delete the file, or open it without MPI_MODE_EXCL"},
    {EACCES, MPI_ERR_ACCESS, "check the permissions of the file and of its folder"},
    {EPERM, MPI_ERR_ACCESS, "check the permissions of the file and of its folder"},
    {EROFS, MPI_ERR_READ_ONLY, "use another file system"},
    {ENOSPC, MPI_ERR_NO_SPACE, "free some space in the file system, or use another one"},
    {EDQUOT, MPI_ERR_QUOTA, "delete some files, or ask for a larger quota"},
    {EFBIG, MPI_ERR_NO_SPACE, "raise the limit of the size of files (ulimit -f)"},
    {ENAMETOOLONG, MPI_ERR_BAD_FILE, "give a shorter name"},
    {ENOTDIR, MPI_ERR_BAD_FILE, "check the folders in the name"},
    {EISDIR, MPI_ERR_BAD_FILE, "give the name of a file"},
    {ELOOP, MPI_ERR_BAD_FILE, "check the links in the name"},
    {ETXTBSY, MPI_ERR_FILE_IN_USE, "end the processes that use the file"},
    {EBUSY, MPI_ERR_FILE_IN_USE, "end the processes that use the file"},
    {ENOMEM, MPI_ERR_NO_MEM, ""},
    {EMFILE, MPI_ERR_OTHER, "close other files, or raise the limit of open files (ulimit -n)"},
};

}  // namespace

Fault system_fault(int error, const char* doing, const std::string& name) {
    Fault fault{MPI_ERR_IO, "",
                "task " + std::to_string(environment().task) + " " + doing + " '" + name +
                    "': " + std::strerror(error),
                ""};
    for (const Meaning& each : kMeanings) {
        if (each.error != error) continue;
        fault.code = each.error_class;
        fault.remedy = each.remedy;
    }
    return fault;
}

void File::reset() noexcept {
    environment().release(errhandler);
    errhandler = MPI_ERRORS_ARE_FATAL;
    if (auto* hints_used = find<Info>(info)) environment().infos.release(*hints_used);
    info = MPI_INFO_NULL;
    hints = {};
    name.clear();
    amode = 0;
    descriptor.reset();
    on_network = atomic = in_use = false;
    view = initial_view();
    position = 0;
    own_pointer = 0;
    shared.reset();
    aggregators.clear();
    member_views.reset();
    collective_calls = 0;
    spare_window = {};
    split = nullptr;
    split_name = "";
    split_buffer = nullptr;
    if (comm != nullptr) comm_pool().release(*comm);
    comm = nullptr;
}

Pool<File>& file_pool() noexcept {
    static Pool<File>* const pool = [] {
        auto* const made = new Pool<File>(Kind::kFile);
        environment().pools[static_cast<std::size_t>(Kind::kFile)] = made;
        return made;
    }();
    return *pool;
}

}  // namespace poe::mpi
