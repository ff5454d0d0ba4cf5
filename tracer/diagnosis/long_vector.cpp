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

// At the beginning of each long block. The elements after it keep the alignment of a cache line.
struct alignas(64) BlockHeader {
    bool in_memory = false;
};

// If the process may not have that much more, long blocks are in files, so that what is no
// LongVector finds memory.
constexpr std::size_t kLeftForOthers = std::size_t{16} << 20;

// The bytes of this process's blocks that are in memory. An account of the whole process, so it is
// not part of an object.
std::atomic<std::size_t> bytes_in_memory{0};

// -1: there is no room. The room is reserved, because a write to a page of a full disk would end
// the program.
int file_with(std::size_t bytes) {
    const int file = ::open(kFolder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file < 0) return -1;
    if (::fallocate(file, 0, 0, static_cast<off_t>(bytes)) == 0) return file;
    ::close(file);
    return -1;
}

// MAP_FAILED if there is no room, or less than `to_spare` beside the block.
void* map_memory(std::size_t bytes, std::size_t to_spare) {
    void* const block = ::mmap(nullptr, bytes + to_spare, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED || to_spare == 0) return block;
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const std::size_t kept = (bytes + page - 1) / page * page;
    ::munmap(static_cast<char*>(block) + kept, bytes + to_spare - kept);
    return block;
}
// MAP_FAILED if there is no room.
void* map_file(std::size_t bytes) {
    const int file = file_with(bytes);
    if (file < 0) return MAP_FAILED;
    void* const block = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ::close(file);
    return block;
}

void* map_long_block(std::size_t wanted) {
    const std::size_t bytes = wanted + sizeof(BlockHeader);
    if (bytes < wanted) throw std::bad_alloc();
    const bool fits = bytes_in_memory.load() + bytes <= kMostBytesInMemory;
    void* block = fits ? map_memory(bytes, kLeftForOthers) : MAP_FAILED;
    bool in_memory = block != MAP_FAILED;
    if (!in_memory) block = map_file(bytes);
    if (block == MAP_FAILED) {
        block = map_memory(bytes, 0);
        in_memory = true;
    }
    if (block == MAP_FAILED) throw std::bad_alloc();
    auto* const header = static_cast<BlockHeader*>(block);
    header->in_memory = in_memory;
    if (in_memory) bytes_in_memory += bytes;
    return header + 1;
}

void unmap_long_block(void* block, std::size_t wanted) noexcept {
    BlockHeader* const header = static_cast<BlockHeader*>(block) - 1;
    const std::size_t bytes = wanted + sizeof(BlockHeader);
    if (header->in_memory) bytes_in_memory -= bytes;
    ::munmap(header, bytes);
}

}  // namespace

void* allocate_block(std::size_t bytes) {
    if (bytes >= kLongBlock) return map_long_block(bytes);
    void* const block = ::operator new(bytes);
    bytes_in_memory += bytes;
    return block;
}

void free_block(void* block, std::size_t bytes) noexcept {
    if (bytes >= kLongBlock) return unmap_long_block(block, bytes);
    bytes_in_memory -= bytes;
    ::operator delete(block);
}

std::size_t room_for_long_blocks() {
    struct statvfs room {};
    const int file = file_with(kLongBlock);
    if (file < 0 || ::fstatvfs(file, &room) != 0) room = {};
    if (file >= 0) ::close(file);
    return std::size_t{room.f_bavail} * room.f_frsize;
}

}  // namespace poe::trace
