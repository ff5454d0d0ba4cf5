// mpl_random: random messages against an oracle. All tasks draw the same batches from the same
// seed, so that each knows what it must send and what it may receive.
//
//   mpl_random FIRST_SEED SEEDS BATCHES [ordered]
//
// A batch is a list of messages. Half of the batches mix all kinds of calls, see
// mpl_random_mixed.cpp. In the others each task first sends all of its own, then receives all
// meant for it in one of four styles: by (source, type) in random order, by (source, any), by (any,
// type), by (any, any). So sends run ahead of receives, and the buffer memory has to take what was
// not asked for. With `ordered` every task works through the list in order, which must never need
// any buffer memory. Between batches all synchronise, while stragglers still receive with
// wildcards.
#include "tests/multiproc/random_traffic.hpp"

using namespace traffic;

namespace {

void send(const Message& message) {
    static std::vector<unsigned char> bytes;
    fill(bytes, message);
    if (mpc_bsend(bytes.data(), message.size, message.dest, message.type) != 0) fail("mpc_bsend");
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
            if (!ordered && common.below(4) == 0) exchange(common, own);
            std::vector<Message> batch = draw_batch(common);
            if (ordered) {
                run_in_order(batch, own);
            } else if (common.below(2) == 0) {
                run_mixed(batch, own);
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
