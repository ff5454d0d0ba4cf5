// Implementation of combined_exchange.hpp.
#include "collectives/engine/combined_exchange.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <limits>

#include "base/copy_block.hpp"

namespace poe::collectives {
namespace {

using comm::BufferView;
using comm::Outcome;

// The length of a block in a message, or the mark of a block that is sent directly after all
// rounds.
using CombinedLength = std::uint16_t;
constexpr CombinedLength kSentDirectly = std::numeric_limits<CombinedLength>::max();
static_assert(kMostCombined < kSentDirectly);

// A block that a member holds and has to pass on.
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

class CombinedExchange : private PlannedMovement {
  public:
    explicit CombinedExchange(const PlannedMove& move)
        : PlannedMovement(move), memory_(static_cast<CombinedMessages&>(*line_.requests)) {}

    ExchangeEnd run() {
        begin(line_.steps.back().round + 1, [this](std::uint32_t rank) {
            return is_short(blocks_[rank].out) && is_short(blocks_[rank].in);
        });
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
    void hold_own() {
        for (std::uint32_t slot = 0; slot < group_.size(); ++slot) {
            const BufferView& block = blocks_[line_.layout.after(me_, slot)].out;
            memory_.held[slot] = {
                &block, nullptr,
                is_short(block) ? static_cast<CombinedLength>(block.size()) : kSentDirectly};
        }
    }

    // Sends and receives all messages of a round: those of steps [first, last).
    void run_round(std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
            CombinedMessages::Step& step = memory_.steps[i];
            start_receive(step.receive, rank_before(line_.steps[i]),
                          BufferView(step.in.data(), step.in.size()));
        }
        for (std::size_t i = first; i < last; ++i) {
            CombinedMessages::Step& step = memory_.steps[i];
            start_send(step.send, line_.layout.after(me_, line_.steps[i].distance),
                       BufferView(step.out.data(), pack(line_.steps[i], step.out.data())));
        }
        for (std::size_t i = first; i < last; ++i) {
            CombinedMessages::Step& step = memory_.steps[i];
            messages_.wait(step.receive);
            unpack(line_.steps[i], step);
        }
        for (std::size_t i = first; i < last; ++i) finish(memory_.steps[i].send);
    }

    std::uint32_t rank_before(const CombinedStep& step) const {
        return line_.layout.before(me_, step.distance);
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
                copy_block(at, block.arrived, block.bytes());
            at += block.bytes();
        }
        return static_cast<Bytes>(at - message);
    }

    // Takes the blocks of a message that has been received.
    void unpack(const CombinedStep& step, const CombinedMessages::Step& message) {
        if (!end_.ok()) return;
        const comm::ReceiveRequest& request = message.receive;
        const std::uint32_t source = rank_before(step);
        if (request.outcome != Outcome::kDone) return fail(source, request.outcome);
        const Bytes head = sizeof(PlanNotice) + step.slots.size() * sizeof(CombinedLength);
        if (request.length < head || request.length > request.view.size())
            return differ(source, request.length, head);
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
        if (at != request.length) differ(source, request.length, at);
    }

    // Stores the blocks that have arrived, and the own one, and exchanges those that are sent
    // directly.
    void deliver() {
        for (std::uint32_t rank = 0; rank < group_.size(); ++rank)
            if (rank != me_ && !is_short(blocks_[rank].out))
                start_send(memory_.direct_sends.emplace_back(), rank, blocks_[rank].out);
        for (std::uint32_t slot = 0; slot < group_.size(); ++slot) {
            const std::uint32_t source = line_.layout.before(me_, slot);
            const BufferView& into = blocks_[source].in;
            const HeldBlock& block = memory_.held[slot];
            if (source == me_) {
                copy_own();
            } else if (block.length == kSentDirectly) {
                start_receive(
                    memory_.direct_receives.emplace_back(source, comm::ReceiveRequest{}).second,
                    source, into);
            } else {
                if (block.bytes() != into.size()) differ(source, block.bytes(), into.size());
                if (const Bytes bytes = std::min(block.bytes(), into.size()); bytes > 0)
                    into.copy_in(0, block.arrived, bytes);
            }
        }
        for (auto& [rank, request] : memory_.direct_receives) {
            if (messages_.wait(request) != Outcome::kDone) {
                fail(rank, request.outcome);
            } else if (request.length != request.view.size()) {
                differ(rank, request.length, request.view.size());
            }
        }
        for (comm::SendRequest& each : memory_.direct_sends) finish(each);
        memory_.direct_receives.clear();
        memory_.direct_sends.clear();
    }

    void copy_own() {
        const PlannedBlock& own = blocks_[me_];
        const Bytes bytes = own.out.size();
        if (bytes != own.in.size()) differ(me_, bytes, own.in.size());
        if (bytes == 0 || bytes > own.in.size()) return;
        const std::byte* from = own.out.start();
        if (!own.out.contiguous()) {
            memory_.own_block.resize(bytes);
            own.out.copy_out(0, memory_.own_block.data(), bytes);
            from = memory_.own_block.data();
        }
        own.in.copy_in(0, from, bytes);
    }

    CombinedMessages& memory_;
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

ExchangeEnd exchange_combined(const PlannedMove& move) {
    if (move.line.requests == nullptr) move.line.requests = messages_for(move.line);
    return CombinedExchange(move).run();
}

}  // namespace poe::collectives
