// Transfers between files and memory; see transfer.hpp.
#include "mpi/file/transfer.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <memory>
#include <unistd.h>

#include "base/copy_block.hpp"
#include "base/copy_buffer.hpp"
#include "base/process_copy.hpp"

namespace poe::mpi {
namespace {

// The system moves at most this at a time.
constexpr Bytes kMostPerCall = Bytes{1} << 30;
// Pieces of a view from this length on are read and written by themselves.
constexpr Bytes kLongPiece = Bytes{64} << 10;
// If the file has more bytes than this for each byte that is wanted, gaps are not read.
constexpr std::int64_t kMostGaps = 16;
// Packed data are moved in portions of this size.
constexpr Bytes kPortion = Bytes{1} << 20;

// The way of contiguous bytes between the file and memory. From kLeastBuffered on, they go through
// a buffer if the kernel would copy them slowly between the memory and its own pages, in which they
// have the position that they have in the file.
class Way {
  public:
    Way(FileAccess access, const std::byte* memory, Bytes bytes, std::int64_t at) noexcept
        : buffered_(bytes >= kLeastBuffered && is_slow(access, memory, at)) {
        // Nothing is written to memory that is to be written to the file.
        const auto direction =
            access == FileAccess::kRead ? CopyDirection::kRead : CopyDirection::kWrite;
        if (buffered_ && !is_accessible(direction, const_cast<std::byte*>(memory), bytes))
            error_ = errno;
    }

    // Like pread and pwrite. A file that has no positions, such as a pipe, is read and written
    // where it is.
    ssize_t read_some(int descriptor, std::byte* to, Bytes bytes, std::int64_t at) noexcept {
        if (!buffered_) return read_directly(descriptor, to, bytes, at);
        if (fails()) return -1;
        CopyBuffer buffer(static_cast<std::uint64_t>(at));
        const Bytes wanted = std::min(bytes, CopyBuffer::kBytes);
        const ssize_t n = read_directly(descriptor, buffer.start(), wanted, at);
        if (n > 0) copy_block(to, buffer.start(), static_cast<Bytes>(n));
        return n;
    }
    ssize_t write_some(int descriptor, const std::byte* from, Bytes bytes,
                       std::int64_t at) noexcept {
        if (!buffered_) return write_directly(descriptor, from, bytes, at);
        if (fails()) return -1;
        CopyBuffer buffer(static_cast<std::uint64_t>(at));
        const Bytes given = std::min(bytes, CopyBuffer::kBytes);
        copy_block(buffer.start(), from, given);
        return write_directly(descriptor, buffer.start(), given, at);
    }

  private:
    static constexpr Bytes kLeastBuffered = 8192;

    static bool is_slow(FileAccess access, const std::byte* memory, std::int64_t at) noexcept {
        const auto place = reinterpret_cast<std::uintptr_t>(memory);
        const auto position = static_cast<std::uintptr_t>(at);
        return access == FileAccess::kRead ? delays_rep_movsb(place, position)
                                           : delays_rep_movsb(position, place);
    }
    static ssize_t read_directly(int descriptor, std::byte* to, Bytes bytes,
                                 std::int64_t at) noexcept {
        const ssize_t n = ::pread(descriptor, to, bytes, at);
        return n < 0 && errno == ESPIPE ? ::read(descriptor, to, bytes) : n;
    }
    static ssize_t write_directly(int descriptor, const std::byte* from, Bytes bytes,
                                  std::int64_t at) noexcept {
        const ssize_t n = ::pwrite(descriptor, from, bytes, at);
        return n < 0 && errno == ESPIPE ? ::write(descriptor, from, bytes) : n;
    }
    bool fails() const noexcept {
        errno = error_;
        return error_ != 0;
    }

    bool buffered_;
    int error_ = 0;  // of the memory
};

}  // namespace

// Moves one transfer. `position` is that of the next byte in the stream, `done` in the memory.
class FileMover {
  public:
    FileMover(const File& file, const Stream& stream, FileAccess access, Bytes position,
              const FileMemory& memory)
        : file_(file),
          hints_(file.hints),
          atomic_(file.atomic),
          writers_lock_(!atomic_ && writers_lock(file)),
          stream_(stream),
          access_(access),
          memory_(memory),
          position_(position),
          left_(memory.layout.size()) {}

    Transferred all() {
        if (left_ == 0) return {};
        std::int64_t first = 0;
        std::int64_t end = 0;  // 0: the end of the file
        if (stream_.ordered) {
            first = stream_.place(position_);
            end = stream_.place(position_ + left_ - 1) + 1;
        }
        const FileLock lock(file_, access_, first, end, atomic_);
        if (lock.fault()) return {0, lock.fault()};
        step(left_);
        return take_result();
    }
    // Moves about `most` bytes. Returns true if nothing is left to do.
    bool step(Bytes most) {
        const Bytes until = most < left_ ? result_.bytes + most : result_.bytes + left_;
        while (!is_over() && result_.bytes < until) {
            Bytes length = 0;
            const std::int64_t at = stream_.place(position_, length);
            length = std::min(length, left_);
            if (length == left_ || length >= kLongPiece || !stream_.ordered) {
                contiguous(at, std::min(length, until - result_.bytes));
            } else if (access_ == FileAccess::kRead) {
                read_pieces(at);
            } else {
                write_pieces(at);
            }
        }
        return is_over();
    }
    Transferred take_result() { return std::move(result_); }

  private:
    bool is_over() const noexcept { return left_ == 0 || ended_ || result_.fault; }
    // `moved` of `wanted` bytes were moved.
    void advance(const Transferred& part, Bytes wanted) {
        advance(part.bytes);
        if (part.fault) result_.fault = part.fault;
        if (part.bytes < wanted) ended_ = true;
    }
    void advance(Bytes bytes) {
        position_ += bytes;
        left_ -= bytes;
        result_.bytes += bytes;
    }
    std::byte* buffer(Bytes bytes) {
        if (buffer_bytes_ < bytes) {
            buffer_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
            buffer_bytes_ = bytes;
        }
        return buffer_.get();
    }
    std::byte* packed_buffer() {
        if (packed_ == nullptr) packed_ = std::make_unique_for_overwrite<std::byte[]>(kPortion);
        return packed_.get();
    }
    // The bytes [done, done + n) of the memory.
    void take(std::byte* to, Bytes n) const {
        memory_.layout.copy_out(memory_.base, result_.bytes, to, n);
    }
    void give(const std::byte* from, Bytes n) {
        memory_.layout.copy_in(memory_.base, result_.bytes, from, n);
    }

    Transferred write(const std::byte* from, Bytes bytes, std::int64_t at) const {
        return write_bytes(file_, from, bytes, at, writers_lock_);
    }

    // The next `length` bytes are contiguous in the file at `at`.
    void contiguous(std::int64_t at, Bytes length) {
        while (length > 0 && !ended_ && !result_.fault) {
            Bytes now = 0;
            std::byte* const direct = memory_.layout.piece(memory_.base, result_.bytes, now);
            if (now >= std::min(length, kLongPiece)) {
                now = std::min(now, length);
                advance(access_ == FileAccess::kRead ? read_bytes(file_, direct, now, at)
                                                     : write(direct, now, at),
                        now);
            } else {
                now = std::min(length, kPortion);
                std::byte* const portion = packed_buffer();
                if (access_ == FileAccess::kRead) {
                    const Transferred part = read_bytes(file_, portion, now, at);
                    give(portion, part.bytes);
                    advance(part, now);
                } else {
                    take(portion, now);
                    advance(write(portion, now, at), now);
                }
            }
            at += static_cast<std::int64_t>(now);
            length -= now;
        }
    }

    // The end of the stream's part that lies in the file before `at` + `bytes`, and where its last
    // byte is.
    Bytes part_within(std::int64_t at, std::int64_t bytes, std::int64_t& file_end) const {
        const Bytes end = stream_.find(at + bytes, position_, position_ + left_);
        Bytes length = 0;
        file_end = stream_.place(end - 1, length) + 1;
        return end;
    }

    void read_pieces(std::int64_t at) {
        std::int64_t file_end = 0;
        const Bytes end = part_within(at, hints_.read_buffer, file_end);
        const std::int64_t span = file_end - at;
        const auto wanted = static_cast<std::int64_t>(end - position_);
        const bool sieve = hints_.sieve_reads == Choice::kEnable ||
                           (hints_.sieve_reads == Choice::kAutomatic && span / wanted < kMostGaps);
        if (!sieve) return each_piece(end);
        std::byte* const all = buffer(static_cast<Bytes>(span));
        Transferred part = read_bytes(file_, all, static_cast<Bytes>(span), at);
        const Bytes got =
            part.bytes == static_cast<Bytes>(span)
                ? end
                : stream_.find(at + static_cast<std::int64_t>(part.bytes), position_, end);
        scatter(stream_.base_for(all, at), got);
        if (got < end) ended_ = true;
        if (part.fault) result_.fault = part.fault;
    }

    // From the file's bytes in memory, up to `end` of the stream, to the program's memory.
    void scatter(const std::byte* base, Bytes end) {
        while (position_ < end) {
            Bytes now = 0;
            std::byte* const direct = memory_.layout.piece(memory_.base, result_.bytes, now);
            now = std::min(now, end - position_);
            if (now >= std::min<Bytes>(end - position_, kPortion)) {
                stream_.layout.copy_out(base, position_, direct, now);
            } else {
                now = std::min(end - position_, kPortion);
                stream_.layout.copy_out(base, position_, packed_buffer(), now);
                give(packed_buffer(), now);
            }
            advance(now);
        }
    }

    void each_piece(Bytes end) {
        while (position_ < end && !ended_ && !result_.fault) {
            Bytes length = 0;
            const std::int64_t at = stream_.place(position_, length);
            contiguous(at, std::min(length, end - position_));
        }
    }

    void write_pieces(std::int64_t at) {
        std::int64_t file_end = 0;
        const Bytes end = part_within(at, hints_.write_buffer, file_end);
        if (hints_.sieve_writes != Choice::kEnable || !file_.readable()) return each_piece(end);
        const FileLock lock(file_, FileAccess::kWrite, at, file_end, writers_lock_);
        if (lock.fault()) {
            result_.fault = lock.fault();
            return;
        }
        const auto span = static_cast<Bytes>(file_end - at);
        std::byte* const all = buffer(span);
        const Transferred before = read_bytes(file_, all, span, at);
        if (before.fault) {
            result_.fault = before.fault;
            return;
        }
        std::fill(all + before.bytes, all + span, std::byte{0});
        std::byte* const base = stream_.base_for(all, at);
        const Bytes first = position_;
        Bytes done = 0;
        while (first + done < end) {
            const Bytes now = std::min(end - first - done, kPortion);
            memory_.layout.copy_out(memory_.base, result_.bytes + done, packed_buffer(), now);
            stream_.layout.copy_in(base, first + done, packed_buffer(), now);
            done += now;
        }
        const Transferred part = write_bytes(file_, all, span, at, false);
        const Bytes written =
            part.bytes == span
                ? end
                : stream_.find(at + static_cast<std::int64_t>(part.bytes), first, end);
        advance({written - first, part.fault}, end - first);
    }

    const File& file_;
    const FileHints hints_;
    const bool atomic_;
    const bool writers_lock_;  // and all() does not hold a lock already
    const Stream& stream_;
    FileAccess access_;
    const FileMemory& memory_;
    Bytes position_;
    Bytes left_;
    bool ended_ = false;
    Transferred result_;
    std::unique_ptr<std::byte[]> buffer_;
    Bytes buffer_bytes_ = 0;
    std::unique_ptr<std::byte[]> packed_;
};

Transfer::Transfer(const File& file, const Stream& stream, FileAccess access, Bytes position,
                   const FileMemory& memory)
    : mover_(std::make_unique<FileMover>(file, stream, access, position, memory)) {}
Transfer::~Transfer() = default;

Transferred Transfer::all() {
    return mover_->all();
}

bool Transfer::step(Bytes most) {
    return mover_->step(most);
}

Transferred Transfer::result() {
    return mover_->take_result();
}

Transferred read_bytes(const File& file, std::byte* to, Bytes bytes, std::int64_t at) {
    Transferred result;
    Way way(FileAccess::kRead, to, bytes, at);
    while (result.bytes < bytes) {
        const ssize_t n = way.read_some(file.descriptor.get(), to + result.bytes,
                                        std::min(bytes - result.bytes, kMostPerCall),
                                        at + static_cast<std::int64_t>(result.bytes));
        if (n == 0) break;
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            result.error = errno;
            result.fault = system_fault(result.error, "cannot read", file.name);
            break;
        }
        result.bytes += static_cast<Bytes>(n);
    }
    return result;
}

Transferred write_bytes(const File& file, const std::byte* from, Bytes bytes, std::int64_t at,
                        bool locks) {
    // Where the system has no locks, nobody writes gaps back, and none is needed.
    const FileLock lock(file, FileAccess::kWrite, at, at + static_cast<std::int64_t>(bytes), locks);
    Transferred result;
    Way way(FileAccess::kWrite, from, bytes, at);
    while (result.bytes < bytes) {
        const ssize_t n = way.write_some(file.descriptor.get(), from + result.bytes,
                                         std::min(bytes - result.bytes, kMostPerCall),
                                         at + static_cast<std::int64_t>(result.bytes));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            result.error = n < 0 ? errno : EIO;
            result.fault = system_fault(result.error, "cannot write to", file.name);
            break;
        }
        result.bytes += static_cast<Bytes>(n);
    }
    return result;
}

FileLock::FileLock(const File& file, FileAccess access, std::int64_t first, std::int64_t end,
                   bool needed) {
    if (!needed) return;
    threads_ = std::unique_lock(file.locking);
    struct flock what {};
    what.l_type = static_cast<short>(access == FileAccess::kRead ? F_RDLCK : F_WRLCK);
    what.l_whence = SEEK_SET;
    what.l_start = first;
    what.l_len = end == 0 ? 0 : end - first;
    int code = 0;
    do {
        code = ::fcntl(file.descriptor.get(), F_OFD_SETLKW, &what);
    } while (code < 0 && errno == EINTR);
    if (code < 0) {
        fault_ = system_fault(errno, "cannot lock", file.name);
        return;
    }
    descriptor_ = file.descriptor.get();
    first_ = first;
    end_ = end;
}

FileLock::~FileLock() {
    if (descriptor_ < 0) return;
    struct flock what {};
    what.l_type = F_UNLCK;
    what.l_whence = SEEK_SET;
    what.l_start = first_;
    what.l_len = end_ == 0 ? 0 : end_ - first_;
    ::fcntl(descriptor_, F_OFD_SETLK, &what);
}

}  // namespace poe::mpi
