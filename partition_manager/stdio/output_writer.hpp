// OutputWriter: one of poe's own outputs. A separate thread writes it, so a reader that is slow or
// stopped does not delay the other stream, control messages or a kill. The descriptor stays
// blocking, because the shell and other processes share it.
//
// Data is handed over with a mutex and a condition variable: the event loop's thread appends to one
// buffer while the writer's thread empties the other.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace poe::pm {

class OutputWriter {
  public:
    // `fd` is not owned. The writer's thread calls `on_progress` after each write and at the first
    // error; it must only post to an event loop.
    OutputWriter(int fd, std::function<void()> on_progress);
    // Blocks until everything queued is written, unless an error has occurred; see abandon().
    ~OutputWriter();

    OutputWriter(const OutputWriter&) = delete;
    OutputWriter& operator=(const OutputWriter&) = delete;

    // Any thread may call it. Calls `fill` with the buffer to append to. Never blocks on the
    // output. After an error all data is discarded.
    template <typename Fill>
    void append(Fill fill) {
        const std::lock_guard lock(mutex_);
        fill(pending_);
        announce();
    }

    // Number of bytes that have been appended but not yet written.
    std::size_t backlog() const;
    // errno of the write that failed; 0 if none has. EPIPE: there is no reader any more.
    int error() const;
    // Blocks until at most `limit` bytes are left to write, or until an error occurs. Calls `stop`
    // every few milliseconds; if it returns true, returns false.
    bool wait_until_below(std::size_t limit, const std::function<bool()>& stop);
    // Gives up on unwritten data because the reader does not read and the program must end. Only
    // _exit may follow, because the thread may block in its write forever.
    void abandon();

  private:
    void announce();
    void work();
    bool write_piece(const std::string& text, std::size_t& at);

    int fd_;
    std::function<void()> on_progress_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::string pending_;      // guarded by mutex_
    std::size_t writing_ = 0;  // bytes taken by the thread, not yet written; guarded by mutex_
    int error_ = 0;            // guarded by mutex_
    bool stop_ = false;        // guarded by mutex_
    bool idle_ = false;        // the thread waits for work; guarded by mutex_
    std::thread thread_;       // started with the first output
};

}  // namespace poe::pm
