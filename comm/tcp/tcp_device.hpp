// TcpDevice: the device for tasks of other nodes, and of the same one with MP_EUILIB=ip. It makes
// TCP pipes, has them connected at their first frame (tcp_connector.hpp), finds out which of them
// have something to read, and is where a task with connections sleeps.
//
// Looking. With at most kFewPipes connections poll() asks each socket itself: the look that finds a
// message is the one that fetches it. With more it asks epoll, once for all. New connections and
// handshakes are epoll's in both cases, in every kRoundEvery-th look. Beside shared memory only
// every kShareOfLooks-th look is one, unless the last found something or the task has just slept:
// a look costs a system call, one into shared memory a hundredth of that.
//
// Sleeping is epoll_wait over listener, connections and, when there are neighbours in shared
// memory, a FIFO (wake_fifo.hpp). Nothing is missed: sockets and FIFO are watched by level, so what
// arrived between the last look and epoll_wait ends it at once; for shared memory see wait.hpp.
// Writability is watched only while asleep and only where output waits.
//
// The end. What a blocking send has handed over must arrive although the task exits.
// finish_sending() says when: nothing is kept in the pipes, and the other ends' systems have
// acknowledged all that was sent, and the end of it (SIOCOUTQ is 0). From then on closing loses
// nothing: a reset, which the system sends when it closes a socket that has unread data (token
// returns that nobody will need), does not take back what has arrived at the other end.
#pragma once

#include <array>
#include <chrono>
#include <memory>
#include <sys/epoll.h>
#include <vector>

#include "base/segment/node_segment.hpp"
#include "comm/matching/pipe.hpp"
#include "comm/progress/wait.hpp"
#include "comm/tcp/tcp_connector.hpp"
#include "comm/tcp/tcp_pipe.hpp"

namespace poe::comm {

// For one thread. The segment must outlive it.
class TcpDevice final : public Device,
                        public SleepPlace,
                        private TcpPipeHost,
                        private TcpConnectorEvents {
  public:
    // Takes over the task's listening socket, which pmd made. `beside_shared_memory`: the task also
    // has a shared-memory device, whose senders must be able to wake it. Throws Error.
    TcpDevice(const NodeSegment& segment, TaskId me, Bytes token_capacity,
              bool beside_shared_memory);
    ~TcpDevice() override;

    Pipe& pipe_to(TaskId peer) override;
    bool poll(PipeSink& sink) override;

    // SleepPlace: blocks until a socket or a neighbour has something, or for `limit`.
    void sleep(std::chrono::nanoseconds limit) noexcept override;
    int prepare_sleep(std::chrono::nanoseconds& limit) noexcept override;

    // For the task's end; nothing can be sent any more. Answers whether everything that was sent
    // has arrived at the other tasks' systems, or never will; to be called with poll() until it
    // has. Makes a system call per connection.
    bool finish_sending();

  private:
    static constexpr std::size_t kFewPipes = 4;
    static constexpr std::uint32_t kRoundEvery = 64;
    static constexpr std::uint32_t kShareOfLooks = 8;

    void want_connection(TcpPipe& pipe) override;
    void want_room(TcpPipe& pipe) override;
    void on_connection(TaskId peer, UniqueFd fd) override;
    void on_no_connection(TaskId peer, const std::string& why) override;

    TcpPipe& tcp_pipe(TaskId peer);
    bool deliver(TcpPipe& pipe, PipeSink& sink);
    bool look_at(TcpPipe& pipe, PipeSink& sink);
    bool look_at_all(PipeSink& sink);
    bool look_at_events(PipeSink& sink);
    bool deliver_buffered(PipeSink& sink);
    bool flush_waiting();
    void retire(TcpPipe& pipe);
    void watch(TcpPipe& pipe, int operation, bool output) const;
    void empty_fifo() noexcept;

    const NodeSegment& segment_;
    const TaskId me_;
    const Bytes token_capacity_;
    const bool beside_shared_memory_;
    UniqueFd epoll_;
    UniqueFd fifo_;
    std::unique_ptr<TcpConnector> connector_;
    std::vector<std::unique_ptr<TcpPipe>> pipes_;  // by task
    std::vector<TcpPipe*> open_;
    std::vector<TcpPipe*> buffered_;  // with input that needs no system call, and some without
    std::vector<TcpPipe*> waiting_;   // with output that needs room, and some without
    std::vector<TcpPipe*> round_;     // the list being worked on
    std::array<epoll_event, 64> events_{};
    int event_count_ = 0;  // told by a sleep, not yet looked at
    std::uint32_t looks_ = 0;
    std::uint32_t skipped_ = 0;
    bool changed_ = false;  // a connection came or failed: the message layer should try again
};

}  // namespace poe::comm
