// The rarely used parts of a recorder: opening a stream, preallocation, the end. See recorder.hpp.
#include "tracer/probe/recorder.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <limits>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <utility>

#include "base/error.hpp"

namespace poe::trace {
namespace {

constexpr std::size_t kStep = std::size_t{1} << 20;  // chunk size of preallocation
constexpr std::size_t kPageBytes = 4096;
constexpr std::uint64_t kAhead = kStep / 2 / sizeof(Record);
constexpr std::size_t kAheadStack = std::size_t{128} << 10;

std::size_t whole_pages(std::size_t bytes) {
    return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
}

// Returns the limit of file sizes; growing a file beyond it would end in SIGXFSZ.
std::size_t largest_file() {
    rlimit limit = {};
    if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return std::numeric_limits<std::size_t>::max();
    return limit.rlim_cur;
}

const char* fault_of(const StreamHeader& header) {
    if (header.magic != kMagic || header.version != kVersion || header.byte_order != kByteOrder)
        return "it is no trace stream of this version";
    if (header.header_bytes != kHeaderBytes || header.record_bytes != sizeof(Record) ||
        header.capacity < 2 || header.capacity > (std::uint64_t{1} << 40))
        return "its header is damaged";
    return nullptr;
}

}  // namespace

std::optional<std::uint64_t> share_of_rest(std::uint64_t left, std::uint32_t sharers) noexcept {
    constexpr std::uint64_t kReserved = std::uint64_t{16} << 20;  // per stream
    if (sharers < 2 || left / sharers >= kReserved) return std::nullopt;
    return left / sharers;
}

Recorder::Recorder(UniqueFd file, std::byte* memory, std::size_t bytes,
                   std::function<void(Recorder&)> on_lap)
    : header_(reinterpret_cast<StreamHeader*>(memory)),
      records_(reinterpret_cast<Record*>(memory + kHeaderBytes)),
      origin_(header_->origin),
      capacity_(header_->capacity),
      wraps_(header_->wraps != 0),
      mapped_bytes_(bytes),
      had_bytes_(kHeaderBytes),
      file_(std::move(file)),
      on_lap_(std::move(on_lap)) {}

Recorder::~Recorder() {
    std::optional<pthread_t> thread;
    {
        const std::scoped_lock lock(mutex_);
        closing_ = true;
        thread = ahead_;
    }
    wake_ahead_.notify_one();
    if (thread) ::pthread_join(*thread, nullptr);
    ::munmap(static_cast<void*>(header_), mapped_bytes_);
}

std::unique_ptr<Recorder> Recorder::open(const std::string& path,
                                         std::function<void(Recorder&)> on_lap) {
    UniqueFd file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
    if (!file) throw_errno("cannot open the trace stream " + path);
    struct stat status = {};
    StreamHeader header;
    if (::fstat(file.get(), &status) != 0 || status.st_uid != ::geteuid() ||
        ::pread(file.get(), static_cast<void*>(&header), sizeof header, 0) != sizeof header)
        throw Error("cannot use the trace stream " + path + ": it is cut off, or not ours");
    if (const char* fault = fault_of(header))
        throw Error("cannot use the trace stream " + path + ": " + fault);
    const std::size_t bytes = whole_pages(kHeaderBytes + header.capacity * sizeof(Record));
    void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    if (memory == MAP_FAILED)
        throw_errno("cannot map the trace stream " + path + " (" + std::to_string(bytes) +
                    " bytes; is there a limit on address space? `ulimit -v`)");
    std::unique_ptr<Recorder> recorder(
        new Recorder(std::move(file), static_cast<std::byte*>(memory), bytes, std::move(on_lap)));
    std::int64_t nobody = 0;
    if (!std::atomic_ref(recorder->header_->process).compare_exchange_strong(nobody, ::getpid()))
        return nullptr;
    if (recorder->wraps_) {
        if (!recorder->preallocate(bytes))
            throw Error("cannot have " + std::to_string(bytes) + " bytes for the trace stream " +
                        path +
                        "; is its disk full? Choose another with -tmpdir, or a smaller "
                        "-tbuffsize");
        recorder->room_.store(std::numeric_limits<std::uint64_t>::max(), std::memory_order_release);
    }
    return recorder;
}

// Preallocates up to byte `upto`. Precondition: the mutex is locked, or recording has not begun.
bool Recorder::preallocate(std::size_t upto) noexcept {
    if (upto > largest_file()) return false;
    int fault = EINTR;
    while (fault == EINTR)
        fault = ::posix_fallocate(file_.get(), static_cast<off_t>(had_bytes_),
                                  static_cast<off_t>(upto - had_bytes_));
    if (fault != 0) return false;
    // Saves a page fault every 170 records. If the system does not support it, the records take the
    // faults.
    ::madvise(reinterpret_cast<std::byte*>(header_) + had_bytes_, upto - had_bytes_,
              MADV_POPULATE_WRITE);
    had_bytes_ = upto;
    return true;
}

// Returns the largest size in bytes that the file may have. Precondition: the mutex is locked.
std::size_t Recorder::may_have() noexcept {
    if (!most_bytes_) {
        struct statvfs disk = {};
        if (::fstatvfs(file_.get(), &disk) != 0) return mapped_bytes_;
        const auto share =
            share_of_rest(std::uint64_t{disk.f_bavail} * disk.f_frsize, header_->sharers);
        if (!share) return mapped_bytes_;
        most_bytes_ = had_bytes_ + *share / kPageBytes * kPageBytes;
    }
    return static_cast<std::size_t>(*most_bytes_);
}

// Preallocates one chunk. Precondition: the mutex is locked. False: the stream or the disk is full.
bool Recorder::preallocate_chunk() noexcept {
    const std::size_t next = std::min({had_bytes_ + kStep, mapped_bytes_, may_have()});
    if (next == had_bytes_ || !preallocate(next)) return false;
    preallocated_records_ =
        std::min<std::uint64_t>((had_bytes_ - kHeaderBytes) / sizeof(Record), capacity_) - 1;
    const std::uint64_t early = preallocated_records_ - std::min(preallocated_records_, kAhead);
    room_.store(std::max(early, room_.load(std::memory_order_relaxed)), std::memory_order_release);
    return true;
}

[[gnu::cold]] bool Recorder::make_room(std::uint64_t first, std::uint64_t end) noexcept {
    const std::scoped_lock lock(mutex_);
    while (end > preallocated_records_ && !full())
        if (!preallocate_chunk()) full_.store(true, std::memory_order_relaxed);
    if (full() || end > room_.load(std::memory_order_relaxed)) {
        room_.store(preallocated_records_, std::memory_order_release);
        if (!full()) ask_ahead();
    }
    if (end <= preallocated_records_) return true;
    lose(first, end - first);
    return false;
}

// Precondition: the mutex is locked. The thread blocks all signals, because only the program's
// threads handle them.
void Recorder::ask_ahead() noexcept {
    portion_wanted_ = true;
    if (!ahead_ && !ahead_failed_) {
        sigset_t all;
        sigset_t before;
        ::sigfillset(&all);
        pthread_attr_t attributes;
        ::pthread_attr_init(&attributes);
        ::pthread_attr_setstacksize(&attributes, kAheadStack);
        ::pthread_sigmask(SIG_SETMASK, &all, &before);
        pthread_t thread = {};
        const auto work = [](void* recorder) -> void* {
            static_cast<Recorder*>(recorder)->work_ahead();
            return nullptr;
        };
        ahead_failed_ = ::pthread_create(&thread, &attributes, work, this) != 0;
        if (!ahead_failed_) ahead_ = thread;
        ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
        ::pthread_attr_destroy(&attributes);
    }
    wake_ahead_.notify_one();
}

// A failure to preallocate is not reported here; the thread that needs the memory finds out.
void Recorder::work_ahead() noexcept {
    std::unique_lock lock(mutex_);
    for (;;) {
        wake_ahead_.wait(lock, [this] { return portion_wanted_ || closing_; });
        if (closing_) return;
        portion_wanted_ = false;
        if (!full()) preallocate_chunk();
    }
}

[[gnu::cold]] void Recorder::lose(std::uint64_t first, std::uint64_t count) noexcept {
    const std::uint64_t lost = header_->lost.fetch_add(count, std::memory_order_relaxed) + count;
    // If true, the mutex is locked, because only make_room passes such a small number.
    if (first <= room_.load(std::memory_order_relaxed) && preallocated_records_ > 0) {
        Record& place = records_[first];
        commit(place, {.kind = Kind::kLost, .b = lost}, make_stamp(0, now()));
        lost_record_.store(&place, std::memory_order_release);
        return;
    }
    Record* place = lost_record_.load(std::memory_order_acquire);
    if (place == nullptr) return;
    std::atomic_ref known(place->b);
    std::uint64_t before = known.load(std::memory_order_relaxed);
    while (before < lost && !known.compare_exchange_weak(before, lost, std::memory_order_relaxed)) {
    }
}

[[gnu::cold]] void Recorder::begin_lap(std::uint64_t lap) noexcept {
    std::uint64_t known = lap_.load(std::memory_order_relaxed);
    while (known < lap)
        if (lap_.compare_exchange_weak(known, lap, std::memory_order_relaxed)) {
            if (on_lap_) on_lap_(*this);
            return;
        }
}

}  // namespace poe::trace
