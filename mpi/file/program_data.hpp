// ProgramData: the program's memory in a data access, and its form in the file if the
// representation of the view converts data.
#pragma once

#include <cstddef>
#include <memory>
#include <mpi.h>

#include "mpi/file/transfer.hpp"

namespace poe::mpi {

class ProgramData {
  public:
    ProgramData() = default;
    // `count` elements of a committed datatype. Converts them if they will be written. The memory
    // belongs to the program and must stay until finish().
    Fault define(const File& file, FileAccess access, void* address, std::int64_t count,
                 Datatype& type);

    // What moves to or from the file.
    FileMemory memory() const noexcept { return memory_; }
    Bytes bytes() const noexcept { return memory_.layout.size(); }
    // True if the data are converted.
    bool converts() const noexcept { return converted_ != nullptr; }
    // After `moved` bytes have moved: converts them if they were read, and returns how many bytes
    // of the program's datatype they are.
    Transferred finish(Bytes moved);

  private:
    Fault finish_part(Bytes whole, Bytes part);

    FileMemory memory_;
    TypeReference type_;
    // Null if nothing is converted.
    std::unique_ptr<std::byte[]> converted_;
    const Representation* how_ = nullptr;
    FileAccess access_ = FileAccess::kRead;
    void* address_ = nullptr;
    Bytes element_ = 0;  // bytes of an element in the file
    // What is converted or not as a whole, if the file ends within an element: a basic element, or
    // an etype if the basic elements differ.
    Bytes unit_in_file_ = 1;
    Bytes unit_in_memory_ = 1;
};

}  // namespace poe::mpi
