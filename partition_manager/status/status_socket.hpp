// The states of all tasks of a job, requested from its poe. poestat reads the tasks of its own node
// from their segment; poe can ask the daemons of the other nodes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>

#include "partition_manager/channel/messages.hpp"
#include "partition_manager/status/job_socket.hpp"

namespace poe::pm {

// poe's side. Call only from the event loop's thread. No call blocks.
class StatusSocket {
  public:
    // `ask` sends a question to all daemons. If the socket cannot be created, the job runs without
    // it.
    StatusSocket(asio::io_context& loop, uid_t owner, const std::string& job, NodeIndex nodes,
                 std::function<void(AskTaskStates)> ask);

    // The answer of a node's daemon in a round of this object.
    void on_states(NodeIndex node, TaskStates states);

  private:
    struct Caller {
        explicit Caller(asio::io_context& loop) : socket(loop), timer(loop) {}
        asio::posix::stream_descriptor socket;
        asio::steady_timer timer;
        std::uint32_t round = 0;
        std::vector<bool> heard;  // by node: its daemon has answered
        std::vector<TaskState> states;
        std::string answer;  // once all have answered or the time is over
    };
    void begin(UniqueFd caller);
    void give_answer(const std::shared_ptr<Caller>& asker);
    void write(const std::shared_ptr<Caller>& asker);

    asio::io_context& loop_;
    NodeIndex nodes_;
    std::function<void(AskTaskStates)> ask_;
    std::uint32_t round_ = kStatusRounds;
    std::vector<std::shared_ptr<Caller>> askers_;
    JobListener listener_;
};

// poestat's side: returns the states of all tasks whose daemons have answered, in task order.
// Returns nothing if this computer has no such poe, or if it belongs to another user. Blocks for a
// few seconds at most.
std::optional<std::vector<TaskState>> ask_poe(uid_t owner, const std::string& job);

}  // namespace poe::pm
