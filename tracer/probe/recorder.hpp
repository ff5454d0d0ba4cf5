// Recorder: writes one stream (format.hpp) that the daemon has made. Any number of threads record
// at once; none waits for another, and a record costs an atomic addition, the clock and three
// stores to memory that is there already.
//
// The whole range of the file is mapped at once, and its memory is had in steps (posix_fallocate)
// before a record may lie there: a disk that is full is then an answer of a system call, and never
// a SIGBUS. When there is no more, recording stops for good: the last place that was had says so
// (kLost), `lost` in the header goes on counting, and the program does not notice.
//
// To have memory takes up to a millisecond for each megabyte. A thread, made when a stream has
// become long enough to need more than its first portion, does it ahead: `room_` ends half a
// portion early, whoever passes that wakes the thread, and goes on. When the thread is late, or
// there is none, the recording thread has its memory itself.
//
//   Invariant: a record below `had_room_` lies in memory that was had; the one at it, too, and it
//   is kept for kLost. room_ <= had_room_, and when recording stops they are the same. Of the
//   writers whose numbers do not fit, exactly one has a first number not above it and a last one at
//   it or above: that one writes the kLost.
//
// When the disk is nearly full, what is left of it is shared: a stream that notices this takes no
// more than its part of what is left then, so that a task which records much leaves room for those
// which record little, or later.
//
// A stream that wraps has all its memory from the start. A wrapping writer that is stopped for a
// whole lap may spoil one record.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <pthread.h>
#include <span>
#include <string>

#include "base/unique_fd.hpp"
#include "tracer/probe/format.hpp"
#include "tracer/probe/stream_file.hpp"

namespace poe::trace {

// When the disk is nearly full: how much of what is left one of so many streams that grow on it may
// take. Nothing: there is enough for all of them, and no need to share.
std::optional<std::uint64_t> share_of_rest(std::uint64_t left, std::uint32_t sharers) noexcept;

class Recorder {
  public:
    // Maps the stream at `path` and makes this process the one that writes it. `on_lap`: a stream
    // that wraps has begun again, and what it defines is to be said once more; called by the thread
    // that recorded, and may record itself. Throws Error. Null: another process writes it already.
    static std::unique_ptr<Recorder> open(const std::string& path,
                                          std::function<void(Recorder&)> on_lap = {});
    ~Recorder();
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    // Everything below may be called by any thread at any time, but not by signal handlers.

    // Records with the time of now; the stamps of what is given do not matter. Several stay
    // together. False: they are lost. At most kMostTogether.
    bool record(const Record& record) noexcept { return record_all({&record, 1}, now()); }
    bool record(std::span<const Record> together) noexcept { return record_all(together, now()); }

    // ns since the stream's origin.
    std::uint64_t now() const noexcept { return monotonic_ns() - origin_; }
    bool full() const noexcept { return full_.load(std::memory_order_relaxed); }
    const StreamHeader& header() const noexcept { return *header_; }

    static constexpr std::size_t kMostTogether = 1024;

  private:
    Recorder(UniqueFd file, std::byte* memory, std::size_t bytes,
             std::function<void(Recorder&)> on_lap);
    bool record_all(std::span<const Record> together, std::uint64_t time) noexcept;
    bool make_room(std::uint64_t first, std::uint64_t end) noexcept;
    bool have_memory(std::size_t upto) noexcept;
    bool have_portion() noexcept;
    std::size_t may_have() noexcept;
    void ask_ahead() noexcept;
    void work_ahead() noexcept;
    void lose(std::uint64_t first, std::uint64_t count) noexcept;
    void begin_lap(std::uint64_t lap) noexcept;
    static void commit(Record& place, const Record& record, std::uint64_t stamp) noexcept;

    // Read by every record.
    StreamHeader* header_;
    Record* records_;
    std::uint64_t origin_;
    std::uint64_t capacity_;
    bool wraps_;
    std::atomic<bool> full_{false};
    std::atomic<std::uint64_t> room_{0};
    std::atomic<std::uint64_t> lap_{0};

    std::size_t mapped_bytes_;
    std::mutex mutex_;
    // Under the mutex.
    std::size_t had_bytes_ = 0;  // from the start of the file
    std::uint64_t had_room_ = 0;
    std::optional<std::uint64_t> most_bytes_;  // of the file, since the disk is nearly full
    std::optional<pthread_t> ahead_;
    bool ahead_failed_ = false;
    bool portion_wanted_ = false;
    bool closing_ = false;
    std::condition_variable wake_ahead_;
    UniqueFd file_;
    std::function<void(Recorder&)> on_lap_;
    std::atomic<Record*> lost_record_{nullptr};
};

inline void Recorder::commit(Record& place, const Record& record, std::uint64_t stamp) noexcept {
    // The second word of a record holds what is neither stamp nor `b`.
    std::uint64_t middle = 0;
    std::memcpy(&middle, reinterpret_cast<const char*>(&record) + 8, sizeof middle);
    auto* words = reinterpret_cast<std::uint64_t*>(&place);
    std::atomic_ref(words[1]).store(middle, std::memory_order_relaxed);
    std::atomic_ref(words[2]).store(record.b, std::memory_order_relaxed);
    std::atomic_ref(words[0]).store(stamp, std::memory_order_release);
}

inline bool Recorder::record_all(std::span<const Record> together, std::uint64_t time) noexcept {
    const std::uint64_t count = together.size();
    if (full()) [[unlikely]] {
        lose(~std::uint64_t{0}, count);
        return false;
    }
    const std::uint64_t first = header_->reserved.fetch_add(count, std::memory_order_relaxed);
    if (first + count > room_.load(std::memory_order_acquire)) [[unlikely]]
        if (!make_room(first, first + count)) return false;
    std::uint64_t lap = 0;
    std::uint64_t at = first;
    bool new_lap = false;
    for (const Record& record : together) {
        if (wraps_) {
            lap = lap_.load(std::memory_order_relaxed);
            if (at - lap * capacity_ >= capacity_) [[unlikely]] {
                new_lap = new_lap || at / capacity_ > lap;
                lap = at / capacity_;
            }
        }
        commit(records_[at - lap * capacity_], record, make_stamp(lap, time));
        ++at;
    }
    if (new_lap) [[unlikely]]
        begin_lap(lap);
    return true;
}

}  // namespace poe::trace
