// What the parts of mpl_random share: the messages of a batch, drawn alike in all tasks, and the
// oracle that says which of them a receive must have got.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mpproto.h>
#include <vector>

namespace traffic {

inline int tasks = 0;
inline int me = 0;
inline unsigned long long current_seed = 0;

[[noreturn]] inline void fail(const char* what, long long a = 0, long long b = 0) {
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

inline std::size_t draw_size(Random& random) {
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

inline void fill(std::vector<unsigned char>& bytes, const Message& message) {
    bytes.resize(message.size + 8);
    std::uint64_t word = message.content;
    for (std::size_t at = 0; at < message.size; at += 8) {
        word = word * 6364136223846793005ull + 1442695040888963407ull;
        std::memcpy(&bytes[at], &word, 8);
    }
}

inline std::vector<Message> draw_batch(Random& random) {
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

// The message that a receive must have got: the oldest of that source that fits and is not
// received.
inline Message& oldest(std::vector<Message>& batch, int source, int type) {
    for (Message& message : batch) {
        if (message.dest == me && message.source == source && !message.received &&
            (type == DONTCARE || message.type == type)) {
            return message;
        }
    }
    fail("received a message that does not exist", source, type);
}

inline std::size_t largest(const std::vector<Message>& batch) {
    std::size_t size = 0;
    for (const Message& message : batch) {
        if (message.dest == me) size = std::max(size, message.size);
    }
    return size;
}

// Sends, receives and waits for all messages of the batch that concern this task, in every way
// there is (mpl_random_mixed.cpp).
void run_mixed(std::vector<Message>& batch, Random& own);
// All tasks at once exchange with a neighbour, in one call.
void exchange(Random& common, Random& own);

}  // namespace traffic
