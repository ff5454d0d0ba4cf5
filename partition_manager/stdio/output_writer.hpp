// OutputWriter: one of poe's own outputs, written by a thread of its own, so that a reader that is
// slow, or stopped, holds up nothing else: not the other stream, not control, not a kill. The
// descriptor stays blocking: it is shared with the shell and others.
//
// Handed over with a mutex and a condition variable; the loop's thread appends to one buffer while
// the writer's thread empties the other.
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
    // `fd` is not owned. `on_progress` is called from the writer's thread after each write and at
    // the first error; it must only post to a loop.
    OutputWriter(int fd, std::function<void()> on_progress);
    // Waits for what is queued unless an error came up; see abandon().
    ~OutputWriter();

    OutputWriter(const OutputWriter&) = delete;
    OutputWriter& operator=(const OutputWriter&) = delete;

    // Any thread: calls `fill` with the buffer to append to. Never blocks for output. After an
    // error everything is thrown away.
    template <typename Fill>
    void append(Fill fill) {
        const std::lock_guard lock(mutex_);
        fill(pending_);
        announce();
    }

    // Bytes appended and not yet written.
    std::size_t backlog() const;
    // errno of the write that failed, 0 while all is well. EPIPE: nobody reads any more.
    int error() const;
    // Waits until at most `limit` bytes are left to write, or an error came; false when `stop`,
    // asked every few milliseconds, said so first.
    bool wait_until_below(std::size_t limit, const std::function<bool()>& stop);
    // Gives up on what is not written: the reader does not read, and the program must end. Only
    // _exit may follow; the thread may hang in its write for ever.
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
