// Transfers: how the bytes of a view move between the file and the memory of this task, without any
// other task (MPI 5.0, section 14.4.2).
//
//   in the file   in memory     way
//   contiguous    contiguous    read or write
//   contiguous    with gaps     packed, at most a buffer at a time
//   with gaps     any           read: the file with its gaps at a time, if they are not too long
//                               ("data sieving"); otherwise piece by piece
//
// Writing with the gaps needs a lock against tasks and threads that write into them at the same
// time. All writers have to take it, so it is done only if the hint romio_ds_write asks for it;
// then each write takes this lock. In atomic mode each transfer locks the bytes from its first to
// its last one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

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
    int error = 0;  // the system's number of the fault, from read_bytes() and write_bytes()
};

// Moves the bytes of the memory to or from the stream of a view of the file, from `position` on.
// The constructor is for the thread that has the turn; it keeps the hints and the mode of the file,
// which other threads may change. The other functions need no turn and wait for no message. All
// arguments must outlive the object.
class Transfer {
  public:
    Transfer(const File& file, const Stream& stream, FileAccess access, Bytes position,
             const FileMemory& memory);
    ~Transfer();
    Transfer(const Transfer&) = delete;
    Transfer& operator=(const Transfer&) = delete;

    // Moves everything, in atomic mode under a lock. Blocks as long as the system and the holders
    // of locks do.
    Transferred all();

    // Moves about `most` bytes; pieces that are read together are not divided. Returns true if the
    // transfer has ended. Blocks as long as the system does. Takes no lock of the whole, so the
    // file must not be in atomic mode.
    bool step(Bytes most);
    // Precondition: step() has returned true.
    Transferred result();

  private:
    std::unique_ptr<class FileMover> mover_;
};

// Reads or writes contiguous bytes. A read returns fewer bytes at the end of the file only.
Transferred read_bytes(const File& file, std::byte* to, Bytes bytes, std::int64_t at);
// `locks`: writers_lock() was true of the file.
Transferred write_bytes(const File& file, const std::byte* from, Bytes bytes, std::int64_t at,
                        bool locks);

// True if writers may write gaps back, so that all of them take a lock. For the thread that has the
// turn.
inline bool writers_lock(const File& file) noexcept {
    return file.hints.sieve_writes == Choice::kEnable;
}

// While it exists, no other task and no other thread of this task can lock the same part of the
// file. The system's lock excludes other tasks only: threads that use the same file descriptor can
// all hold it at the same time. Therefore the constructor also locks the mutex File::locking. The
// owner makes system calls only and never waits for the turn.
class FileLock {
  public:
    // Does nothing if `needed` is false. Blocks until nobody holds a lock that excludes this one.
    FileLock(const File& file, FileAccess access, std::int64_t first, std::int64_t end,
             bool needed);
    ~FileLock();
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;

    const Fault& fault() const noexcept { return fault_; }

  private:
    std::unique_lock<std::mutex> threads_;
    int descriptor_ = -1;  // -1: not locked
    std::int64_t first_ = 0;
    std::int64_t end_ = 0;
    Fault fault_;
};

}  // namespace poe::mpi
