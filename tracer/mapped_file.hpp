// MappedFile: the bytes of a file, read-only, without reading them. Apart so that only one place
// owns a mapping.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>

namespace poe::trace {

// The file may grow meanwhile; what is mapped stays what it was. One that somebody makes shorter
// takes the reader with it (SIGBUS): nobody does that to a trace.
class MappedFile {
  public:
    // Throws Error naming the file.
    explicit MappedFile(const std::string& path);
    MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
    MappedFile& operator=(MappedFile&& other) noexcept {
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~MappedFile();

    std::span<const std::byte> bytes() const { return bytes_; }
    // Gives the memory of all pages back; they come again from the file when needed.
    void forget() const noexcept;

  private:
    std::span<const std::byte> bytes_;
};

}  // namespace poe::trace
