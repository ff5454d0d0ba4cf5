// The executor: runs a schedule on messages. A plan is one rank's schedule with everything that it
// needs to run: requests, scratch memory. Plans are kept with their group, so the second call of
// the same shape builds and allocates nothing. A plan that is waited for at once is a blocking
// call; one that is advanced now and then, a non-blocking one.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "collectives/call/call.hpp"
#include "collectives/call/groups.hpp"
#include "comm/matching/message_layer.hpp"

namespace poe::collectives {

class Plan {
  public:
    // The part of `rank` in the schedules that `generate` makes for `shape`. `users_function`: room
    // is needed to reduce with a function of the user's.
    Plan(Shape shape, const Generator& generate, Rank rank, bool users_function);

    // Begins a run; nothing else may be running in this plan. `group` must outlive the run.
    void begin(const Group& group, const Run& run);
    // Goes on as far as possible without waiting. True: the run has ended.
    bool advance(comm::MessageLayer& messages);
    // The same, but waits. Blocking.
    void finish(comm::MessageLayer& messages);

    const Shape& shape() const noexcept { return shape_; }
    bool running() const noexcept { return running_; }
    // True if the run reduces with a function of the user's.
    bool calls_users_function() const noexcept {
        return run_.reduction.function != nullptr && run_.reduction.name == nullptr;
    }
    // A run's result has not been looked at yet: the plan is not free for another one.
    void hold(bool held) noexcept { held_ = held; }
    bool free() const noexcept { return !running_ && !held_; }
    // How the run ended, and with which task it went wrong.
    comm::Outcome outcome() const noexcept { return outcome_; }
    TaskId culprit() const noexcept { return culprit_; }
    // kDone, but the culprit sent this many bytes where the schedule has so many: the members of
    // the group do not agree. 0, 0: they do.
    Bytes came() const noexcept { return came_; }
    Bytes expected() const noexcept { return expected_; }
    bool went_wrong() const noexcept {
        return outcome_ != comm::Outcome::kDone || came_ != expected_;
    }
    std::span<const Step> steps() const noexcept { return schedule_.steps(); }

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
    bool ended(std::uint32_t number);
    void stop(comm::Outcome outcome, TaskId culprit) noexcept;

    Shape shape_;
    Schedule schedule_;
    std::vector<std::byte> work_;
    std::vector<std::byte> scratch_;
    std::uint32_t window_ = 1;  // messages under way at once, at most
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

// The plans of a group, the one used last first; those used least are forgotten.
struct Plans {
    // One for this shape that is free; null when there is none.
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
