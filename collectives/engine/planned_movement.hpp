// PlannedMovement: the common part of the two data movements of a plan, in phases
// (planned_exchange.hpp) and in combined messages (combined_exchange.hpp): the arguments of a call,
// how it begins, and how it ends.
#pragma once

#include <span>

#include "base/types.hpp"
#include "collectives/engine/call_progress.hpp"
#include "collectives/engine/planned_calls.hpp"
#include "comm/matching/buffer_view.hpp"
#include "comm/matching/message_layer.hpp"

namespace poe::collectives {

// What a member sends to another one and receives from it.
struct PlannedBlock {
    comm::BufferView out;
    comm::BufferView in;
};

// How the exchange ended: with kDone if all went well. If `came` and `expected` differ, `culprit`
// has sent a message of the wrong length.
struct ExchangeEnd {
    comm::Outcome outcome = comm::Outcome::kDone;
    TaskId culprit = -1;
    Bytes came = 0;
    Bytes expected = 0;

    bool ok() const noexcept { return outcome == comm::Outcome::kDone && came == expected; }
};

// A call that follows a line. Everything must be valid until the call has ended.
struct PlannedMove {
    comm::MessageLayer& messages;
    const Group& group;
    PlannedLine& line;
    std::span<const PlannedBlock> blocks;  // by rank in the group, also the own one
    std::int32_t type = 0;                 // of the messages
    std::uint32_t context = 0;             // likewise
    CallProgress& progress;                // learns of the rounds
};

class PlannedMovement {
  protected:
    explicit PlannedMovement(const PlannedMove& move)
        : messages_(move.messages),
          group_(move.group),
          line_(move.line),
          blocks_(move.blocks),
          type_(move.type),
          context_(move.context),
          progress_(move.progress),
          me_(static_cast<std::uint32_t>(move.group.me)),
          told_(move.progress, CollectivePath::kPlan) {}

    // Counts the call. If `fits(rank)` is false for another member, the blocks between this member
    // and that one do not fit the line, and this member writes the notice that all leave the line.
    template <typename Fits>
    void begin(std::uint32_t rounds, const Fits& fits) {
        const std::uint32_t call = line_.made++;
        bool all_fit = true;
        for (std::uint32_t rank = 0; rank < group_.size() && all_fit; ++rank)
            all_fit = rank == me_ || fits(rank);
        if (!all_fit) {
            ++line_.mismatched;
            line_.notice.merge({call, group_.members[me_]});
        }
        progress_.begin_rounds(line_.call.operation, rounds);
    }

    void start_send(comm::SendRequest& request, std::uint32_t rank, const comm::BufferView& from) {
        request = comm::SendRequest(from, group_.members[rank], type_, context_,
                                    comm::FlowClass::kCollective);
        messages_.start(request);
    }
    void start_receive(comm::ReceiveRequest& request, std::uint32_t rank,
                       const comm::BufferView& into) {
        request.reset(into, {context_, group_.members[rank], type_});
        messages_.start(request);
    }
    void finish(comm::SendRequest& request) {
        const comm::Outcome outcome = messages_.wait(request);
        if (outcome != comm::Outcome::kDone && end_.ok()) end_ = {outcome, request.dest, 0, 0};
    }
    // Only the first failure is kept.
    void fail(std::uint32_t rank, comm::Outcome outcome) {
        if (end_.ok()) end_ = {outcome, group_.members[rank], 0, 0};
    }
    void differ(std::uint32_t rank, Bytes came, Bytes expected) {
        if (end_.ok()) end_ = {comm::Outcome::kDone, group_.members[rank], came, expected};
    }

    comm::MessageLayer& messages_;
    const Group& group_;
    PlannedLine& line_;
    const std::span<const PlannedBlock> blocks_;
    const std::int32_t type_;
    const std::uint32_t context_;
    CallProgress& progress_;
    const std::uint32_t me_;
    const CallProgress::Scope told_;
    ExchangeEnd end_;
};

}  // namespace poe::collectives
