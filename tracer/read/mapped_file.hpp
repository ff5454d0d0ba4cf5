// MappedFile: the bytes of a file, read-only, without reading them. Apart so that only one place
// owns a mapping.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "base/unique_fd.hpp"

namespace poe::trace {

// The file may grow meanwhile; what is mapped stays what it was. One that somebody makes shorter
// takes the reader with it (SIGBUS): nobody does that to a trace.
class MappedFile {
  public:
    // Throws Error naming the file.
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
    // To be read by pread, which costs no memory: touching a page maps its neighbours, too, as far
    // as the system's caches happen to be in one piece. -1: not kept open.
    int file() const { return file_.get(); }
    // Gives the memory of all pages back; they come again from the file when needed.
    void forget() const noexcept;

  private:
    std::span<const std::byte> bytes_;
    UniqueFd file_;
};

}  // namespace poe::trace
