// MappedFile: maps a file read-only. It is separate so that only one class owns mappings.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "base/unique_fd.hpp"

namespace poe::trace {

// The file may grow; the mapping keeps its size. If another process shortens the file, the reader
// dies (SIGBUS); no process does that to a trace.
class MappedFile {
  public:
    // Throws Error that names the file.
    explicit MappedFile(const std::string& path, bool keep_open = false);
    MappedFile(MappedFile&& other) noexcept
        : bytes_(std::exchange(other.bytes_, {})), file_(std::move(other.file_)) {}
    MappedFile& operator=(MappedFile&& other) noexcept {
        std::swap(bytes_, other.bytes_);
        std::swap(file_, other.file_);
        return *this;
    }
    ~MappedFile();

    std::span<const std::byte> bytes() const { return bytes_; }
    // The descriptor, for pread, which needs no additional memory. Touching a mapped page also maps
    // its neighbours, as many as are contiguous in the page cache. -1: not kept open.
    int file() const { return file_.get(); }
    // Releases the memory of all pages; they are read from the file again when needed.
    void forget() const noexcept;

  private:
    std::span<const std::byte> bytes_;
    UniqueFd file_;
};

}  // namespace poe::trace
