// What all tasks of a job do, asked of its poe: poestat sees the tasks of its own node in their
// segment, poe can ask the daemons of the others.
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

// poe's side. For the thread of the loop; never blocks.
class StatusSocket {
  public:
    // `ask` sends a question to all daemons. A job whose socket cannot be made goes on without.
    StatusSocket(asio::io_context& loop, uid_t owner, const std::string& job, NodeIndex nodes,
                 std::function<void(AskTaskStates)> ask);

    // What the daemon of a node answered, to a round of ours.
    void on_states(NodeIndex node, TaskStates states);

  private:
    struct ReplyTo {
        explicit ReplyTo(asio::io_context& loop) : socket(loop), timer(loop) {}
        asio::posix::stream_descriptor socket;
        asio::steady_timer timer;
        std::uint32_t round = 0;
        std::vector<bool> heard;  // by node
        std::vector<TaskState> states;
        std::string answer;  // once it is complete, or late
    };
    void begin(UniqueFd caller);
    void give_answer(const std::shared_ptr<ReplyTo>& asker);
    void write(const std::shared_ptr<ReplyTo>& asker);

    asio::io_context& loop_;
    NodeIndex nodes_;
    std::function<void(AskTaskStates)> ask_;
    std::uint32_t round_ = kStatusRounds;
    std::vector<std::shared_ptr<ReplyTo>> askers_;
    JobListener listener_;
};

// poestat's side: the states of all tasks whose daemons answered, in task order; nothing when there
// is no such poe here, or it belongs to somebody else. Waits a few seconds at most.
std::optional<std::vector<TaskState>> ask_poe(uid_t owner, const std::string& job);

}  // namespace poe::pm
