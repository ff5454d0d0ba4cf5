// Implementation of mapped_file.hpp.
#include "tracer/read/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/error.hpp"

namespace poe::trace {

MappedFile::MappedFile(const std::string& path, bool keep_open) {
    UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!fd) throw_errno("cannot open " + path);
    struct stat about {};
    if (::fstat(fd.get(), &about) != 0) throw_errno("cannot look at " + path);
    if (!S_ISREG(about.st_mode)) throw Error(path + " is no file");
    if (about.st_size == 0) return;
    const auto size = static_cast<std::size_t>(about.st_size);
    void* memory = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd.get(), 0);
    if (memory == MAP_FAILED) throw_errno("cannot map " + path);
    bytes_ = {static_cast<const std::byte*>(memory), size};
    if (keep_open) file_ = std::move(fd);
}

MappedFile::~MappedFile() {
    if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

void MappedFile::forget() const noexcept {
    if (!bytes_.empty())
        ::madvise(const_cast<std::byte*>(bytes_.data()), bytes_.size(), MADV_DONTNEED);
}

}  // namespace poe::trace
