// Transfers: how the bytes of a view move between the file and the memory of this task, without any
// other task (MPI 5.0, section 14.4.2).
//
//   in the file   in memory     way
//   contiguous    contiguous    read or write
//   contiguous    with gaps     packed, at most a buffer at a time
//   with gaps     any           read: the file with its gaps at a time, if they are not too long
//                               ("data sieving"); otherwise piece by piece
//
// Writing with the gaps would need a lock against tasks that write into them at the same time,
// which all writers would have to take, so it is done only if the hint romio_ds_write asks for it.
// In atomic mode each transfer locks the bytes from its first to its last one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/types.hpp"
#include "mpi/datatype/typed_layout.hpp"
#include "mpi/file/file.hpp"
#include "mpi/object/fault.hpp"

namespace poe::mpi {

// The program's memory: the packed form of the layout is what moves.
struct FileMemory {
    std::byte* base = nullptr;
    TypedLayout layout;
};

enum class FileAccess : std::uint8_t { kRead, kWrite };

// What has moved until the end of the file or the fault.
struct Transferred {
    Bytes bytes = 0;
    Fault fault;
};

// Moves the bytes of the memory to or from the stream of a view of the file, from `position` on.
// Blocks as long as the system does; waits for no message.
Transferred transfer(File& file, const Stream& stream, FileAccess access, Bytes position,
                     const FileMemory& memory);

// The same in steps. All arguments must outlive the object. No lock is taken, so the file must not be in atomic
// mode.
class SteppedTransfer {
  public:
    SteppedTransfer(File& file, const Stream& stream, FileAccess access, Bytes position,
                    const FileMemory& memory);
    ~SteppedTransfer();
    SteppedTransfer(const SteppedTransfer&) = delete;
    SteppedTransfer& operator=(const SteppedTransfer&) = delete;
    // Moves about `most` bytes; pieces that are read together are not divided. Returns true if the transfer has
    // ended. Blocks as long as the system does.
    bool step(Bytes most);
    // Precondition: step() has returned true.
    Transferred result();

  private:
    std::unique_ptr<class FileMover> mover_;
};

// Reads or writes contiguous bytes. A read returns fewer bytes at the end of the file only.
Transferred read_bytes(const File& file, std::byte* to, Bytes bytes, std::int64_t at);
Transferred write_bytes(const File& file, const std::byte* from, Bytes bytes, std::int64_t at);

// Locks a part of the file against other tasks that lock it, while it exists.
class FileLock {
  public:
    // Does nothing if `needed` is false. Blocks until no other task holds a lock that excludes this
    // one.
    FileLock(const File& file, FileAccess access, std::int64_t first, std::int64_t end,
             bool needed);
    ~FileLock();
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;

    const Fault& fault() const noexcept { return fault_; }

  private:
    int descriptor_ = -1;  // -1: not locked
    std::int64_t first_ = 0;
    std::int64_t end_ = 0;
    Fault fault_;
};

}  // namespace poe::mpi
