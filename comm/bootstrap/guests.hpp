// Guests: tasks of other jobs that MPI has connected with this one (MPI 5.0, chapter 11). A guest
// has a number in this process only, from the number of tasks of the own job on. Messages to and
// from guests travel over TCP; comm/tcp/tcp_peers.hpp has how they prove who they are.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/types.hpp"
#include "comm/tcp/tcp_peers.hpp"

namespace poe::comm {

// What the tasks of another job must know of a task. The first two fields are its identity.
struct TaskCard {
    std::string job;
    TaskId task = 0;  // its number in its job
    NodeAddress address;
    std::uint16_t port = 0;
    std::string node;
    Bytes buffer_mem = 0;
    Bytes eager_limit = 0;

    bool is_same_task(const TaskCard& other) const noexcept {
        return job == other.job && task == other.task;
    }
};

// "task 3 of job J".
std::string name_of(const TaskCard& card);

// One line of text without a line feed, and back; empty if the text is no card. Pure.
std::string text_of(const TaskCard& card);
std::optional<TaskCard> parse_card(std::string_view text);

// What the members of a link have in common beside their list.
struct LinkSecret {
    std::uint64_t number = 0;  // not 0
    JobKey key{};
};
// Throws Error if the system has no random bytes.
LinkSecret make_link_secret();

// What has to be known of tasks that become guests, in the order of their numbers.
struct Admission {
    std::vector<TaskId> tasks;  // the numbers of all tasks of the list
    TcpLink link;
    std::vector<Bytes> token_capacities;  // of the new guests
    std::vector<Bytes> eager_limits;
};

// The guests of this task. Plain data; nothing here sends or blocks.
class Guests {
  public:
    // The numbers of the tasks that the cards describe. Those that were not known become guests;
    // the own job has `own_tasks` tasks. Precondition: `own` is one of the cards.
    Admission admit(std::uint32_t own_tasks, const TaskCard& own, const LinkSecret& secret,
                    std::span<const TaskCard> cards);
    std::size_t count() const noexcept { return cards_.size(); }
    // Precondition: index < count(). The guest's number is the number of own tasks plus `index`.
    const TaskCard& card(std::size_t index) const { return cards_[index]; }

  private:
    std::vector<TaskCard> cards_;
    std::map<std::pair<std::string, TaskId>, TaskId> numbers_;  // by job and task
};

}  // namespace poe::comm
