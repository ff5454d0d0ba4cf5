// TcpDevice: the device for tasks of other nodes, and of the same node with MP_EUILIB=ip. It
// creates TCP pipes, has each connected at its first frame (tcp_connector.hpp), polls them, and is
// the place where a task with connections sleeps.
//
// Polling. With at most kFewPipes connections, poll() reads from each socket itself, so the poll
// that finds a message also fetches it. With more connections it calls epoll once for all. New
// connections and handshakes always go through epoll, in every kRoundEvery-th poll. If the task
// also uses shared memory, only every kShareOfLooks-th call polls, unless the last one found
// something or the task has just slept, because a poll costs a system call, and a poll of shared
// memory a hundredth of that.
//
// Sleeping is epoll_wait over the listener, the connections and, if the task also uses shared
// memory, a FIFO (wake_fifo.hpp). No wake-up is lost: sockets and FIFO are level-triggered, so
// anything that arrived between the last poll and epoll_wait ends the sleep at once; for shared
// memory see wait.hpp. Writability is watched only during a sleep, and only for sockets with
// pending output.
//
// Multicast. The sockets of multicast (multicast_endpoint.hpp) are watched by the same epoll and
// polled with the connections: always while a multicast is in progress and after a sleep, otherwise
// as rarely as new connections.
//
// Task end. A message that a blocking send has passed to MPL must arrive although the task exits.
// finish_sending() returns true when the pipes hold no more output and the other ends' systems have
// acknowledged everything that was sent, including the end of the stream (SIOCOUTQ is 0). After
// that, closing loses nothing. The system sends a reset when it closes a socket with unread data
// (token returns that no task will need), but a reset does not take back what has arrived at the
// other end.
#pragma once

#include <array>
#include <chrono>
#include <memory>
#include <span>
#include <sys/epoll.h>
#include <utility>
#include <vector>

#include "base/segment/node_segment.hpp"
#include "comm/matching/pipe.hpp"
#include "comm/multicast/multicast_endpoint.hpp"
#include "comm/progress/wait.hpp"
#include "comm/tcp/connection_use.hpp"
#include "comm/tcp/tcp_connector.hpp"
#include "comm/tcp/tcp_peers.hpp"
#include "comm/tcp/tcp_pipe.hpp"

namespace poe::comm {

// For one thread. The segment must outlive the device.
class TcpDevice final : public Device,
                        public SleepPlace,
                        private TcpPipeHost,
                        private TcpConnectorEvents {
  public:
    // Takes ownership of the task's listening socket. `beside_shared_memory`: the task also has a
    // shared-memory device, whose senders must be able to wake it. Throws Error.
    TcpDevice(const NodeSegment& segment, TaskId me, UniqueFd listener, Bytes token_capacity,
              bool beside_shared_memory);
    ~TcpDevice() override;

    // Adds a link (tcp_peers.hpp). `token_capacities` has that of the pipe to each new task.
    void add(TcpLink link, std::span<const Bytes> token_capacities);
    std::pair<NodeAddress, std::uint16_t> listens_at() const;

    Pipe& pipe_to(TaskId peer) override;
    bool poll(PipeSink& sink) override;

    // SleepPlace: sleep() blocks until a socket or a task of this node has something, at most
    // `limit`. It returns at once if the last sleep has found something and poll() has not been
    // called since.
    void sleep(std::chrono::nanoseconds limit) noexcept override;
    int prepare_sleep(std::chrono::nanoseconds& limit) noexcept override;

    // The task's endpoint for multicast, made at the first call. Null: the system refuses it, or it
    // was given up; `why`, if not null, gets the reason then.
    MulticastEndpoint* multicast(std::string* why = nullptr);
    // Records that multicast does not work here. Groups that are open stay open.
    void give_up_multicast(const std::string& why) { no_multicast_ = why; }

    // Sleeps as sleep() does, but multicast that arrives does not wake the task; the next poll()
    // reads it. Precondition: multicast() has returned an endpoint.
    void sleep_through_multicast(std::chrono::nanoseconds limit);

    // Returns what each connection has sent so far. Makes one system call per connection.
    std::vector<ConnectionUse> use_of_connections() const;

    // For the end of the task; nothing can be sent afterwards. Returns true if everything that was
    // sent has arrived at the other tasks' systems, or never will. Call it alternately with poll()
    // until it does. Does not block; makes a system call per connection.
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
    bool poll_multicast();
    void watch_datagrams(int operation);
    void watch_multicast(int operation, bool input);
    void retire(TcpPipe& pipe);
    void watch(TcpPipe& pipe, int operation, bool output) const;
    void empty_fifo() noexcept;

    const NodeSegment& segment_;
    const TaskId me_;
    const Bytes token_capacity_;                // of pipes to tasks of the own job
    std::vector<Bytes> guests_token_capacity_;  // of pipes to guests
    const bool beside_shared_memory_;
    UniqueFd epoll_;
    UniqueFd fifo_;
    TcpPeers peers_;
    std::unique_ptr<TcpConnector> connector_;
    std::unique_ptr<MulticastEndpoint> multicast_;  // null until it is wanted
    std::string no_multicast_;                      // why there is none; empty: none was refused
    bool datagrams_due_ = false;                    // the task has slept since the last poll
    bool watches_room_ = false;                     // of the socket that sends datagrams
    std::vector<std::unique_ptr<TcpPipe>> pipes_;   // indexed by task; owns them
    std::vector<TcpPipe*> open_;
    std::vector<TcpPipe*> buffered_;  // may have input that needs no system call
    std::vector<TcpPipe*> waiting_;   // may have output that waits for room
    std::vector<TcpPipe*> round_;     // the list being processed
    std::array<epoll_event, 64> events_{};
    int event_count_ = 0;  // events of the last sleep that are not processed yet
    std::uint32_t looks_ = 0;
    std::uint32_t skipped_ = 0;
    bool changed_ = false;  // a connection was made or failed: the message layer must try again
};

// Returns the listening socket that pmd has created for this task. Throws Error if it is closed.
UniqueFd inherited_listener(const NodeSegment& segment, TaskId me);

}  // namespace poe::comm
