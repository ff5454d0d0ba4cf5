// layer_random: random messages of the message layer against an oracle: several contexts,
// synchronous sends, matched probes, cancelled receives, buffers of any layout. It is beside
// mpl_random because the calls of MPL reach none of these. Linked with the static library, because
// it needs its insides.
//
//   layer_random FIRST_SEED SEEDS BATCHES
//
// POE_RANDOM_SEEDS replaces SEEDS, for long runs. All tasks draw the same batches from the same
// seed. In a batch each task starts its sends in order. Meanwhile it posts receives and probes with
// random patterns, and cancels random receives, until it has received all messages that are meant
// for it; then every receive that is left must be possible to cancel. In some batches no task
// receives anything at first, but takes announced messages into its buffer memory, as in a long
// wait; no synchronous send may have ended after that.
//
// What is checked when a task has received its messages of a batch:
//   - sorted by their numbers, the messages of a source and class are those that it has sent;
//   - source, type, context, full length and bytes are right, and nothing beside the buffer
//     changed;
//   - no overtaking: if a receive got a message although an older one of the same source fitted
//     too, then the older one went to a receive or probe that came before.
#include <deque>
#include <memory>
#include <optional>

#include "comm/bootstrap/process_runtime.hpp"
#include "tests/multiproc/random_traffic.hpp"

using namespace traffic;
using poe::Bytes;
using poe::TaskId;
using namespace poe::comm;

namespace {

constexpr poe::ContextId kContexts[] = {poe::kMplContext, poe::kFirstMpiContext,
                                        poe::kFirstMpiContext + 1, 0xfffffff0u};
constexpr unsigned char kMark = 0xa5;

struct Planned {
    Message message;
    poe::ContextId context = poe::kMplContext;
    bool synchronous = false;
};

struct Batch {
    bool gated = false;
    FlowClass flow_of_last = FlowClass::kUser;  // the class of messages of the last context
    std::vector<Planned> messages;

    FlowClass flow(poe::ContextId context) const {
        return context == kContexts[3] ? flow_of_last : FlowClass::kUser;
    }
};

Batch draw(Random& random) {
    Batch batch;
    batch.gated = random.below(4) == 0;
    // In a gated batch mpc_sync must not wait for tokens of its class.
    if (!batch.gated && random.below(2) == 0) batch.flow_of_last = FlowClass::kCollective;
    for (const Message& message : draw_batch(random)) {
        batch.messages.push_back({message, kContexts[random.below(4)], random.below(4) == 0});
    }
    return batch;
}

// Blocks of equal length at equal distances, as the general form of a buffer.
class Blocks final : public Layout {
  public:
    Blocks(Bytes size, Bytes block, Bytes stride) : size_(size), block_(block), stride_(stride) {}
    Bytes size() const noexcept override { return size_; }
    std::byte* piece(std::byte* base, Bytes offset, Bytes& length) const noexcept override {
        length = std::min(block_ - offset % block_, size_ - offset);
        return base + offset / block_ * stride_ + offset % block_;
    }
    void copy_out(const std::byte* base, Bytes offset, std::byte* to,
                  Bytes n) const noexcept override {
        for (Bytes length = 0; n > 0; offset += length, to += length, n -= length) {
            const std::byte* at = piece(const_cast<std::byte*>(base), offset, length);
            length = std::min(length, n);
            std::memcpy(to, at, length);
        }
    }
    void copy_in(std::byte* base, Bytes offset, const std::byte* from,
                 Bytes n) const noexcept override {
        for (Bytes length = 0; n > 0; offset += length, from += length, n -= length) {
            std::byte* at = piece(base, offset, length);
            length = std::min(length, n);
            std::memcpy(at, from, length);
        }
    }

  private:
    Bytes size_;
    Bytes block_;
    Bytes stride_;
};

// Memory of a message in one of the forms of BufferView.
class Memory {
  public:
    Memory(Bytes size, Random& random) {
        const Bytes block = random.below(2) == 0 ? 1 + random.below(40) : 1500 + random.below(3000);
        const Bytes gap = 1 + random.below(20);
        const auto form = size == 0 ? 0 : random.below(4);
        if (form == 3) {
            const Bytes blocks = (size + block - 1) / block;
            bytes_.assign(blocks * (block + gap), kMark);
            layout_ = std::make_unique<Blocks>(size, block, block + gap);
            view_ = BufferView(bytes_.data(), *layout_, size);
        } else if (form == 2 && size % 4 == 0) {
            bytes_.assign(4 * (size / 4 + gap), kMark);
            view_ = BufferView(bytes_.data(), size / 4, size / 4 + gap, 4);
        } else {
            bytes_.assign(size + gap, kMark);
            view_ = BufferView(bytes_.data(), size);
        }
    }
    const BufferView& view() const { return view_; }

    void put(const std::vector<unsigned char>& text) {
        view_.copy_in(0, reinterpret_cast<const std::byte*>(text.data()), view_.size());
    }
    // True if the first n bytes of the message are those of `text`, and no other byte has changed.
    bool holds(const std::vector<unsigned char>& text, Bytes n) {
        std::vector<std::byte> got(n + 1);
        view_.copy_out(0, got.data(), n);
        if (std::memcmp(got.data(), text.data(), n) != 0) return false;
        std::vector<std::byte> marks(n, std::byte{kMark});
        view_.copy_in(0, marks.data(), n);
        return std::all_of(bytes_.begin(), bytes_.end(), [](auto byte) { return byte == kMark; });
    }

  private:
    std::vector<unsigned char> bytes_;
    std::unique_ptr<Blocks> layout_;
    BufferView view_;
};

struct Sending {
    const Planned* what;
    Memory memory;
    SendRequest request;
};

// A receive, or a message that a probe has extracted.
struct Receiving {
    MatchKey pattern;
    std::uint64_t order = 0;  // among the receives and probes of this task
    Memory memory;
    ReceiveRequest request;
    Unexpected* extracted = nullptr;  // until its receive has started
};

class Player {
  public:
    Player(const Batch& batch, Random& own)
        : batch_(batch), own_(own), runtime_(the_runtime()), layer_(runtime_.messages()) {
        for (const Planned& each : batch.messages) {
            if (each.message.source == me) to_send_.push_back(&each);
            if (each.message.dest == me) to_receive_.push_back(&each);
            if (each.message.dest == me) largest_ = std::max(largest_, each.message.size);
        }
    }

    void play() {
        if (batch_.gated) {
            while (sending_.size() < to_send_.size()) send_next();
            meet();
            // What a task does that has waited for long.
            for (int looks = 0; looks < 20; ++looks) {
                layer_.progress();
                layer_.take_in_offers();
            }
            meet();
            for (const Sending& each : sending_) {
                if (each.request.synchronous && each.request.outcome != Outcome::kPending)
                    fail("a synchronous send ended before any receive was posted");
            }
            meet();
        }
        while (sending_.size() < to_send_.size() || ended_.size() < to_receive_.size() ||
               !all_sent()) {
            act();
        }
        for (const auto& left : open_) {
            if (left->extracted != nullptr) fail("a message was extracted that nobody has sent");
            if (!layer_.cancel(left->request)) fail("a receive matched that could not");
        }
        check();
    }

  private:
    static void meet() {
        if (mpc_sync(ALLGRP) != 0) fail("mpc_sync");
    }
    bool all_sent() const {
        return std::all_of(sending_.begin(), sending_.end(), [](const Sending& each) {
            if (each.request.outcome > Outcome::kDone) fail("a send failed");
            return each.request.outcome == Outcome::kDone;
        });
    }

    void send_next() {
        const Planned& what = *to_send_[sending_.size()];
        Sending& one = sending_.emplace_back(Sending{&what, Memory(what.message.size, own_), {}});
        std::vector<unsigned char> text;
        fill(text, what.message);
        one.memory.put(text);
        one.request = SendRequest(one.memory.view(), what.message.dest, what.message.type,
                                  what.context, batch_.flow(what.context));
        one.request.synchronous = what.synchronous;
        layer_.start(one.request);
    }

    MatchKey draw_pattern() {
        const Planned& like = *to_receive_[own_.below(to_receive_.size())];
        MatchKey key{like.context, like.message.source, like.message.type};
        if (own_.below(2) == 0) key.source = kWildcard;
        if (own_.below(2) == 0) key.type = kWildcard;
        return key;
    }

    Receiving& open(const MatchKey& pattern) {
        const Bytes room = own_.below(8) == 0 ? own_.below(largest_ + 1) : largest_;
        open_.push_back(std::make_unique<Receiving>(
            Receiving{pattern, next_order_++, Memory(room, own_), {}, nullptr}));
        open_.back()->request.view = open_.back()->memory.view();
        return *open_.back();
    }

    void act() {
        const bool more = ended_.size() < to_receive_.size();
        const auto what = own_.below(10);
        if (what < 3 && sending_.size() < to_send_.size()) {
            send_next();
        } else if (what < 6 && more && open_.size() < 2 * to_receive_.size()) {
            Receiving& one = open(draw_pattern());
            one.request.wanted = one.pattern;
            layer_.start(one.request);
        } else if (what == 6 && more) {
            const MatchKey pattern = draw_pattern();
            if (Unexpected* message = layer_.extract(pattern)) open(pattern).extracted = message;
        } else if (what == 7 && !open_.empty()) {
            change(own_.below(open_.size()));
        } else if (what == 8) {
            if (own_.below(4) == 0) layer_.take_in_offers();
        } else if (!layer_.progress()) {
            runtime_.pause_between_looks();
        }
        collect();
    }

    // Receives what a probe has extracted, or cancels a receive.
    void change(std::size_t i) {
        Receiving& one = *open_[i];
        if (one.extracted != nullptr) {
            layer_.start(one.request, *std::exchange(one.extracted, nullptr));
        } else if (layer_.cancel(one.request)) {
            if (one.request.outcome != Outcome::kCancelled) fail("not cancelled");
            open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(i));
        } else if (one.request.source < 0) {
            fail("a receive without a message could not be cancelled");
        }
    }

    void collect() {
        for (std::size_t i = 0; i < open_.size();) {
            if (open_[i]->request.outcome == Outcome::kPending) {
                ++i;
                continue;
            }
            if (open_[i]->request.outcome != Outcome::kDone) fail("a receive failed");
            ended_.push_back(std::move(open_[i]));
            open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(i));
        }
    }

    void check() {
        if (ended_.size() != to_receive_.size()) fail("too many messages");
        std::sort(ended_.begin(), ended_.end(), [](const auto& a, const auto& b) {
            return a->request.number < b->request.number;
        });
        for (int source = 0; source < tasks; ++source) {
            for (const FlowClass flow : {FlowClass::kUser, FlowClass::kCollective})
                check_source(source, flow);
        }
    }

    void check_source(int source, FlowClass flow) {
        std::vector<const Planned*> sent;
        for (const Planned* each : to_receive_) {
            if (each->message.source == source && batch_.flow(each->context) == flow)
                sent.push_back(each);
        }
        std::vector<Receiving*> got;
        for (const auto& each : ended_) {
            if (each->request.source == source && each->request.flow == flow)
                got.push_back(each.get());
        }
        if (sent.size() != got.size()) fail("another number of messages", source);
        for (std::size_t i = 0; i < got.size(); ++i) check_message(*sent[i], *got[i]);
        for (std::size_t later = 0; later < got.size(); ++later) {
            for (std::size_t older = 0; older < later; ++older) {
                const bool fitted = fits(got[later]->pattern, *sent[older]);
                if (fitted && got[older]->order > got[later]->order)
                    fail("a message overtook an older one", source, sent[older]->message.type);
            }
        }
    }

    static bool fits(const MatchKey& pattern, const Planned& what) {
        return pattern.context == what.context &&
               (pattern.source == kWildcard || pattern.source == what.message.source) &&
               (pattern.type == kWildcard || pattern.type == what.message.type);
    }

    static void check_message(const Planned& what, Receiving& got) {
        const ReceiveRequest& request = got.request;
        if (!fits(got.pattern, what)) fail("a receive got what it did not ask for", what.context);
        if (request.type != what.message.type) fail("wrong type", request.type, what.message.type);
        if (request.length != what.message.size)
            fail("wrong length", static_cast<long long>(request.length),
                 static_cast<long long>(what.message.size));
        const Bytes expected = std::min<Bytes>(request.view.size(), what.message.size);
        if (request.expected != expected) fail("wrong length of what was kept");
        std::vector<unsigned char> text;
        fill(text, what.message);
        if (!got.memory.holds(text, expected))
            fail("wrong content", what.message.source, static_cast<long long>(expected));
    }

    const Batch& batch_;
    Random& own_;
    Runtime& runtime_;
    MessageLayer& layer_;
    std::vector<const Planned*> to_send_;
    std::vector<const Planned*> to_receive_;
    Bytes largest_ = 0;
    std::uint64_t next_order_ = 0;
    std::deque<Sending> sending_;
    std::vector<std::unique_ptr<Receiving>> open_;
    std::vector<std::unique_ptr<Receiving>> ended_;
};

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) return 2;
    const unsigned long long first = std::strtoull(argv[1], nullptr, 10);
    const char* more = std::getenv("POE_RANDOM_SEEDS");
    const unsigned long long seeds = std::strtoull(more != nullptr ? more : argv[2], nullptr, 10);
    const long batches = std::atol(argv[3]);
    if (mpc_environ(&tasks, &me) != 0) return 1;
    for (current_seed = first; current_seed < first + seeds; ++current_seed) {
        Random common(current_seed);
        Random own(current_seed * 1000 + static_cast<unsigned>(me));
        for (long number = 0; number < batches; ++number) {
            const Batch batch = draw(common);
            Player(batch, own).play();
            if (mpc_sync(ALLGRP) != 0) fail("mpc_sync");
        }
    }
    return 0;
}
