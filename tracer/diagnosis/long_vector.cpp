// Implementation of long_vector.hpp.
#include "tracer/diagnosis/long_vector.hpp"

#include <atomic>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace poe::trace {
namespace {

// /tmp is in memory on many computers.
constexpr const char* kFolder = "/var/tmp";

// At the beginning of each block, on pages of its own.
struct BlockHeader {
    bool in_memory = false;
};
constexpr std::size_t kBlockHeaderBytes = std::size_t{1} << 16;

// The bytes of this process's blocks that are in memory. An account of the whole process, so it is not part of an object.
std::atomic<std::size_t> bytes_in_memory{0};

// Half the memory of the computer.
std::size_t most_bytes_in_memory() {
    const long pages = ::sysconf(_SC_PHYS_PAGES);
    const long page = ::sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0
               ? static_cast<std::size_t>(pages) / 2 * static_cast<std::size_t>(page)
               : 0;
}

// -1: there is no room. The room is reserved, because a write to a page of a full disk would end the program.
int file_with(std::size_t bytes) {
    const int file = ::open(kFolder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file < 0) return -1;
    if (::fallocate(file, 0, 0, static_cast<off_t>(bytes)) == 0) return file;
    ::close(file);
    return -1;
}

// MAP_FAILED if there is no room.
void* map_memory(std::size_t bytes) {
    return ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
void* map_file(std::size_t bytes) {
    const int file = file_with(bytes);
    if (file < 0) return MAP_FAILED;
    void* const block = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ::close(file);
    return block;
}

}  // namespace

void* map_long_block(std::size_t wanted) {
    const std::size_t bytes = wanted + kBlockHeaderBytes;
    if (bytes < wanted) throw std::bad_alloc();
    const bool fits = bytes_in_memory.load() + bytes <= most_bytes_in_memory();
    void* block = fits ? map_memory(bytes) : map_file(bytes);
    bool in_memory = fits;
    if (block == MAP_FAILED) {
        block = fits ? map_file(bytes) : map_memory(bytes);
        in_memory = !fits;
    }
    if (block == MAP_FAILED) throw std::bad_alloc();
    static_cast<BlockHeader*>(block)->in_memory = in_memory;
    if (in_memory) bytes_in_memory += bytes;
    return static_cast<char*>(block) + kBlockHeaderBytes;
}

void unmap_long_block(void* block, std::size_t wanted) noexcept {
    char* const begin = static_cast<char*>(block) - kBlockHeaderBytes;
    const std::size_t bytes = wanted + kBlockHeaderBytes;
    if (reinterpret_cast<const BlockHeader*>(begin)->in_memory) bytes_in_memory -= bytes;
    ::munmap(begin, bytes);
}

std::size_t room_for_long_blocks() {
    struct statvfs room {};
    const int file = file_with(kLongBlock);
    if (file < 0 || ::fstatvfs(file, &room) != 0) room = {};
    if (file >= 0) ::close(file);
    return std::size_t{room.f_bavail} * room.f_frsize;
}

}  // namespace poe::trace
