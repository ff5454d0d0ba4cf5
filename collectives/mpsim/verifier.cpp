// Symbolic execution of schedules; see verifier.hpp.
#include "collectives/mpsim/verifier.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <sstream>
#include <utility>

namespace poe::collectives {
namespace {

// The contributions of `count` ranks at one position of their buffers. `which` identifies the
// ranks: the sum of their marks if the operation is commutative; otherwise the first of several
// adjacent ranks. count 0: the content is unknown. `order` identifies the order of the reductions;
// it does not matter which of two operands comes first, because that changes no bit.
struct Symbol {
    std::uint64_t which = 0;
    std::uint32_t count = 0;
    Bytes position = 0;
    std::uint64_t order = 0;
    bool is_sum_of(const Symbol& other) const {
        return which == other.which && count == other.count && position == other.position;
    }
};

struct Message {
    Rank peer = 0;
    Place place;
    Bytes length = 0;
    bool receive = false;
    bool ended = false;
};

struct VerifiedRank {
    Schedule schedule;
    std::size_t next = 0;  // step
    std::vector<Symbol> buffers[3];
    std::vector<Message> messages;         // in the order of their start
    std::vector<std::uint32_t> open;       // numbers of messages not waited for
    std::vector<std::uint32_t> unmatched;  // numbers of messages whose other end has not been
                                           // started
    std::size_t waited = 0;                // number of messages waited for
    // `heard`: the ranks that must have begun for this rank to be where it is. `told`: for each
    // message, the value of `heard` at its sender when the send was started. Both are used only to
    // verify that a schedule synchronizes the ranks.
    std::vector<bool> heard;
    std::vector<std::vector<bool>> told;
};

struct Wrong {
    std::string text;
};

class Run {
  public:
    Run(const Shape& shape, const Generator& generate, bool barrier)
        : shape_(shape), ranks_(shape.n), barrier_(barrier) {
        for (std::uint32_t r = 0; r < shape.n; ++r) {
            VerifiedRank& state = ranks_[r];
            generate(static_cast<Rank>(r), state.schedule);
            const auto steps = state.schedule.steps();
            state.messages.reserve(static_cast<std::size_t>(std::count_if(
                steps.begin(), steps.end(), [](const Step& step) { return step.is_message(); })));
            if (barrier_) {
                state.heard.resize(shape.n);
                state.heard[r] = true;
            }
            fill(r, state);
            state.buffers[2].resize(state.schedule.work_bytes());
        }
    }

    void finish() {
        std::deque<std::uint32_t> ready;
        for (std::uint32_t r = 0; r < shape_.n; ++r) ready.push_back(r);
        while (!ready.empty()) {
            const std::uint32_t r = ready.front();
            ready.pop_front();
            while (step(r, ready)) {
            }
        }
        for (std::uint32_t r = 0; r < shape_.n; ++r) {
            const VerifiedRank& state = ranks_[r];
            if (state.next < state.schedule.steps().size()) stuck(r);
            if (!state.open.empty()) fail(r, "ends without waiting for its messages");
        }
        for (std::uint32_t r = 0; r < shape_.n; ++r) {
            if (!ranks_[r].unmatched.empty()) fail(r, "has a message without partner");
        }
    }

    void check_results() const {
        for (std::uint32_t r = 0; r < shape_.n; ++r) {
            const std::vector<Symbol>& out = ranks_[r].buffers[1];
            for (Bytes at = 0; at < out.size(); ++at) {
                const Symbol wanted = result(r, at);
                if (wanted.count == 0 || out[at].is_sum_of(wanted)) continue;
                std::ostringstream text;
                text << "has in byte " << at << " of the result " << out[at].count
                     << " contributions (" << out[at].which << ") of position " << out[at].position
                     << ", not " << wanted.count << " (" << wanted.which << ") of position "
                     << wanted.position;
                fail(r, text.str());
            }
            check_order(r);
            if (!barrier_) continue;
            for (std::uint32_t other = 0; other < shape_.n; ++other) {
                if (!ranks_[r].heard[other])
                    fail(r, "may end before rank " + std::to_string(other) + " has begun");
            }
        }
    }

  private:
    void check_order(std::uint32_t r) const {
        if (shape_.operation != Operation::kCombine || shape_.exact) return;
        const std::vector<Symbol>& out = ranks_[r].buffers[1];
        const std::vector<Symbol>& first = ranks_[0].buffers[1];
        for (Bytes at = 0; at < out.size(); ++at) {
            if (out[at].order != first[at].order)
                fail(r, "adds up byte " + std::to_string(at) + " in another order than rank 0");
        }
    }
    [[noreturn]] static void fail(std::uint32_t rank, const std::string& what) {
        throw Wrong{"rank " + std::to_string(rank) + " " + what};
    }

    [[noreturn]] void stuck(std::uint32_t rank) const {
        const VerifiedRank& state = ranks_[rank];
        std::string text = "never gets past step " + std::to_string(state.next) + "; it waits for";
        for (const std::uint32_t index : state.open) {
            const Message& message = state.messages[index];
            text += (message.receive ? " a message from rank " : " its message to rank ") +
                    std::to_string(message.peer);
        }
        fail(rank, text);
    }

    // Sets the sizes and the initial contents of the user's buffers.
    void fill(std::uint32_t r, VerifiedRank& state) const {
        Bytes in = 0;
        Bytes out = shape_.bytes;
        switch (shape_.operation) {
            case Operation::kSync:
                out = 0;
                break;
            case Operation::kBcast:
                break;
            case Operation::kReduce:
            case Operation::kCombine:
            case Operation::kPrefix:
            case Operation::kShift:
                in = shape_.bytes;
                break;
            case Operation::kScatter:
                in = is_root(r) ? shape_.span(0, shape_.n) : 0;
                out = shape_.length(r);
                break;
            case Operation::kGather:
            case Operation::kConcat:
                in = shape_.length(r);
                break;
            case Operation::kIndex:
                in = row(r, shape_.n);
                out = column(r, shape_.n);
                break;
        }
        if (shape_.operation == Operation::kConcat) out = shape_.span(0, shape_.n);
        if (shape_.operation == Operation::kGather) out = is_root(r) ? shape_.span(0, shape_.n) : 0;
        if (shape_.operation == Operation::kReduce && !is_root(r)) out = 0;
        for (Bytes at = 0; at < in; ++at) state.buffers[0].push_back(one(r, at));
        state.buffers[1].resize(out);
        if (shape_.operation != Operation::kBcast || !is_root(r)) return;
        for (Bytes at = 0; at < out; ++at) state.buffers[1][at] = one(r, at);
    }

    bool is_root(std::uint32_t r) const { return static_cast<Rank>(r) == shape_.root; }
    // The position of block j in the input, and in the output, of rank r in an index.
    Bytes row(std::uint32_t r, std::uint32_t j) const {
        Bytes sum = 0;
        for (std::uint32_t i = 0; i < j; ++i) sum += shape_.between(r, i);
        return sum;
    }
    Bytes column(std::uint32_t r, std::uint32_t j) const {
        Bytes sum = 0;
        for (std::uint32_t i = 0; i < j; ++i) sum += shape_.between(i, r);
        return sum;
    }

    // The contribution of one rank, and of the ranks below `ranks`.
    Symbol one(std::uint32_t rank, Bytes position) const {
        return {shape_.commutative ? mark(rank) : rank, 1, position, mark(rank)};
    }
    Symbol first_ones(std::uint32_t ranks, Bytes position) const {
        std::uint64_t which = 0;
        for (std::uint32_t r = 0; shape_.commutative && r < ranks; ++r) which += mark(r);
        return {which, ranks, position, 0};
    }
    // Numbers of which practically no two sums are equal (splitmix64).
    static std::uint64_t mark(std::uint64_t rank) {
        std::uint64_t x = (rank + 1) * 0x9e3779b97f4a7c15u;
        x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
        x = (x ^ x >> 27) * 0x94d049bb133111ebu;
        return x ^ x >> 31;
    }

    // The required content of byte `at` of rank r's result; count 0: any content.
    Symbol result(std::uint32_t r, Bytes at) const {
        const auto root = static_cast<std::uint32_t>(shape_.root);
        switch (shape_.operation) {
            case Operation::kSync:
                return {};
            case Operation::kBcast:
                return one(root, at);
            case Operation::kReduce:
            case Operation::kCombine:
                return first_ones(shape_.n, at);
            case Operation::kPrefix:
                return first_ones(r + 1, at);
            case Operation::kScatter:
                return one(root, shape_.offset(r) + at);
            case Operation::kGather:
            case Operation::kConcat: {
                std::uint32_t owner = 0;
                while (at >= shape_.offset(owner) + shape_.length(owner)) ++owner;
                return one(owner, at - shape_.offset(owner));
            }
            case Operation::kIndex: {
                std::uint32_t owner = 0;
                while (at >= shape_.between(owner, r)) at -= shape_.between(owner++, r);
                return one(owner, row(owner, r) + at);
            }
            case Operation::kShift: {
                const auto n = static_cast<std::int64_t>(shape_.n);
                const std::int64_t source = static_cast<std::int64_t>(r) - shape_.step;
                if (!shape_.circular && (source < 0 || source >= n)) return {};
                return one(static_cast<std::uint32_t>((source % n + n) % n), at);
            }
        }
        return {};
    }

    // Returns the symbols of a block, after checking that the access is allowed.
    Symbol* block(std::uint32_t r, Place place, Bytes length, bool write) {
        VerifiedRank& state = ranks_[r];
        auto& buffer = state.buffers[static_cast<std::size_t>(place.buffer)];
        if (place.offset + length > buffer.size()) fail(r, at_step(r) + "leaves a buffer");
        if (write && place.buffer == Buffer::kInput)
            fail(r, at_step(r) + "writes the user's input");
        for (const std::uint32_t index : state.open) {
            const Message& message = state.messages[index];
            if (message.place.buffer != place.buffer || (!write && !message.receive)) continue;
            if (place.offset < message.place.offset + message.length &&
                message.place.offset < place.offset + length) {
                fail(r, at_step(r) + "touches a block that a message is using");
            }
        }
        return buffer.data() + place.offset;
    }

    std::string at_step(std::uint32_t r) const {
        return "in step " + std::to_string(ranks_[r].next) + " ";
    }

    // Executes one step. Returns false if the rank waits or has ended.
    bool step(std::uint32_t r, std::deque<std::uint32_t>& ready) {
        VerifiedRank& state = ranks_[r];
        if (state.next >= state.schedule.steps().size()) return false;
        const Step& now = state.schedule.steps()[state.next];
        switch (now.kind) {
            case StepKind::kSend:
            case StepKind::kReceive:
                start(r, now, ready);
                break;
            case StepKind::kWait:
                for (; state.waited < static_cast<std::size_t>(now.peer); ++state.waited) {
                    const Message& message = state.messages[state.waited];
                    if (!message.ended) return false;
                    if (barrier_ && message.receive) listen(state, state.told[state.waited]);
                    std::erase(state.open, static_cast<std::uint32_t>(state.waited));
                }
                break;
            case StepKind::kCopy: {
                const Symbol* from = block(r, now.from, now.length, false);
                Symbol* to = block(r, now.to, now.length, true);
                for (Bytes i = 0; i < now.length; ++i) {
                    if (from[i].count == 0) fail(r, at_step(r) + "copies what was never written");
                    to[i] = from[i];
                }
                break;
            }
            case StepKind::kAppend:
            case StepKind::kPrepend: {
                const Symbol* from = block(r, now.from, now.length, false);
                Symbol* to = block(r, now.to, now.length, true);
                const bool append = now.kind == StepKind::kAppend;
                for (Bytes i = 0; i < now.length; ++i)
                    to[i] = append ? joined(r, to[i], from[i]) : joined(r, from[i], to[i]);
                break;
            }
        }
        ++state.next;
        return true;
    }

    static void listen(VerifiedRank& state, const std::vector<bool>& heard) {
        for (std::size_t r = 0; r < heard.size(); ++r) {
            if (heard[r]) state.heard[r] = true;
        }
    }

    Symbol joined(std::uint32_t r, const Symbol& left, const Symbol& right) const {
        if (left.count == 0 || right.count == 0 || left.position != right.position)
            fail(r, at_step(r) + "reduces what does not belong together");
        if (left.count + right.count > shape_.n) fail(r, at_step(r) + "takes a contribution twice");
        const std::uint32_t count = left.count + right.count;
        const std::uint64_t order = mark(left.order + right.order);
        if (shape_.commutative) return {left.which + right.which, count, left.position, order};
        if (left.which + left.count != right.which)
            fail(r, at_step(r) + "reduces out of rank order");
        return {left.which, count, left.position, order};
    }

    void start(std::uint32_t r, const Step& now, std::deque<std::uint32_t>& ready) {
        VerifiedRank& state = ranks_[r];
        const bool receive = now.kind == StepKind::kReceive;
        if (now.peer < 0 || static_cast<std::uint32_t>(now.peer) >= shape_.n ||
            static_cast<std::uint32_t>(now.peer) == r) {
            fail(r, at_step(r) + "has a partner that is none");
        }
        block(r, receive ? now.to : now.from, now.length, receive);
        const auto index = static_cast<std::uint32_t>(state.messages.size());
        state.messages.push_back(
            {now.peer, receive ? now.to : now.from, now.length, receive, false});
        if (barrier_) state.told.push_back(state.heard);
        state.open.push_back(index);
        // The first message of the peer that matches this one. There are few at a time.
        const auto peer = static_cast<std::uint32_t>(now.peer);
        auto& theirs = ranks_[peer].unmatched;
        const auto found = std::find_if(theirs.begin(), theirs.end(), [&](std::uint32_t each) {
            const Message& message = ranks_[peer].messages[each];
            return message.peer == static_cast<Rank>(r) && message.receive != receive;
        });
        if (found == theirs.end()) {
            state.unmatched.push_back(index);
            return;
        }
        const std::uint32_t other = *found;
        theirs.erase(found);
        if (receive) {
            transfer(peer, other, r, index);
        } else {
            transfer(r, index, peer, other);
        }
        ready.push_back(peer);
    }

    void transfer(std::uint32_t from, std::uint32_t sent, std::uint32_t to, std::uint32_t got) {
        VerifiedRank& sender = ranks_[from];
        VerifiedRank& receiver = ranks_[to];
        Message& send = sender.messages[sent];
        Message& receive = receiver.messages[got];
        if (send.length != receive.length)
            fail(from, at_step(from) + "sends " + std::to_string(send.length) + " bytes to rank " +
                           std::to_string(to) + ", which expects " +
                           std::to_string(receive.length));
        const auto& source = sender.buffers[static_cast<std::size_t>(send.place.buffer)];
        auto& target = receiver.buffers[static_cast<std::size_t>(receive.place.buffer)];
        for (Bytes i = 0; i < send.length; ++i)
            target[receive.place.offset + i] = source[send.place.offset + i];
        if (barrier_) receiver.told[got] = sender.told[sent];
        send.ended = true;
        receive.ended = true;
    }

    const Shape& shape_;
    std::vector<VerifiedRank> ranks_;
    bool barrier_;
};

}  // namespace

std::string verify(const Shape& shape, const Generator& generate, bool barrier) {
    try {
        Run run(shape, generate, barrier || shape.operation == Operation::kSync);
        run.finish();
        run.check_results();
        return {};
    } catch (const Wrong& wrong) {
        return wrong.text;
    }
}

std::string verify_one_port(std::uint32_t n, const Generator& generate) {
    std::map<std::pair<Rank, Rank>, std::vector<int>> sent;
    std::map<std::pair<Rank, Rank>, std::vector<int>> received;
    Schedule schedule;
    for (std::uint32_t r = 0; r < n; ++r) {
        const auto me = static_cast<Rank>(r);
        schedule.clear();
        generate(me, schedule);
        std::map<std::pair<StepKind, int>, int> busy;
        for (const Step& step : schedule.steps()) {
            if (!step.is_message()) continue;
            if (++busy[{step.kind, step.round}] > 1)
                return "rank " + std::to_string(r) + " has two messages one way in round " +
                       std::to_string(step.round);
            if (step.kind == StepKind::kSend) {
                sent[{me, step.peer}].push_back(step.round);
            } else {
                received[{step.peer, me}].push_back(step.round);
            }
        }
    }
    return sent == received ? "" : "a message is not received in the round it was sent in";
}

}  // namespace poe::collectives
