// Measures sends; see send_explanation.hpp. It is separate from call_grid.hpp because it times
// single messages.
#include "collectives/mptune/send_explanation.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <vector>

#include "comm/api/api_call.hpp"
#include "comm/api/mpproto.h"

namespace poe::collectives {
namespace {

constexpr Bytes kShortest = 4 << 10;
constexpr Bytes kLongest = 4 << 20;
constexpr int kRepetitions = 15;
constexpr int kRounds = 64;  // in one repetition, fewer if messages are long
constexpr int kType = 1;

void ping_pong(std::vector<std::byte>& buffer, Bytes length, int me) {
    int from = 1 - me;
    int type = kType;
    int got = 0;
    if (me == 0) mpc_bsend(buffer.data(), length, 1, kType);
    mpc_brecv(buffer.data(), length, &from, &type, &got);
    if (me == 1) mpc_bsend(buffer.data(), length, 0, kType);
}

// Returns the median of half a round trip, in microseconds.
double time_of(std::vector<std::byte>& buffer, Bytes length, int me) {
    const int rounds = static_cast<int>(std::clamp<Bytes>(kLongest / length, 4, kRounds));
    std::vector<double> times;
    for (int i = 0; i < kRepetitions; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        for (int round = 0; round < rounds; ++round) ping_pong(buffer, length, me);
        const std::chrono::duration<double, std::micro> took =
            std::chrono::steady_clock::now() - begin;
        times.push_back(took.count() / rounds / 2);
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

const char* name_of(comm::CopyMethod transport) {
    return transport == comm::CopyMethod::kFetch ? "fetched" : "streamed";
}

}  // namespace

int explain_sends(int me, int tasks) {
    comm::Runtime& runtime = comm::the_runtime();
    if (tasks < 2 || runtime.shared_memory() == nullptr ||
        !runtime.segment()->local_index(1 - std::min(me, 1))) {
        if (me == 0)
            std::fprintf(stderr, "mptune: -explain send needs two tasks that share a node\n");
        return 2;
    }
    if (me > 1) return 0;
    comm::MessageLayer& messages = runtime.messages();
    std::vector<std::byte> buffer(kLongest);
    if (me == 0)
        std::printf(
            "messages between two tasks of a node, the receiver waiting; us\n"
            "%10s %12s %12s  %s\n",
            "bytes", "streamed us", "fetched us", "taken");
    for (Bytes length = kShortest; length <= kLongest; length *= 2) {
        messages.take_long_way(comm::CopyMethod::kStream);
        const double streamed = time_of(buffer, length, me);
        messages.take_long_way(comm::CopyMethod::kFetch);
        const double fetched = time_of(buffer, length, me);
        messages.take_long_way(std::nullopt);
        time_of(buffer, length, me);
        if (me == 0)
            std::printf("%10llu %12.2f %12.2f  %s\n", static_cast<unsigned long long>(length),
                        streamed, fetched, name_of(messages.cheaper_way(1, length)));
    }
    return 0;
}

}  // namespace poe::collectives
