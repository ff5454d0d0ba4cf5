// Implementation of planned_exchange.hpp.
#include "collectives/engine/planned_exchange.hpp"

#include <array>
#include <cstring>
#include <deque>

#include "collectives/engine/combined_exchange.hpp"

namespace poe::collectives {
namespace {

// The message that carries a PlanNotice. It is shorter than any message that fits a planned one of
// kShortBlock, so a receiver recognizes it by its length.
struct NoticeMessage {
    std::array<char, 8> mark{'P', 'O', 'E', '-', 'P', 'L', 'A', 'N'};
    PlanNotice notice;
};
static_assert(sizeof(NoticeMessage) < kShortBlock / 2);

// The requests of a part of a call. Kept with the line, so that a later call need not allocate
// them.
struct ExchangeRequests final : GroupOwned {
    struct Receive {
        comm::ReceiveRequest request;
        std::uint32_t rank = 0;
        bool notice_first = false;  // a notice may come in place of the message
        bool only_notice = false;
        NoticeMessage notice;
    };
    std::deque<Receive> receives;
    std::deque<comm::SendRequest> sends;
    std::deque<NoticeMessage> notices;  // under way
};

using comm::BufferView;
using comm::Outcome;

class Exchange : private PlannedMovement {
  public:
    explicit Exchange(const PlannedMove& move)
        : PlannedMovement(move), under_way_(static_cast<ExchangeRequests&>(*line_.requests)) {}

    ExchangeEnd run() {
        begin(static_cast<std::uint32_t>(line_.phases.size()),
              [this](std::uint32_t rank) { return send_fits(rank) && receive_fits(rank); });
        for (std::uint32_t k = 0; k < line_.phases.size() && end_.ok(); ++k) {
            progress_.reach(k);
            run_phase(line_.phases[k]);
        }
        if (end_.ok()) send_the_rest();
        return end_;
    }

  private:
    bool is_me(std::uint32_t rank) const { return rank == me_; }
    bool send_fits(std::uint32_t rank) const {
        return fits_plan(line_.outgoing[rank], blocks_[rank].out.size());
    }
    bool receive_fits(std::uint32_t rank) const {
        return fits_plan(line_.incoming[rank], blocks_[rank].in.size());
    }

    ExchangeRequests::Receive& receive(std::uint32_t rank, const BufferView& into) {
        ExchangeRequests::Receive& one = under_way_.receives.emplace_back();
        one.rank = rank;
        start_receive(one.request, rank, into);
        return one;
    }
    void send(std::uint32_t rank, const BufferView& from) {
        start_send(under_way_.sends.emplace_back(), rank, from);
    }
    void send_notice(std::uint32_t rank) {
        NoticeMessage& notice = under_way_.notices.emplace_back();
        notice.notice = line_.notice;
        send(rank, BufferView(&notice, sizeof notice));
    }

    void run_phase(const OwnPhase& phase) {
        ExchangeRequests::Receive* signal = nullptr;
        for (const std::uint32_t to : phase.destinations)
            if (phase.signals && send_fits(to)) signal = &receive(to, {});
        for (const std::uint32_t from : phase.sources) {
            if (!receive_fits(from)) continue;
            receive(from, blocks_[from].in).notice_first = line_.incoming[from] >= kShortBlock;
            if (phase.signals) send(from, {});
        }
        for (const std::uint32_t to : phase.destinations) {
            if (!send_fits(to)) continue;
            if (signal != nullptr && messages_.wait(signal->request) != Outcome::kDone) break;
            if (line_.notice.known() && line_.outgoing[to] >= kShortBlock) send_notice(to);
            send(to, blocks_[to].out);
        }
        complete();
    }

    // Exchanges the messages that do not fit the plan, and the own block.
    void send_the_rest() {
        for (std::uint32_t rank = 0; rank < group_.size(); ++rank) {
            if (!is_me(rank) && receive_fits(rank)) continue;
            if (!is_me(rank) && line_.incoming[rank] >= kShortBlock) {
                ExchangeRequests::Receive& one = under_way_.receives.emplace_back();
                one.rank = rank;
                one.only_notice = true;
                start_receive(one.request, rank, BufferView(&one.notice, sizeof one.notice));
            }
            if (blocks_[rank].in.size() > 0) receive(rank, blocks_[rank].in);
        }
        for (std::uint32_t rank = 0; rank < group_.size(); ++rank) {
            if (!is_me(rank) && send_fits(rank)) continue;
            if (!is_me(rank) && line_.outgoing[rank] >= kShortBlock) send_notice(rank);
            if (blocks_[rank].out.size() > 0) send(rank, blocks_[rank].out);
        }
        complete();
    }

    void complete() {
        for (ExchangeRequests::Receive& one : under_way_.receives) {
            messages_.wait(one.request);
            if (one.notice_first && is_notice(one)) {
                line_.notice.merge(one.notice.notice);
                start_receive(one.request, one.rank, blocks_[one.rank].in);
                messages_.wait(one.request);
            }
            check(one);
        }
        for (comm::SendRequest& one : under_way_.sends) finish(one);
        under_way_.receives.clear();
        under_way_.sends.clear();
        under_way_.notices.clear();
    }

    // True if a notice came in place of the message; the notice is then in `one.notice`.
    static bool is_notice(ExchangeRequests::Receive& one) {
        if (one.request.outcome != Outcome::kDone || one.request.length != sizeof one.notice)
            return false;
        NoticeMessage came;
        one.request.view.copy_out(0, reinterpret_cast<std::byte*>(&came), sizeof came);
        one.notice = came;
        return came.mark == NoticeMessage{}.mark;
    }

    void check(const ExchangeRequests::Receive& one) {
        if (!end_.ok()) return;
        if (one.request.outcome != Outcome::kDone) {
            fail(one.rank, one.request.outcome);
        } else if (one.request.length != one.request.view.size()) {
            differ(one.rank, one.request.length, one.request.view.size());
        } else if (one.only_notice) {
            line_.notice.merge(one.notice.notice);
        }
    }

    ExchangeRequests& under_way_;
};

}  // namespace

ExchangeEnd exchange_planned(const PlannedMove& move) {
    if (!move.line.steps.empty()) return exchange_combined(move);
    if (move.line.requests == nullptr) move.line.requests = std::make_unique<ExchangeRequests>();
    return Exchange(move).run();
}

}  // namespace poe::collectives
