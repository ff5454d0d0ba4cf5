// Executes schedules against a clock; see simulator.hpp.
#include "collectives/mpsim/simulator.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <random>

#include "collectives/mpsim/messages_under_way.hpp"
#include "collectives/mpsim/shared_cores.hpp"

namespace poe::collectives {
namespace {

enum class Kind : std::uint32_t { kSend, kReceive, kWait, kScratch };

// A step, as small as possible, because there are tens of millions.
struct Event {
    std::uint32_t kind : 2;
    std::uint32_t number : 30;  // the peer, or the number of messages to wait for
    std::uint32_t bytes;
};

constexpr std::uint32_t kNone = MessagesUnderWay::kNone;

// The steps of all ranks; those of one rank are contiguous. They are stored in blocks, so that no
// step is ever copied.
class Events {
  public:
    // From now on, add() is for another rank, which has at most `most` steps.
    void start_rank(std::size_t most) {
        if (block_.capacity() - block_.size() >= most) return;
        full_.push_back(std::move(block_));
        block_ = {};
        block_.reserve(std::max(most, kBlock));
    }
    void add(const Event& event) { block_.push_back(event); }
    const Event* end() const { return block_.data() + block_.size(); }

  private:
    static constexpr std::size_t kBlock = std::size_t{1} << 20;
    std::vector<std::vector<Event>> full_;
    std::vector<Event> block_;
};

// One cache line, because the order in which ranks are visited is far from their order in memory.
struct alignas(64) SimulatedRank {
    const Event* next = nullptr;
    const Event* open = nullptr;  // the first receive not waited for, or a step before it
    double now = 0;
    double out_free = 0;  // when the ports are free again
    double in_free = 0;
    std::uint32_t left = 0;         // number of events from `next` on
    std::uint32_t before_open = 0;  // number of messages started before `open`
    std::uint32_t parked_for = 0;   // 1 + the rank whose message it waits for; 0: it does not wait
    std::uint32_t in_hand = kNone;  // the message for `open`, once it was sent
    MessagesUnderWay::Inbox inbox;
};
static_assert(sizeof(SimulatedRank) == 64);

// When the cables of a node are free again.
struct Cables {
    double out_free = 0;
    double in_free = 0;
};

// When a port of a rank is free again in each direction.
struct Port {
    double out_free = 0;
    double in_free = 0;
};

// The links of a node of a mesh.
enum Direction : std::uint32_t { kRight, kLeft, kDown, kUp, kDirections };

class Simulator {
  public:
    Simulator(std::uint32_t n, const MessageModel& model, const SimulatedNodes& nodes,
              const SimulatedCores& cores, const SimulatedMesh& mesh,
              const std::function<void(const SimulatedMessage&)>& on_message)
        : model_(model), nodes_(nodes), mesh_(mesh), on_message_(on_message), ranks_(n) {
        if (shares_cables())
            cables_.resize(1 + *std::max_element(nodes.node_of.begin(), nodes.node_of.end()));
        if (is_mesh()) link_free_.resize(std::size_t{n} * kDirections);
        if (model.ports > 1) ports_.resize(std::size_t{n} * model.ports);
        if (cores.of_a_node > 0) cores_.emplace(n, nodes.node_of, cores.of_a_node, cores.turn);
    }

    Simulation run(const Generator& generate) {
        if (!load(generate)) return std::move(result_);
        // If ranks share cables or cores, they are simulated in the order of time. Otherwise each
        // rank in turn is simulated as far as possible.
        for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
            wake(r, 0);
            if (!in_order_of_time()) advance_all();
        }
        advance_all();
        for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
            if (ranks_[r].left > 0 && result_.fault.empty())
                result_.fault = "rank " + std::to_string(r) + " waits forever";
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
            events_.start_rank(schedule.steps().size());
            ranks_[r].next = ranks_[r].open = events_.end();
            for (const Step& step : schedule.steps()) {
                if (step.length > 0xffffffffu) {
                    result_.fault = "a message or block is longer than 4 GB";
                    result_.too_long = true;
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
            ranks_[r].left = static_cast<std::uint32_t>(events_.end() - ranks_[r].next);
        }
        for (std::size_t round = 0; round < used.size(); ++round) {
            result_.counts.c1 += used[round] ? 1 : 0;
            result_.counts.c2 += largest[round];
        }
        return true;
    }

    void add(const Step& step) {
        Kind kind = Kind::kScratch;
        if (step.kind == StepKind::kSend) kind = Kind::kSend;
        if (step.kind == StepKind::kReceive) kind = Kind::kReceive;
        if (step.kind == StepKind::kWait) kind = Kind::kWait;
        if (kind == Kind::kScratch && model_.work_per_byte == 0 && model_.work_per_piece == 0)
            return;
        events_.add({static_cast<std::uint32_t>(kind),
                     static_cast<std::uint32_t>(step.peer) & 0x3fffffffu,
                     static_cast<std::uint32_t>(step.length)});
    }

    bool shares_cables() const { return !nodes_.node_of.empty(); }
    bool is_mesh() const { return mesh_.columns > 0; }
    bool shares_links() const { return shares_cables() || is_mesh(); }
    bool in_order_of_time() const { return shares_links() || cores_; }

    // The ranks that have a core of their own and can proceed. If they share links, this is a heap
    // with the earliest on top. Otherwise the last one added comes first, because it is in the
    // cache.
    struct Ready {
        double now = 0;
        std::uint32_t rank = 0;
    };
    static bool is_later(const Ready& a, const Ready& b) {
        return a.now != b.now ? a.now > b.now : a.rank > b.rank;
    }
    void enqueue(std::uint32_t r) {
        ready_.push_back({ranks_[r].now, r});
        if (shares_links()) std::push_heap(ready_.begin(), ready_.end(), is_later);
    }
    // The rank waited for something that is available at `time`.
    void wake(std::uint32_t r, double time) {
        if (cores_)
            cores_->ready(r, time);
        else
            enqueue(r);
    }
    // Interrupts a rank that has reached its time, so that others can reach it too.
    void step_aside(std::uint32_t r) {
        if (cores_)
            cores_->keep(r, ranks_[r].now);
        else
            enqueue(r);
    }
    bool others_are_earlier(double time) const {
        if (cores_) return cores_->earliest() < time;
        return !ready_.empty() && ready_.front().now < time;
    }
    std::optional<std::uint32_t> next_rank() {
        if (cores_) {
            const auto turn = cores_->next();
            if (!turn) return std::nullopt;
            ranks_[turn->rank].now = turn->time;
            return turn->rank;
        }
        if (ready_.empty()) return std::nullopt;
        if (shares_links()) std::pop_heap(ready_.begin(), ready_.end(), is_later);
        const std::uint32_t next = ready_.back().rank;
        ready_.pop_back();
        return next;
    }
    void advance_all() {
        while (const auto next = next_rank()) advance(*next);
    }

    void advance(std::uint32_t r) {
        SimulatedRank& rank = ranks_[r];
        rank.parked_for = 0;
        for (; rank.left > 0; ++rank.next, --rank.left) {
            const Event& event = *rank.next;
            switch (static_cast<Kind>(event.kind)) {
                case Kind::kSend:
                    if (is_too_early(r, event)) {
                        step_aside(r);
                        return;
                    }
                    send(r, event);
                    break;
                case Kind::kReceive:
                    break;
                case Kind::kWait:
                    if (cores_ && awaits(rank) && others_are_earlier(rank.now)) {
                        step_aside(r);
                        return;
                    }
                    if (!wait(r)) {
                        if (cores_) cores_->hand_on(r, rank.now);
                        return;
                    }
                    break;
                case Kind::kScratch:
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
    // The time from the first byte to the last one.
    static double stretch(const MessageModel& model, Bytes bytes) {
        return bytes > 0 ? static_cast<double>(bytes - 1) * model.wire_per_byte : 0;
    }
    static double port(const MessageModel& model, Bytes bytes) {
        return std::max(busy(model, bytes), model.gap + stretch(model, bytes));
    }
    double cable(Bytes bytes) const {
        return static_cast<double>(bytes) * std::max(model_.send_per_byte, model_.wire_per_byte);
    }

    // True if another rank may need the cable or link before this time, or may wait for an earlier
    // event.
    bool is_too_early(std::uint32_t from, const Event& event) {
        const bool shared = is_mesh() || (shares_cables() && apart(from, event.number));
        if (!cores_ && !shared) return false;
        SimulatedRank& rank = ranks_[from];
        rank.now = std::max(rank.now, rank.out_free);
        return others_are_earlier(rank.now);
    }

    void send(std::uint32_t from, const Event& event) {
        SimulatedRank& rank = ranks_[from];
        const std::uint32_t to = event.number;
        const MessageModel& model = this->model(from, to);
        const bool by_cable = shares_cables() && apart(from, to);
        double start = ports_.empty() ? std::max(rank.now, rank.out_free) : rank.now;
        if (by_cable) {
            Cables& own = cables_[nodes_.node_of[from]];
            start = std::max(start, own.out_free - model.send_busy);
            own.out_free = start + model.send_busy + cable(event.bytes);
        }
        if (is_mesh()) start = occupy_path(from, to, start, busy(model, event.bytes));
        if (ports_.empty()) {
            rank.now = start + busy(model, event.bytes);
            rank.out_free = start + port(model, event.bytes);
        } else {
            double& out = earliest(&Port::out_free, from);
            start = std::max(rank.now, out);
            out = start + port(model, event.bytes);
            // The time until which the rank waits for its messages.
            rank.out_free = std::max(rank.out_free, out);
        }
        double arrives = start + busy(model, event.bytes) * model.latency_factor +
                         stretch(model, event.bytes) + model.latency;
        if (by_cable) {
            Cables& other = cables_[nodes_.node_of[to]];
            arrives = std::max(arrives, other.in_free + cable(event.bytes));
            other.in_free = arrives;
        }
        SimulatedRank& peer = ranks_[to];
        // If not all ranks are in the order of time, the receiver's port is considered when it
        // waits.
        if (cores_) {
            arrives = std::max(arrives, peer.in_free + port(model, event.bytes));
            peer.in_free = arrives;
        }
        const std::uint32_t message = messages_.keep({from, event.bytes, start, arrives});
        if (peer.parked_for == from + 1) {
            peer.parked_for = 0;
            peer.in_hand = message;
            wake(to, arrives);
        } else {
            messages_.enqueue(peer.inbox, to, message);
        }
    }

    // True if the wait that is the next step is for a receive, which is then `open`.
    static bool awaits(SimulatedRank& rank) {
        const std::uint32_t messages = rank.next->number;
        for (; rank.open != rank.next && rank.before_open < messages; ++rank.open) {
            const auto kind = static_cast<Kind>(rank.open->kind);
            if (kind == Kind::kReceive) return true;
            rank.before_open += kind == Kind::kSend ? 1 : 0;
        }
        return false;
    }

    // Completes receives in the order in which they were started. Returns false if a message has
    // not been sent, or, with shared cores, has not arrived.
    bool wait(std::uint32_t r) {
        SimulatedRank& rank = ranks_[r];
        while (awaits(rank)) {
            const std::uint32_t from = rank.open->number;
            if (rank.in_hand == kNone) rank.in_hand = messages_.dequeue(rank.inbox, from, r);
            if (rank.in_hand == kNone) {
                rank.parked_for = from + 1;
                return false;
            }
            MessageUnderWay& message = messages_[rank.in_hand];
            const MessageModel& model = this->model(from, r);
            if (cores_) {
                if (message.arrives > rank.now) {
                    cores_->ready(r, message.arrives);
                    return false;
                }
            } else {
                double& in_free = ports_.empty() ? rank.in_free : earliest(&Port::in_free, r);
                in_free = std::max(message.arrives, in_free + port(model, message.bytes));
                message.arrives = in_free;
                rank.now = std::max(rank.now, in_free);
            }
            rank.now += model.receive_busy;
            if (on_message_) {
                on_message_({static_cast<Rank>(from), static_cast<Rank>(r), message.bytes,
                             message.sent, message.arrives});
            }
            messages_.forget(rank.in_hand);
            rank.in_hand = kNone;
            ++rank.open;
            ++rank.before_open;
        }
        if (!ports_.empty()) rank.now = std::max(rank.now, rank.out_free);
        return true;
    }

    // When the first of a rank's ports is free in one direction.
    double& earliest(double Port::*direction, std::uint32_t rank) {
        const auto first = ports_.begin() + std::ptrdiff_t{rank} * model_.ports;
        const auto port = std::min_element(
            first, first + model_.ports,
            [&](const Port& a, const Port& b) { return a.*direction < b.*direction; });
        return (*port).*direction;
    }

    // Occupies the links from the node of one rank to that of another for `duration`, as soon as
    // all are free and not before `start`. Returns when that is.
    double occupy_path(std::uint32_t from, std::uint32_t to, double start, double duration) {
        std::uint32_t at = mesh_.place_of[from];
        const std::uint32_t end = mesh_.place_of[to];
        path_.clear();
        const auto go = [&](std::uint32_t next, Direction direction) {
            path_.push_back(at * kDirections + direction);
            at = next;
        };
        while (at % mesh_.columns < end % mesh_.columns) go(at + 1, kRight);
        while (at % mesh_.columns > end % mesh_.columns) go(at - 1, kLeft);
        while (at < end) go(at + mesh_.columns, kDown);
        while (at > end) go(at - mesh_.columns, kUp);
        for (const std::uint32_t link : path_) start = std::max(start, link_free_[link]);
        for (const std::uint32_t link : path_) link_free_[link] = start + duration;
        return start;
    }

    MessageModel model_;  // between nodes
    const SimulatedNodes& nodes_;
    const SimulatedMesh& mesh_;
    std::vector<Cables> cables_;
    std::vector<double> link_free_;  // of each node, when its links to the four others are free
    std::vector<std::uint32_t> path_;
    std::vector<Port> ports_;  // of each rank, if it has several
    const std::function<void(const SimulatedMessage&)>& on_message_;
    std::vector<SimulatedRank> ranks_;
    Events events_;
    MessagesUnderWay messages_;
    std::vector<Ready> ready_;
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

SimulatedMesh mesh_in_order(std::uint32_t rows, std::uint32_t columns) {
    SimulatedMesh mesh{columns, std::vector<std::uint32_t>(std::size_t{rows} * columns)};
    std::iota(mesh.place_of.begin(), mesh.place_of.end(), 0u);
    return mesh;
}

SimulatedMesh mesh_at_random(std::uint32_t rows, std::uint32_t columns, std::uint32_t seed) {
    SimulatedMesh mesh = mesh_in_order(rows, columns);
    // Not std::shuffle, whose result differs between libraries.
    std::minstd_rand random(seed);
    for (std::size_t i = mesh.place_of.size(); i > 1; --i)
        std::swap(mesh.place_of[i - 1], mesh.place_of[random() % i]);
    return mesh;
}

Simulation simulate(std::uint32_t n, const Generator& generate, const MessageModel& model,
                    const std::function<void(const SimulatedMessage&)>& on_message,
                    const SimulatedNodes& nodes, const SimulatedCores& cores,
                    const SimulatedMesh& mesh) {
    return Simulator(n, model, nodes, cores, mesh, on_message).run(generate);
}

}  // namespace poe::collectives
