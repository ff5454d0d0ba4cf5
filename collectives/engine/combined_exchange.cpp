// Implementation of combined_exchange.hpp.
#include "collectives/engine/combined_exchange.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <limits>

namespace poe::collectives {
namespace {

using comm::BufferView;
using comm::MessageLayer;
using comm::Outcome;

// The length of a block in a message, or the mark of a block that is sent directly.
using CombinedLength = std::uint16_t;
constexpr CombinedLength kSentDirectly = std::numeric_limits<CombinedLength>::max();
static_assert(kMostCombined < kSentDirectly);

// A block that a member has and that is not at its destination yet.
struct HeldBlock {
    const BufferView* given = nullptr;  // the member's own; null: it is at `arrived`
    const std::byte* arrived = nullptr;
    CombinedLength length = 0;

    Bytes bytes() const { return length == kSentDirectly ? 0 : length; }
};

// The messages of a call. Kept with the line, so that a later call need not allocate them.
struct CombinedMessages final : GroupOwned {
    struct Step {
        std::vector<std::byte> out;
        std::vector<std::byte> in;
        comm::SendRequest send;
        comm::ReceiveRequest receive;
    };
    std::deque<Step> steps;
    std::vector<HeldBlock> held;  // by slot
    std::deque<comm::SendRequest> direct_sends;
    std::deque<std::pair<std::uint32_t, comm::ReceiveRequest>> direct_receives;  // with their ranks
    std::vector<std::byte> own_block;
};

class CombinedExchange {
  public:
    CombinedExchange(MessageLayer& messages, const Group& group, PlannedLine& line,
                     std::span<const PlannedBlock> blocks, std::int32_t type, std::uint32_t context,
                     CallProgress& progress)
        : messages_(messages),
          group_(group),
          line_(line),
          blocks_(blocks),
          type_(type),
          context_(context),
          progress_(progress),
          me_(static_cast<std::uint32_t>(group.me)),
          memory_(static_cast<CombinedMessages&>(*line.requests)) {}

    ExchangeEnd run() {
        const std::uint32_t call = line_.made++;
        if (!all_fit()) {
            ++line_.mismatched;
            line_.notice.merge({call, group_.members[me_]});
        }
        const CallProgress::Scope told(progress_, CollectivePath::kPlan);
        progress_.begin_rounds(line_.call.operation, line_.steps.back().round + 1);
        hold_own();
        for (std::size_t first = 0; first < line_.steps.size() && end_.ok();) {
            const std::uint32_t round = line_.steps[first].round;
            std::size_t last = first;
            while (last < line_.steps.size() && line_.steps[last].round == round) ++last;
            progress_.reach(round);
            run_round(first, last);
            first = last;
        }
        if (end_.ok()) deliver();
        return end_;
    }

  private:
    bool is_short(const BufferView& block) const { return block.size() <= line_.call.limit; }
    bool all_fit() const {
        for (std::uint32_t rank = 0; rank < group_.size(); ++rank)
            if (rank != me_ && !(is_short(blocks_[rank].out) && is_short(blocks_[rank].in)))
                return false;
        return true;
    }

    void hold_own() {
        for (std::uint32_t slot = 0; slot < group_.size(); ++slot) {
            const BufferView& block = blocks_[line_.layout.after(me_, slot)].out;
            memory_.held[slot] = {
                &block, nullptr,
                is_short(block) ? static_cast<CombinedLength>(block.size()) : kSentDirectly};
        }
    }

    // All messages of a round, those of steps [first, last).
    void run_round(std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
            CombinedMessages::Step& step = memory_.steps[i];
            step.receive.reset(BufferView(step.in.data(), step.in.size()),
                               {context_, member_before(line_.steps[i]), type_});
            messages_.start(step.receive);
        }
        for (std::size_t i = first; i < last; ++i) {
            CombinedMessages::Step& step = memory_.steps[i];
            step.send = comm::SendRequest(
                BufferView(step.out.data(), pack(line_.steps[i], step.out.data())),
                group_.members[line_.layout.after(me_, line_.steps[i].distance)], type_, context_,
                comm::FlowClass::kCollective);
            messages_.start(step.send);
        }
        for (std::size_t i = first; i < last; ++i) {
            CombinedMessages::Step& step = memory_.steps[i];
            messages_.wait(step.receive);
            unpack(line_.steps[i], step);
        }
        for (std::size_t i = first; i < last; ++i) wait(memory_.steps[i].send);
    }

    TaskId member_before(const CombinedStep& step) const {
        return group_.members[line_.layout.before(me_, step.distance)];
    }

    // Writes the message of a step; returns its length.
    Bytes pack(const CombinedStep& step, std::byte* message) const {
        std::memcpy(message, &line_.notice, sizeof line_.notice);
        std::byte* length = message + sizeof line_.notice;
        std::byte* at = length + step.slots.size() * sizeof(CombinedLength);
        for (const std::uint32_t slot : step.slots) {
            const HeldBlock& block = memory_.held[slot];
            std::memcpy(length, &block.length, sizeof block.length);
            length += sizeof block.length;
            if (block.bytes() == 0) continue;
            if (block.given != nullptr)
                block.given->copy_out(0, at, block.bytes());
            else
                std::memcpy(at, block.arrived, block.bytes());
            at += block.bytes();
        }
        return static_cast<Bytes>(at - message);
    }

    // Takes the blocks of a message that has been received.
    void unpack(const CombinedStep& step, const CombinedMessages::Step& message) {
        if (!end_.ok()) return;
        const comm::ReceiveRequest& request = message.receive;
        const TaskId source = member_before(step);
        if (request.outcome != Outcome::kDone) {
            end_ = {request.outcome, source, 0, 0};
            return;
        }
        const Bytes head = sizeof(PlanNotice) + step.slots.size() * sizeof(CombinedLength);
        if (request.length < head || request.length > request.view.size()) {
            end_ = {Outcome::kDone, source, request.length, head};
            return;
        }
        PlanNotice notice;
        std::memcpy(&notice, message.in.data(), sizeof notice);
        line_.notice.merge(notice);
        const std::byte* length = message.in.data() + sizeof notice;
        Bytes at = head;
        for (const std::uint32_t slot : step.slots) {
            HeldBlock& block = memory_.held[slot];
            block = {nullptr, message.in.data() + at, 0};
            std::memcpy(&block.length, length, sizeof block.length);
            length += sizeof block.length;
            at += block.bytes();
        }
        if (at != request.length) end_ = {Outcome::kDone, source, request.length, at};
    }

    // Stores the blocks that have arrived, and the own one, and exchanges those that are sent
    // directly.
    void deliver() {
        for (std::uint32_t rank = 0; rank < group_.size(); ++rank)
            if (rank != me_ && !is_short(blocks_[rank].out))
                messages_.start(memory_.direct_sends.emplace_back(
                    blocks_[rank].out, group_.members[rank], type_, context_,
                    comm::FlowClass::kCollective));
        for (std::uint32_t slot = 0; slot < group_.size(); ++slot) {
            const std::uint32_t source = line_.layout.before(me_, slot);
            const BufferView& into = blocks_[source].in;
            const HeldBlock& block = memory_.held[slot];
            if (source == me_) {
                copy_own();
            } else if (block.length == kSentDirectly) {
                comm::ReceiveRequest& request =
                    memory_.direct_receives.emplace_back(source, comm::ReceiveRequest{}).second;
                request.reset(into, {context_, group_.members[source], type_});
                messages_.start(request);
            } else {
                if (block.bytes() != into.size()) differ(source, block.bytes());
                if (const Bytes bytes = std::min(block.bytes(), into.size()); bytes > 0)
                    into.copy_in(0, block.arrived, bytes);
            }
        }
        for (auto& [rank, request] : memory_.direct_receives) {
            if (messages_.wait(request) != Outcome::kDone) {
                if (end_.ok()) end_ = {request.outcome, group_.members[rank], 0, 0};
            } else if (request.length != request.view.size()) {
                differ(rank, request.length);
            }
        }
        for (comm::SendRequest& each : memory_.direct_sends) wait(each);
        memory_.direct_receives.clear();
        memory_.direct_sends.clear();
    }

    void copy_own() {
        const PlannedBlock& own = blocks_[me_];
        const Bytes bytes = own.out.size();
        if (bytes != own.in.size()) differ(me_, bytes);
        if (bytes == 0 || bytes > own.in.size()) return;
        const std::byte* from = own.out.start();
        if (!own.out.contiguous()) {
            memory_.own_block.resize(bytes);
            own.out.copy_out(0, memory_.own_block.data(), bytes);
            from = memory_.own_block.data();
        }
        own.in.copy_in(0, from, bytes);
    }

    void differ(std::uint32_t source, Bytes came) {
        if (end_.ok())
            end_ = {Outcome::kDone, group_.members[source], came, blocks_[source].in.size()};
    }
    void wait(comm::SendRequest& request) {
        const Outcome outcome = messages_.wait(request);
        if (outcome != Outcome::kDone && end_.ok()) end_ = {outcome, request.dest, 0, 0};
    }

    MessageLayer& messages_;
    const Group& group_;
    PlannedLine& line_;
    std::span<const PlannedBlock> blocks_;
    const std::int32_t type_;
    const std::uint32_t context_;
    CallProgress& progress_;
    const std::uint32_t me_;
    CombinedMessages& memory_;
    ExchangeEnd end_;
};

std::unique_ptr<CombinedMessages> messages_for(const PlannedLine& line) {
    auto made = std::make_unique<CombinedMessages>();
    made->held.resize(line.layout.size());
    for (const CombinedStep& each : line.steps) {
        const Bytes room =
            sizeof(PlanNotice) + each.slots.size() * (sizeof(CombinedLength) + line.call.limit);
        CombinedMessages::Step& step = made->steps.emplace_back();
        step.out.resize(room);
        step.in.resize(room);
    }
    return made;
}

}  // namespace

ExchangeEnd exchange_combined(comm::MessageLayer& messages, const Group& group, PlannedLine& line,
                              std::span<const PlannedBlock> blocks, std::int32_t type,
                              std::uint32_t context, CallProgress& progress) {
    if (line.requests == nullptr) line.requests = messages_for(line);
    return CombinedExchange(messages, group, line, blocks, type, context, progress).run();
}

}  // namespace poe::collectives
