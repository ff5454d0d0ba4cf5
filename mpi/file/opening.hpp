// Opening and closing files, and what all members do to a file as a whole (MPI 5.0, sections 14.2
// and 14.6.1). An error of one member becomes a fault at all, so that no member goes on alone.
//
// All functions of this file are collective and block, except delete_file().
#pragma once

#include <cstdint>
#include <mpi.h>
#include <string>

#include "comm/bootstrap/runtime.hpp"
#include "mpi/file/file.hpp"
#include "mpi/object/fault.hpp"
#include "mpi/object/info.hpp"

namespace poe::mpi {

struct MadeFile {
    File* file = nullptr;
    Fault fault;
};

// MPI_File_open. `info` may be null. The file belongs to the caller, who closes it.
MadeFile open_file(comm::Runtime& runtime, Comm& comm, const std::string& name, int amode,
                   const Info* info);
// MPI_File_close. The file does not exist afterwards, even after a fault.
Fault close_file(comm::Runtime& runtime, File& file);
Fault delete_file(comm::Runtime& runtime, const std::string& name);

Fault resize_file(comm::Runtime& runtime, File& file, std::int64_t size);
// Reserves the space; the file is not shortened.
Fault preallocate_file(comm::Runtime& runtime, File& file, std::int64_t size);
// MPI_File_sync: what this task has written reaches the storage device, and what the others have
// written before their MPI_File_sync becomes visible here.
Fault sync_file(File& file);
Fault size_of_file(comm::Runtime& runtime, const File& file, std::int64_t& size);

// MPI_File_set_view: sets the view and both file pointers. `fault` is what is wrong with the
// arguments of this member.
Fault set_view(comm::Runtime& runtime, File& file, View view, const Fault& fault);

// Adds known hints. The number of aggregators and the size of their buffers stay as they are,
// because all members must have the same. `given` may be null. The caller holds Environment::lock.
void set_file_hints(File& file, const Info* given);

// All members give a value. A fault if they differ, or if a member has `fault`.
Fault agree_on_value(comm::Runtime& runtime, File& file, std::int64_t value, const char* argument,
                     const Fault& fault);
// All members give the fault of their part; all get the first one.
Fault agree_on_fault(comm::Runtime& runtime, Comm& comm, const std::string& name, const Fault& own);
// Blocks until all members have made the call.
Fault meet(comm::Runtime& runtime, const File& file);

}  // namespace poe::mpi
