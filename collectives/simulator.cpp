// Running schedules against a clock; see simulator.hpp.
#include "collectives/simulator.hpp"

#include <algorithm>
#include <optional>

#include "collectives/shared_cores.hpp"

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

// Taken from the front for the most part; as small as a vector while it is empty.
template <typename T>
class Queue {
  public:
    bool empty() const { return first_ == all_.size(); }
    auto begin() { return all_.begin() + static_cast<std::ptrdiff_t>(first_); }
    auto end() { return all_.end(); }
    const T& front() const { return all_[first_]; }
    void push_back(const T& one) { all_.push_back(one); }
    void erase(typename std::vector<T>::iterator one) {
        std::move_backward(begin(), one, one + 1);
        if (++first_ == all_.size()) {
            all_.clear();
            first_ = 0;
        }
    }

  private:
    std::vector<T> all_;
    std::size_t first_ = 0;
};

struct RankState {
    std::size_t next = 0;  // event
    std::size_t end = 0;
    double now = 0;
    double out_free = 0;  // when the ports are free again
    double in_free = 0;
    std::uint32_t started = 0;
    std::uint32_t parked_for = 0;  // rank + 1 whose message it waits for; 0: it does not
    Queue<Posted> posted;          // receives that have not been waited for
    Queue<InFlight> inbox;         // messages on their way, in the order they were sent
};

// When the cables of a node are free again.
struct Cables {
    double out_free = 0;
    double in_free = 0;
};

class Simulator {
  public:
    Simulator(std::uint32_t n, const MessageModel& model, const SimulatedNodes& nodes,
              const SimulatedCores& cores,
              const std::function<void(const SimulatedMessage&)>& on_message)
        : model_(model), nodes_(nodes), on_message_(on_message), ranks_(n) {
        if (shares_cables())
            cables_.resize(1 + *std::max_element(nodes.node_of.begin(), nodes.node_of.end()));
        if (cores.of_a_node > 0) cores_.emplace(n, nodes.node_of, cores.of_a_node, cores.turn);
    }

    Simulation run(const Generator& generate) {
        if (!load(generate)) return std::move(result_);
        // Who shares something comes in the order of time. Others go as far as they can, one by
        // one.
        for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
            wake(r, 0);
            if (!in_order_of_time()) advance_all();
        }
        advance_all();
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
        if (kind == Kind::kWork && model_.work_per_byte == 0 && model_.work_per_piece == 0) return;
        events_.push_back({static_cast<std::uint32_t>(kind),
                           static_cast<std::uint32_t>(step.peer) & 0x3fffffffu,
                           static_cast<std::uint32_t>(step.length)});
    }

    bool shares_cables() const { return !nodes_.node_of.empty(); }
    bool in_order_of_time() const { return shares_cables() || cores_; }

    // Ranks with cores of their own that can go on are a heap, the earliest on top.
    auto later() const {
        return [this](std::uint32_t a, std::uint32_t b) {
            return ranks_[a].now != ranks_[b].now ? ranks_[a].now > ranks_[b].now : a > b;
        };
    }
    void enqueue(std::uint32_t r) {
        ready_.push_back(r);
        std::push_heap(ready_.begin(), ready_.end(), later());
    }
    // It has waited for what is there at `time`.
    void wake(std::uint32_t r, double time) {
        if (cores_)
            cores_->ready(r, time);
        else
            enqueue(r);
    }
    // It has done what comes before its time, and lets others come to that.
    void step_aside(std::uint32_t r) {
        if (cores_)
            cores_->keep(r, ranks_[r].now);
        else
            enqueue(r);
    }
    bool others_are_earlier(double time) const {
        if (cores_) return cores_->earliest() < time;
        return !ready_.empty() && ranks_[ready_.front()].now < time;
    }
    std::optional<std::uint32_t> next_rank() {
        if (cores_) {
            const auto turn = cores_->next();
            if (!turn) return std::nullopt;
            ranks_[turn->rank].now = turn->time;
            return turn->rank;
        }
        if (ready_.empty()) return std::nullopt;
        std::pop_heap(ready_.begin(), ready_.end(), later());
        const std::uint32_t next = ready_.back();
        ready_.pop_back();
        return next;
    }
    void advance_all() {
        while (const auto next = next_rank()) advance(*next);
    }

    void advance(std::uint32_t r) {
        RankState& rank = ranks_[r];
        rank.parked_for = 0;
        for (; rank.next < rank.end; ++rank.next) {
            const Event& event = events_[rank.next];
            switch (static_cast<Kind>(event.kind)) {
                case Kind::kSend:
                    if (is_too_early(r, event)) {
                        step_aside(r);
                        return;
                    }
                    send(r, event);
                    ++rank.started;
                    break;
                case Kind::kReceive:
                    rank.posted.push_back({rank.started++, event.number});
                    break;
                case Kind::kWait:
                    if (cores_ && awaits(rank, event.number) && others_are_earlier(rank.now)) {
                        step_aside(r);
                        return;
                    }
                    if (!wait(r, event.number)) {
                        if (cores_) cores_->hand_on(r, rank.now);
                        return;
                    }
                    break;
                case Kind::kWork:
                    rank.now += model_.work_per_piece + event.bytes * model_.work_per_byte;
                    break;
            }
        }
        if (cores_) cores_->hand_on(r, rank.now);
    }

    bool apart(std::uint32_t a, std::uint32_t b) const {
        return !shares_cables() || nodes_.node_of[a] != nodes_.node_of[b];
    }
    const MessageModel& model(std::uint32_t a, std::uint32_t b) const {
        return apart(a, b) ? model_ : nodes_.within;
    }
    static double busy(const MessageModel& model, Bytes bytes) {
        return model.send_busy + static_cast<double>(bytes) * model.send_per_byte;
    }
    static double port(const MessageModel& model, Bytes bytes) {
        return std::max(
            {busy(model, bytes), model.gap, static_cast<double>(bytes) * model.wire_per_byte});
    }
    double cable(Bytes bytes) const {
        return static_cast<double>(bytes) * std::max(model_.send_per_byte, model_.wire_per_byte);
    }

    // Somebody else may want the cable before, or wait for less than this.
    bool is_too_early(std::uint32_t from, const Event& event) {
        if (!cores_ && (!shares_cables() || !apart(from, event.number))) return false;
        RankState& rank = ranks_[from];
        rank.now = std::max(rank.now, rank.out_free);
        return others_are_earlier(rank.now);
    }

    void send(std::uint32_t from, const Event& event) {
        RankState& rank = ranks_[from];
        const std::uint32_t to = event.number;
        const MessageModel& model = this->model(from, to);
        const bool by_cable = shares_cables() && apart(from, to);
        double start = std::max(rank.now, rank.out_free);
        if (by_cable) {
            Cables& own = cables_[nodes_.node_of[from]];
            start = std::max(start, own.out_free - model.send_busy);
            own.out_free = start + model.send_busy + cable(event.bytes);
        }
        rank.now = start + busy(model, event.bytes);
        rank.out_free = start + port(model, event.bytes);
        double arrives = start + busy(model, event.bytes) * model.latency_factor +
                         event.bytes * model.wire_per_byte + model.latency;
        if (by_cable) {
            Cables& other = cables_[nodes_.node_of[to]];
            arrives = std::max(arrives, other.in_free + cable(event.bytes));
            other.in_free = arrives;
        }
        RankState& peer = ranks_[to];
        // Where not all come in the order of time the receiver's port is looked at when it waits.
        if (cores_) {
            arrives = std::max(arrives, peer.in_free + port(model, event.bytes));
            peer.in_free = arrives;
        }
        peer.inbox.push_back({from, event.bytes, start, arrives});
        if (peer.parked_for == from + 1) {
            peer.parked_for = 0;
            wake(to, arrives);
        }
    }

    static bool awaits(const RankState& rank, std::uint32_t messages) {
        return !rank.posted.empty() && rank.posted.front().number < messages;
    }

    // Receives in the order they were started; false: a message is missing, or, where cores are
    // shared, not there yet.
    bool wait(std::uint32_t r, std::uint32_t messages) {
        RankState& rank = ranks_[r];
        while (awaits(rank, messages)) {
            const std::uint32_t from = rank.posted.front().from;
            const auto found =
                std::find_if(rank.inbox.begin(), rank.inbox.end(),
                             [from](const InFlight& each) { return each.from == from; });
            if (found == rank.inbox.end()) {
                rank.parked_for = from + 1;
                return false;
            }
            const MessageModel& model = this->model(from, r);
            if (cores_) {
                if (found->arrives > rank.now) {
                    cores_->ready(r, found->arrives);
                    return false;
                }
            } else {
                rank.in_free = std::max(found->arrives, rank.in_free + port(model, found->bytes));
                found->arrives = rank.in_free;
                rank.now = std::max(rank.now, rank.in_free);
            }
            rank.now += model.receive_busy;
            if (on_message_) {
                on_message_({static_cast<Rank>(from), static_cast<Rank>(r), found->bytes,
                             found->sent, found->arrives});
            }
            rank.inbox.erase(found);
            rank.posted.erase(rank.posted.begin());
        }
        return true;
    }

    MessageModel model_;  // between nodes
    const SimulatedNodes& nodes_;
    std::vector<Cables> cables_;
    const std::function<void(const SimulatedMessage&)>& on_message_;
    std::vector<RankState> ranks_;
    std::vector<Event> events_;
    std::vector<std::uint32_t> ready_;
    std::optional<SharedCores> cores_;
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
                    const std::function<void(const SimulatedMessage&)>& on_message,
                    const SimulatedNodes& nodes, const SimulatedCores& cores) {
    return Simulator(n, model, nodes, cores, on_message).run(generate);
}

}  // namespace poe::collectives
