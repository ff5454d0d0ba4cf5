// mpl_random: random messages against an oracle. All tasks draw the same batches from the same
// seed, so that each knows what it must send and what it may receive.
//
//   mpl_random FIRST_SEED SEEDS BATCHES [ordered]
//
// A batch is a list of messages. Usually each task first sends all of its own, then receives all
// meant for it in one of four styles: by (source, type) in random order, by (source, any), by (any,
// type), by (any, any). So sends run ahead of receives, and the buffer memory has to take what was
// not asked for. With `ordered` every task works through the list in order, which must never need
// any buffer memory. Between batches all synchronise, while stragglers still receive with
// wildcards.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mpproto.h>
#include <numeric>
#include <vector>

namespace {

int tasks = 0;
int me = 0;
unsigned long long current_seed = 0;

[[noreturn]] void fail(const char* what, long long a = 0, long long b = 0) {
    std::fprintf(stderr, "mpl_random: task %d, seed %llu: %s (%lld, %lld)\n", me, current_seed,
                 what, a, b);
    mpc_stopall(1);
    std::abort();
}

class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ull + 1) {}
    std::uint64_t next() {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return state_ * 0x2545f4914f6cdd1dull;
    }
    std::uint64_t below(std::uint64_t limit) { return (next() >> 11) % limit; }

  private:
    std::uint64_t state_;
};

struct Message {
    int source;
    int dest;
    int type;
    std::size_t size;
    std::uint64_t content;
    bool received = false;
};

std::size_t draw_size(Random& random) {
    switch (random.below(16)) {
        case 0:
            return 0;
        case 1:
        case 2:
        case 3:
        case 4:
        case 5:
            return random.below(65);
        case 6:
        case 7:
        case 8:
            return random.below(5000);
        case 9:
        case 10:
            return random.below(70000);
        case 11:
            return 4090 + random.below(12);
        case 12:
            return random.below(300000);
        case 13:
            return random.below(8) == 0 ? random.below(8u << 20) : random.below(1000);
        default:
            return random.below(2000);
    }
}

void fill(std::vector<unsigned char>& bytes, const Message& message) {
    bytes.resize(message.size + 8);
    std::uint64_t word = message.content;
    for (std::size_t at = 0; at < message.size; at += 8) {
        word = word * 6364136223846793005ull + 1442695040888963407ull;
        std::memcpy(&bytes[at], &word, 8);
    }
}

std::vector<Message> draw_batch(Random& random) {
    std::vector<Message> batch(1 + random.below(3 * static_cast<unsigned>(tasks) + 4));
    const bool one_receiver = random.below(6) == 0;
    const auto target = static_cast<int>(random.below(static_cast<unsigned>(tasks)));
    for (Message& message : batch) {
        message.source = static_cast<int>(random.below(static_cast<unsigned>(tasks)));
        message.dest =
            one_receiver ? target : static_cast<int>(random.below(static_cast<unsigned>(tasks)));
        message.type = static_cast<int>(random.below(3)) * 1000003;
        message.size = draw_size(random);
        message.content = random.next();
    }
    return batch;
}

void send(const Message& message) {
    static std::vector<unsigned char> bytes;
    fill(bytes, message);
    if (mpc_bsend(bytes.data(), message.size, message.dest, message.type) != 0) fail("mpc_bsend");
}

// The message that a receive must have got: the oldest of that source that fits and is not
// received.
Message& oldest(std::vector<Message>& batch, int source, int type) {
    for (Message& message : batch) {
        if (message.dest == me && message.source == source && !message.received &&
            (type == DONTCARE || message.type == type)) {
            return message;
        }
    }
    fail("received a message that does not exist", source, type);
}

void receive(std::vector<Message>& batch, int source, int type, std::size_t room) {
    static std::vector<unsigned char> bytes;
    static std::vector<unsigned char> expected;
    const unsigned char mark = 0xa5;
    bytes.assign(room + 1, mark);
    int from = source;
    int kind = type;
    std::size_t got = 0;
    if (mpc_brecv(bytes.data(), room, &from, &kind, &got) != 0) fail("mpc_brecv");
    if (source != DONTCARE && from != source) fail("wrong source", from, source);
    if (type != DONTCARE && kind != type) fail("wrong type", kind, type);
    Message& message = oldest(batch, from, type);
    if (message.type != kind) fail("a later message of the source overtook", message.type, kind);
    const std::size_t wanted = std::min(room, message.size);
    if (got != wanted)
        fail("wrong length", static_cast<long long>(got), static_cast<long long>(wanted));
    fill(expected, message);
    if (std::memcmp(bytes.data(), expected.data(), wanted) != 0) {
        fail("wrong content", from, static_cast<long long>(wanted));
    }
    if (bytes[room] != mark) fail("wrote beyond the buffer");
    message.received = true;
}

std::size_t largest(const std::vector<Message>& batch) {
    std::size_t size = 0;
    for (const Message& message : batch) {
        if (message.dest == me) size = std::max(size, message.size);
    }
    return size;
}

void receive_all(std::vector<Message>& batch, Random& own) {
    std::vector<std::size_t> mine;
    for (std::size_t i = 0; i < batch.size(); ++i) {
        if (batch[i].dest == me) mine.push_back(i);
    }
    const std::size_t room = largest(batch);
    const auto style = own.below(4);
    if (style == 0 || style == 2) {
        for (std::size_t i = mine.size(); i > 1; --i) std::swap(mine[i - 1], mine[own.below(i)]);
    }
    for (const std::size_t i : mine) {
        const Message message = batch[i];
        switch (style) {
            case 0: {
                // Now and then too little room: the message is cut.
                const bool cut = own.below(8) == 0;
                receive(batch, message.source, message.type, cut ? own.below(room + 1) : room);
                break;
            }
            case 1:
                receive(batch, message.source, DONTCARE, room);
                break;
            case 2:
                receive(batch, DONTCARE, message.type, room);
                break;
            default:
                receive(batch, DONTCARE, DONTCARE, room);
                break;
        }
    }
}

void run_in_order(std::vector<Message>& batch, Random& own) {
    const std::size_t room = largest(batch);
    for (const Message message : batch) {
        // Nobody can receive while it sends to itself, so that needs buffer memory by nature.
        if (message.source == message.dest && message.size > 2000) {
            for (Message& twin : batch) {
                if (twin.content == message.content) twin.received = true;
            }
            continue;
        }
        if (message.source == me) send(message);
        if (message.dest == me) {
            receive(batch, message.source, own.below(2) == 0 ? message.type : DONTCARE, room);
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) return 2;
    const unsigned long long first = std::strtoull(argv[1], nullptr, 10);
    const unsigned long long seeds = std::strtoull(argv[2], nullptr, 10);
    const long batches = std::atol(argv[3]);
    const bool ordered = argc > 4 && std::strcmp(argv[4], "ordered") == 0;
    if (mpc_environ(&tasks, &me) != 0) return 1;
    for (current_seed = first; current_seed < first + seeds; ++current_seed) {
        Random common(current_seed);
        Random own(current_seed * 1000 + static_cast<unsigned>(me));
        for (long number = 0; number < batches; ++number) {
            std::vector<Message> batch = draw_batch(common);
            if (ordered) {
                run_in_order(batch, own);
            } else {
                for (const Message& message : batch) {
                    if (message.source == me) send(message);
                }
                receive_all(batch, own);
            }
            for (const Message& message : batch) {
                if (message.dest == me && !message.received) fail("a message was left");
            }
            if (mpc_sync(ALLGRP) != 0) fail("mpc_sync");
        }
    }
    return 0;
}
