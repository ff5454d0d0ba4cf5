// Running schedules against a clock; see simulator.hpp.
#include "collectives/simulator.hpp"

#include <algorithm>

namespace poe::collectives {
namespace {

enum class Kind : std::uint32_t { kSend, kReceive, kWait, kWork };

// A step, as small as it goes: there are tens of millions.
struct Event {
    std::uint32_t kind : 2;
    std::uint32_t number : 30;  // the peer, or how many messages to wait for
    std::uint32_t bytes;
};

struct InFlight {
    std::uint32_t from;
    std::uint32_t bytes;
    double sent;
    double arrives;
};

struct Posted {
    std::uint32_t number;  // among the messages of its rank
    std::uint32_t from;
};

struct RankState {
    std::size_t next = 0;  // event
    std::size_t end = 0;
    double now = 0;
    double out_free = 0;  // when the ports are free again
    double in_free = 0;
    std::uint32_t started = 0;
    std::uint32_t parked_for = 0;  // rank + 1 whose message it waits for; 0: it does not
    std::vector<Posted> posted;    // receives that have not been waited for
    std::vector<InFlight> inbox;   // messages on their way, in the order they were sent
};

class Simulator {
  public:
    Simulator(std::uint32_t n, const MessageModel& model,
              const std::function<void(const SimulatedMessage&)>& on_message)
        : model_(model), on_message_(on_message), ranks_(n) {}

    Simulation run(const Generator& generate) {
        if (!load(generate)) return std::move(result_);
        for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
            ready_.push_back(r);
            while (!ready_.empty()) {
                const std::uint32_t next = ready_.back();
                ready_.pop_back();
                advance(next);
            }
        }
        for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
            if (ranks_[r].next != ranks_[r].end && result_.fault.empty())
                result_.fault = "rank " + std::to_string(r) + " waits for ever";
            result_.time = std::max(result_.time, ranks_[r].now);
        }
        return std::move(result_);
    }

  private:
    bool load(const Generator& generate) {
        Schedule schedule;
        std::vector<bool> used;
        std::vector<Bytes> largest;
        for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
            schedule.clear();
            generate(static_cast<Rank>(r), schedule);
            ranks_[r].next = events_.size();
            for (const Step& step : schedule.steps()) {
                if (step.length > 0xffffffffu) {
                    result_.fault = "a message or block is longer than 4 GB";
                    return false;
                }
                add(step);
                if (step.kind != StepKind::kSend) continue;
                const auto round = static_cast<std::size_t>(step.round);
                if (round >= used.size()) {
                    used.resize(round + 1);
                    largest.resize(round + 1);
                }
                used[round] = true;
                largest[round] = std::max(largest[round], step.length);
                result_.counts.c3 += step.length;
                ++result_.messages;
            }
            ranks_[r].end = events_.size();
        }
        for (std::size_t round = 0; round < used.size(); ++round) {
            result_.counts.c1 += used[round] ? 1 : 0;
            result_.counts.c2 += largest[round];
        }
        return true;
    }

    void add(const Step& step) {
        Kind kind = Kind::kWork;
        if (step.kind == StepKind::kSend) kind = Kind::kSend;
        if (step.kind == StepKind::kReceive) kind = Kind::kReceive;
        if (step.kind == StepKind::kWait) kind = Kind::kWait;
        if (kind == Kind::kWork && model_.work_per_byte == 0) return;
        events_.push_back({static_cast<std::uint32_t>(kind),
                           static_cast<std::uint32_t>(step.peer) & 0x3fffffffu,
                           static_cast<std::uint32_t>(step.length)});
    }

    void advance(std::uint32_t r) {
        RankState& rank = ranks_[r];
        rank.parked_for = 0;
        for (; rank.next < rank.end; ++rank.next) {
            const Event& event = events_[rank.next];
            switch (static_cast<Kind>(event.kind)) {
                case Kind::kSend:
                    send(r, event);
                    ++rank.started;
                    break;
                case Kind::kReceive:
                    rank.posted.push_back({rank.started++, event.number});
                    break;
                case Kind::kWait:
                    if (!wait(r, event.number)) return;
                    break;
                case Kind::kWork:
                    rank.now += event.bytes * model_.work_per_byte;
                    break;
            }
        }
    }

    double busy(Bytes bytes) const {
        return model_.send_busy + static_cast<double>(bytes) * model_.send_per_byte;
    }
    double port(Bytes bytes) const {
        return std::max(
            {busy(bytes), model_.gap, static_cast<double>(bytes) * model_.wire_per_byte});
    }

    void send(std::uint32_t from, const Event& event) {
        RankState& rank = ranks_[from];
        const double start = std::max(rank.now, rank.out_free);
        rank.now = start + busy(event.bytes);
        rank.out_free = start + port(event.bytes);
        const double arrives = start + busy(event.bytes) * model_.latency_factor +
                               event.bytes * model_.wire_per_byte + model_.latency;
        RankState& peer = ranks_[event.number];
        peer.inbox.push_back({from, event.bytes, start, arrives});
        if (peer.parked_for == from + 1) {
            peer.parked_for = 0;
            ready_.push_back(event.number);
        }
    }

    // Receives in the order they were started; false: a message is missing.
    bool wait(std::uint32_t r, std::uint32_t messages) {
        RankState& rank = ranks_[r];
        while (!rank.posted.empty() && rank.posted.front().number < messages) {
            const std::uint32_t from = rank.posted.front().from;
            const auto found =
                std::find_if(rank.inbox.begin(), rank.inbox.end(),
                             [from](const InFlight& each) { return each.from == from; });
            if (found == rank.inbox.end()) {
                rank.parked_for = from + 1;
                return false;
            }
            rank.in_free = std::max(found->arrives, rank.in_free + port(found->bytes));
            rank.now = std::max(rank.now, rank.in_free) + model_.receive_busy;
            if (on_message_) {
                on_message_({static_cast<Rank>(from), static_cast<Rank>(r), found->bytes,
                             found->sent, rank.in_free});
            }
            rank.inbox.erase(found);
            rank.posted.erase(rank.posted.begin());
        }
        return true;
    }

    MessageModel model_;
    const std::function<void(const SimulatedMessage&)>& on_message_;
    std::vector<RankState> ranks_;
    std::vector<Event> events_;
    std::vector<std::uint32_t> ready_;
    Simulation result_;
};

}  // namespace

MessageModel MessageModel::linear(double start_up, double per_byte) {
    MessageModel model;
    model.send_busy = start_up;
    model.send_per_byte = per_byte;
    return model;
}

MessageModel MessageModel::postal(double start_up, double per_byte, double lambda) {
    MessageModel model = linear(start_up, per_byte);
    model.latency_factor = lambda;
    return model;
}

MessageModel MessageModel::loggp(double latency, double overhead, double gap, double gap_per_byte) {
    MessageModel model;
    model.send_busy = overhead;
    model.receive_busy = overhead;
    model.latency = latency;
    model.gap = gap;
    model.wire_per_byte = gap_per_byte;
    return model;
}

Simulation simulate(std::uint32_t n, const Generator& generate, const MessageModel& model,
                    const std::function<void(const SimulatedMessage&)>& on_message) {
    return Simulator(n, model, on_message).run(generate);
}

}  // namespace poe::collectives
