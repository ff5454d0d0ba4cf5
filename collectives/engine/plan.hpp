// Plan: executes a schedule by messages. A plan is the schedule of one rank, with the requests and
// the scratch memory that it needs to run. Plans are kept with their group, so the second call of
// the same shape builds and allocates nothing. A blocking call waits for its plan at once; the plan
// of a nonblocking call is continued whenever the task waits or tests. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "collectives/call/call.hpp"
#include "collectives/call/groups.hpp"
#include "comm/matching/message_layer.hpp"

namespace poe::collectives {

class Plan {
  public:
    // Builds the part of `rank` in the schedules that `generate` makes for `shape`.
    // `users_function`: reserves room to reduce with a user's function.
    Plan(Shape shape, const Generator& generate, Rank rank, bool users_function);

    // Starts a run; does not block. Precondition: free(). `group` and the buffers of `run` must
    // outlive the run.
    void begin(const Group& group, const Run& run);
    // Executes as many steps as possible without blocking. Returns true if the run has ended.
    bool advance(comm::MessageLayer& messages);
    // For callers that poll: ends the awaited message if its peer no longer takes part, so that the
    // next advance() ends the run. Precondition: advance() has just returned false.
    void end_if_hopeless(comm::MessageLayer& messages);
    // Blocks until the awaited message has ended. Precondition: advance() has just returned false.
    void wait(comm::MessageLayer& messages);
    // Executes all steps; blocks until the run has ended.
    void finish(comm::MessageLayer& messages);

    const Shape& shape() const noexcept { return shape_; }
    bool running() const noexcept { return running_; }
    // True if the run reduces with a user's function.
    bool calls_users_function() const noexcept { return run_.reduction.calls_user(); }
    // For a call that has moved its data without this plan: the run has failed, because `culprit`
    // sent a message of another length. Precondition: the run has ended without an error.
    void fail_with_length(TaskId culprit, Bytes came, Bytes expected) noexcept;
    // hold(true): the result of a run has not been read yet, so the plan is not free for another
    // run.
    void hold(bool held) noexcept { held_ = held; }
    bool free() const noexcept { return !running_ && !held_; }
    // True if a message of a run has not ended, so the memory of the plan must stay. A run that has
    // failed may have ended before its messages.
    bool has_messages_under_way() const noexcept;
    // How the run ended, and with which task it failed.
    comm::Outcome outcome() const noexcept { return outcome_; }
    TaskId culprit() const noexcept { return culprit_; }
    // If outcome() is kDone but the run failed: the bytes that the culprit sent, and the bytes that
    // the schedule expects; the members of the group do not agree. Equal otherwise.
    Bytes came() const noexcept { return came_; }
    Bytes expected() const noexcept { return expected_; }
    bool went_wrong() const noexcept {
        return outcome_ != comm::Outcome::kDone || came_ != expected_;
    }
    // The algorithm that has made the schedule, for traces; empty: none that users know.
    const std::string& algorithm() const noexcept { return algorithm_; }
    void name_algorithm(std::string name) { algorithm_ = std::move(name); }
    std::span<const Step> steps() const noexcept { return schedule_.steps(); }
    // Precondition: running, and advance() returned false. The message that the run waits for.
    Awaited awaited(const comm::MessageLayer& messages) noexcept;

  private:
    struct Message {
        bool is_send = false;
        comm::SendRequest send;
        comm::ReceiveRequest receive;

        comm::Outcome outcome() const noexcept { return is_send ? send.outcome : receive.outcome; }
    };

    Message& message(std::uint32_t number) noexcept { return messages_[number % window_]; }
    const std::byte* at(Place place) const noexcept;
    std::byte* writable(Place place) noexcept;
    void start(comm::MessageLayer& messages, const Step& step);
    bool settle(comm::MessageLayer& messages);
    bool ended(std::uint32_t number);
    void stop(comm::Outcome outcome, TaskId culprit) noexcept;

    Shape shape_;
    Schedule schedule_;
    std::uint32_t rounds_ = 0;
    std::string algorithm_;
    std::vector<std::byte> work_;
    std::vector<std::byte> scratch_;
    // What a failed run still sends (settle).
    std::vector<std::unique_ptr<std::byte[]>> copies_;
    std::uint32_t window_ = 1;  // maximum number of messages under way at once
    std::unique_ptr<Message[]> messages_;

    const Group* group_ = nullptr;
    Run run_;
    bool running_ = false;
    bool held_ = false;
    std::size_t next_ = 0;       // step
    std::uint32_t started_ = 0;  // messages
    std::uint32_t waited_ = 0;
    comm::Outcome outcome_ = comm::Outcome::kDone;
    TaskId culprit_ = 0;
    Bytes came_ = 0;
    Bytes expected_ = 0;
};

// The plans of a group, the most recently used first. The least recently used ones are deleted.
struct Plans {
    Plans() = default;
    Plans(const Plans&) = delete;
    Plans& operator=(const Plans&) = delete;
    // Keeps the plans whose messages are still under way until these have ended.
    ~Plans();
    // Returns a free plan for this shape; null if there is none.
    Plan* find(const Shape& shape, bool users_function) noexcept;
    Plan& add(std::unique_ptr<Plan> plan, bool users_function);
    struct Kept {
        std::unique_ptr<Plan> plan;
        bool users_function = false;
    };
    static constexpr std::size_t kMost = 16;
    std::vector<Kept> kept;
};

}  // namespace poe::collectives
