// Recorder: writes one stream (format.hpp) that the daemon has created. Any number of threads may
// record at once. A record costs an atomic addition, reading the clock (trace_clock.hpp) and three
// stores to preallocated memory. Threads do not wait for each other, except for preallocation.
//
// The whole range of the file is mapped at once. Its memory is preallocated in chunks
// (posix_fallocate) before a record may be stored there, so a full disk is reported as an error
// instead of SIGBUS. When no more memory is available, recording stops permanently: the last
// preallocated record becomes kLost, `lost` in the header continues to count, and the program is
// not affected.
//
// Preallocation takes up to a millisecond per megabyte, so a thread does it in advance. The thread
// is started when a stream needs more than its first chunk. `room_` is set half a chunk before the
// end of the preallocated memory. A thread that records past `room_` wakes the preallocating thread
// and continues. If that thread is late, or does not exist, the recording thread preallocates
// itself.
//
//   Invariant: records below `preallocated_records_` are in preallocated memory. So is the record
//   at `preallocated_records_`, which is reserved for kLost. room_ <= preallocated_records_, and
//   they are equal when recording stops. Of the writers whose numbers do not fit, exactly one has a
//   first number of at most preallocated_records_ and a last number of at least
//   preallocated_records_; this one writes the kLost.
//
// When the disk is nearly full, the streams share the rest: a stream that notices this takes at
// most its share of what is left at that time. A task that records much then leaves room for tasks
// that record little, or later.
//
// A stream that wraps has all its memory preallocated from the start. A wrapping writer that is
// stopped for a whole lap may spoil one record.
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
#include "tracer/probe/call_lines.hpp"
#include "tracer/probe/format.hpp"
#include "tracer/probe/stream_file.hpp"
#include "tracer/probe/trace_clock.hpp"

namespace poe::trace {

// Returns how many of the `left` bytes of a nearly full disk one stream may take, if `sharers`
// streams grow on it. Empty: there is enough for all, so they need not share.
std::optional<std::uint64_t> share_of_rest(std::uint64_t left, std::uint32_t sharers) noexcept;

class Recorder {
  public:
    // Maps the stream at `path` and makes this process its writer. `on_lap` is called when a stream
    // that wraps has started again, so that its definitions can be repeated. It is called by the
    // thread that recorded, and may itself record. Throws Error. Null: another process is the
    // writer.
    static std::unique_ptr<Recorder> open(const std::string& path,
                                          std::function<void(Recorder&)> on_lap = {});
    ~Recorder();
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    // Any thread may call the following functions at any time, but signal handlers must not.

    // Records with the current time; the stamps of the arguments are ignored. Several records stay
    // together. At most kMostTogether. Rarely blocks (see above). False: the records are lost.
    bool record(const Record& record) noexcept {
        return record_all({&record, 1}, now()).has_value();
    }
    bool record(std::span<const Record> together) noexcept {
        return record_all(together, now()).has_value();
    }

    // The same; returns the number of the first record, or nothing if they are lost.
    std::optional<std::uint64_t> record_numbered(std::span<const Record> together) noexcept {
        return record_all(together, now());
    }

    // The same for events of the past: `time` is in ns since the stream's origin. The caller
    // records in the order of time.
    bool record_at(std::uint64_t time, std::span<const Record> together) noexcept {
        return record_all(together, time).has_value();
    }

    // Returns the record of this number if it is the last of the stream, otherwise null. For the
    // thread that has recorded it, in a stream that does not wrap.
    Record* last(std::uint64_t number) noexcept {
        return header_->reserved.load(std::memory_order_relaxed) == number + 1 ? &records_[number]
                                                                               : nullptr;
    }
    // Replaces a record that last() has returned; its time stays. If the process is killed
    // meanwhile, the record is a hole.
    static void replace(Record& place, const Record& record) noexcept {
        const std::uint64_t stamp = place.stamp;
        make_hole(place);
        commit(place, record, stamp);
    }

    // ns since the stream's origin.
    std::uint64_t now() noexcept { return clock_.now() - origin_; }
    // Returns the lines of calls that this stream defines.
    CallLines& call_lines() noexcept { return call_lines_; }
    bool full() const noexcept { return full_.load(std::memory_order_relaxed); }
    const StreamHeader& header() const noexcept { return *header_; }

    static constexpr std::size_t kMostTogether = 1024;

  private:
    Recorder(UniqueFd file, std::byte* memory, std::size_t bytes,
             std::function<void(Recorder&)> on_lap);
    std::optional<std::uint64_t> record_all(std::span<const Record> together,
                                            std::uint64_t time) noexcept;
    bool make_room(std::uint64_t first, std::uint64_t end) noexcept;
    bool preallocate(std::size_t upto) noexcept;
    bool preallocate_chunk() noexcept;
    std::size_t may_have() noexcept;
    void ask_ahead() noexcept;
    void work_ahead() noexcept;
    void lose(std::uint64_t first, std::uint64_t count) noexcept;
    void begin_lap(std::uint64_t lap) noexcept;
    static void make_hole(Record& place) noexcept;
    static void commit(Record& place, const Record& record, std::uint64_t stamp) noexcept;

    // Read at every record.
    StreamHeader* header_;
    Record* records_;
    std::uint64_t origin_;
    std::uint64_t capacity_;
    bool wraps_;
    TraceClock clock_;
    std::atomic<bool> full_{false};
    std::atomic<std::uint64_t> room_{0};
    std::atomic<std::uint64_t> lap_{0};

    CallLines call_lines_;

    std::size_t mapped_bytes_;
    std::mutex mutex_;
    // Protected by the mutex.
    std::size_t had_bytes_ = 0;  // preallocated bytes, from the start of the file
    std::uint64_t preallocated_records_ = 0;
    std::optional<std::uint64_t> most_bytes_;  // limit of the file size if the disk is nearly full
    std::optional<pthread_t> ahead_;
    bool ahead_failed_ = false;
    bool portion_wanted_ = false;
    bool closing_ = false;
    std::condition_variable wake_ahead_;
    UniqueFd file_;
    std::function<void(Recorder&)> on_lap_;
    std::atomic<Record*> lost_record_{nullptr};
};

// Before a record is replaced, so that a reader does not see parts of both.
inline void Recorder::make_hole(Record& place) noexcept {
    std::atomic_ref(place.stamp).store(0, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
}

inline void Recorder::commit(Record& place, const Record& record, std::uint64_t stamp) noexcept {
    // The second word of a record holds everything except the stamp and `b`.
    std::uint64_t middle = 0;
    std::memcpy(&middle, reinterpret_cast<const char*>(&record) + 8, sizeof middle);
    auto* words = reinterpret_cast<std::uint64_t*>(&place);
    std::atomic_ref(words[1]).store(middle, std::memory_order_relaxed);
    std::atomic_ref(words[2]).store(record.b, std::memory_order_relaxed);
    std::atomic_ref(words[0]).store(stamp, std::memory_order_release);
}

inline std::optional<std::uint64_t> Recorder::record_all(std::span<const Record> together,
                                                         std::uint64_t time) noexcept {
    const std::uint64_t count = together.size();
    if (full()) [[unlikely]] {
        lose(~std::uint64_t{0}, count);
        return std::nullopt;
    }
    const std::uint64_t first = header_->reserved.fetch_add(count, std::memory_order_relaxed);
    if (first + count > room_.load(std::memory_order_acquire)) [[unlikely]]
        if (!make_room(first, first + count)) return std::nullopt;
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
        Record& place = records_[at - lap * capacity_];
        if (lap > 0) make_hole(place);
        commit(place, record, make_stamp(lap, time));
        ++at;
    }
    if (new_lap) [[unlikely]]
        begin_lap(lap);
    return first;
}

}  // namespace poe::trace
