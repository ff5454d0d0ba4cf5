// The execution of schedules by messages; see plan.hpp.
#include "collectives/engine/plan.hpp"

#include <algorithm>
#include <cstring>

#include "base/check.hpp"
#include "base/copy_block.hpp"
#include "collectives/call/groups.hpp"
#include "collectives/engine/call_progress.hpp"

namespace poe::collectives {
namespace {

static_assert(Run{}.context == kCclContext);

// Returns the maximum number of messages under way at once: those between the first that has not
// been waited for and the last one started.
std::uint32_t window_of(std::span<const Step> steps) {
    std::uint32_t started = 0;
    std::uint32_t waited = 0;
    std::uint32_t most = 1;
    for (const Step& step : steps) {
        if (step.is_message()) most = std::max(most, ++started - waited);
        if (step.kind == StepKind::kWait) waited = static_cast<std::uint32_t>(step.peer);
    }
    return most;
}

Bytes longest_reduction(std::span<const Step> steps) {
    Bytes most = 0;
    for (const Step& step : steps) {
        if (step.kind == StepKind::kAppend || step.kind == StepKind::kPrepend)
            most = std::max(most, step.length);
    }
    return most;
}

}  // namespace

Plan::Plan(Shape shape, const Generator& generate, Rank rank, bool users_function)
    : shape_(std::move(shape)) {
    generate(rank, schedule_);
    work_.resize(schedule_.work_bytes());
    if (users_function) scratch_.resize(longest_reduction(schedule_.steps()));
    window_ = window_of(schedule_.steps());
    for (const Step& step : schedule_.steps())
        if (step.is_message())
            rounds_ = std::max(rounds_, static_cast<std::uint32_t>(step.round) + 1);
    messages_ = std::make_unique<Message[]>(window_);
}

void Plan::begin(const Group& group, const Run& run) {
    POE_CHECK(free());
    group_ = &group;
    run_ = run;
    running_ = true;
    next_ = 0;
    started_ = 0;
    waited_ = 0;
    outcome_ = comm::Outcome::kDone;
    came_ = 0;
    expected_ = 0;
    if (run_.progress != nullptr) run_.progress->begin_rounds(algorithm_, rounds_);
}

inline const std::byte* Plan::at(Place place) const noexcept {
    switch (place.buffer) {
        case Buffer::kInput:
            return run_.given + place.offset;
        case Buffer::kOutput:
            return run_.result + place.offset;
        case Buffer::kScratch:
            break;
    }
    return work_.data() + place.offset;
}

inline std::byte* Plan::writable(Place place) noexcept {
    return (place.buffer == Buffer::kOutput ? run_.result : work_.data()) + place.offset;
}

void Plan::start(comm::MessageLayer& messages, const Step& step) {
    if (run_.progress != nullptr) run_.progress->reach(static_cast<std::uint32_t>(step.round));
    Message& now = message(started_++);
    const TaskId peer = group_->members[static_cast<std::size_t>(step.peer)];
    now.is_send = step.kind == StepKind::kSend;
    if (now.is_send) {
        now.send.reset({const_cast<std::byte*>(at(step.from)), step.length}, peer, run_.type,
                       run_.context, comm::FlowClass::kCollective);
        messages.start(now.send);
    } else {
        now.receive.reset(comm::BufferView(writable(step.to), step.length),
                          {run_.context, peer, run_.type});
        messages.start(now.receive);
    }
}

// True if a message has ended. Stops the run if the message has failed.
bool Plan::ended(std::uint32_t number) {
    const Message& one = message(number);
    const comm::Outcome outcome = one.outcome();
    if (outcome == comm::Outcome::kPending) return false;
    if (outcome != comm::Outcome::kDone) {
        stop(outcome, one.is_send ? one.send.dest : one.receive.source);
    } else if (!one.is_send && one.receive.length != one.receive.view.size()) {
        came_ = one.receive.length;
        expected_ = one.receive.view.size();
        stop(comm::Outcome::kDone, one.receive.source);
    }
    return true;
}

// Ends a failed run. Messages still under way keep their requests, so the plan is not used again.
void Plan::stop(comm::Outcome outcome, TaskId culprit) noexcept {
    outcome_ = outcome;
    culprit_ = culprit;
    next_ = schedule_.steps().size();
}

void Plan::fail_with_length(TaskId culprit, Bytes came, Bytes expected) noexcept {
    culprit_ = culprit;
    came_ = came;
    expected_ = expected;
    running_ = true;  // a failed run stays in use
}

// After a failure: makes the messages that are under way independent of the program's buffers.
// Returns true if it is done with all of them. If a member has ended, announced messages are
// withdrawn. If the members do not agree on a length, the others may still need their messages.
bool Plan::settle(comm::MessageLayer& messages) {
    for (; waited_ < started_; ++waited_) {
        Message& one = message(waited_);
        if (one.outcome() != comm::Outcome::kPending) continue;
        if (!one.is_send) {
            if (!messages.cancel(one.receive)) messages.end_if_hopeless(one.receive);
        } else if (outcome_ == comm::Outcome::kPeerBroken && one.send.id != 0) {
            messages.end_if_hopeless(one.send);
        } else if (one.send.dest == group_->members[static_cast<std::size_t>(group_->me)]) {
            continue;
        } else {
            copies_.push_back(std::make_unique_for_overwrite<std::byte[]>(one.send.view.size()));
            messages.send_from_copy(one.send, copies_.back().get());
            continue;
        }
        if (one.outcome() == comm::Outcome::kPending) return false;
    }
    return true;
}

bool Plan::advance(comm::MessageLayer& messages) {
    const std::span<const Step> steps = schedule_.steps();
    while (next_ < steps.size()) {
        const Step& step = steps[next_];
        switch (step.kind) {
            case StepKind::kSend:
            case StepKind::kReceive:
                start(messages, step);
                break;
            case StepKind::kWait:
                for (; waited_ < static_cast<std::uint32_t>(step.peer); ++waited_) {
                    if (!ended(waited_)) return false;
                    if (next_ == steps.size()) break;
                }
                if (next_ == steps.size()) continue;
                break;
            case StepKind::kCopy:
                copy_block(writable(step.to), at(step.from), step.length);
                break;
            case StepKind::kAppend:
            case StepKind::kPrepend:
                reduce_into(run_.reduction, writable(step.to), at(step.from), step.length,
                            step.kind == StepKind::kAppend, scratch_.data());
                break;
        }
        ++next_;
    }
    if (went_wrong() && !settle(messages)) return false;
    // A failed run stays in use, because messages may still write to its requests.
    if (outcome_ == comm::Outcome::kDone && expected_ == came_) running_ = false;
    return true;
}

bool Plan::has_messages_under_way() const noexcept {
    if (!running_) return false;
    for (std::uint32_t i = started_ - std::min(started_, window_); i < started_; ++i)
        if (messages_[i % window_].outcome() == comm::Outcome::kPending) return true;
    return false;
}

Awaited Plan::awaited(const comm::MessageLayer& messages) noexcept {
    const Message& waited = message(waited_);
    return waited.is_send ? messages.awaited_by(waited.send) : messages.awaited_by(waited.receive);
}

void Plan::end_if_hopeless(comm::MessageLayer& messages) {
    Message& awaited = message(waited_);
    if (awaited.is_send) {
        messages.end_if_hopeless(awaited.send);
    } else {
        messages.end_if_hopeless(awaited.receive);
    }
}

void Plan::wait(comm::MessageLayer& messages) {
    Message& awaited = message(waited_);
    if (awaited.is_send) {
        messages.wait(awaited.send);
    } else {
        messages.wait(awaited.receive);
    }
}

void Plan::finish(comm::MessageLayer& messages) {
    while (!advance(messages)) wait(messages);
}

// Never destroyed: messages may be under way until the process ends.
static std::vector<std::unique_ptr<Plan>>& plans_without_group() {
    static auto& plans = *new std::vector<std::unique_ptr<Plan>>;
    return plans;
}

Plans::~Plans() {
    std::vector<std::unique_ptr<Plan>>& others = plans_without_group();
    std::erase_if(others, [](const auto& plan) { return !plan->has_messages_under_way(); });
    for (Kept& each : kept)
        if (each.plan->has_messages_under_way()) others.push_back(std::move(each.plan));
}

Plan* Plans::find(const Shape& shape, bool users_function) noexcept {
    for (std::size_t i = 0; i < kept.size(); ++i) {
        Kept& each = kept[i];
        if (each.users_function != users_function || !each.plan->free() ||
            !(each.plan->shape() == shape)) {
            continue;
        }
        if (i > 0)
            std::rotate(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(i),
                        kept.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        return kept.front().plan.get();
    }
    return nullptr;
}

Plan& Plans::add(std::unique_ptr<Plan> plan, bool users_function) {
    for (std::size_t i = kept.size(); kept.size() >= kMost && i-- > 0;) {
        if (kept[i].plan->free()) kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(i));
    }
    kept.insert(kept.begin(), Kept{std::move(plan), users_function});
    return *kept.front().plan;
}

}  // namespace poe::collectives
