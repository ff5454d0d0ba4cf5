// Fuzzing of what a TCP pipe receives. Each input is what a peer writes, in pieces, into the socket
// of a pipe under a message layer with a posted receive. Promises: nothing crashes; memory for what
// nobody asked for stays within the buffer memory; a pipe at fault takes no more.
#include "tests/fuzz/tcp_targets.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <memory>
#include <sys/socket.h>

#include "comm/matching/message_layer.hpp"
#include "comm/tcp/tcp_pipe.hpp"

namespace {

using namespace poe::comm;
using poe::Bytes;
using poe::TaskId;
using poe::UniqueFd;

constexpr Bytes kBufferMem = 16 << 10;
constexpr Bytes kEager = 2048;

struct Host final : TcpPipeHost {
    void want_connection(TcpPipe&) override {}
    void want_room(TcpPipe&) override {}
};

class OnePipe final : public Device {
  public:
    Pipe& pipe_to(TaskId) override { return pipe; }
    bool poll(PipeSink& sink) override {
        const bool arrived = pipe.reads_directly() || pipe.fill();
        return (arrived || pipe.has_input()) && sink.on_input(pipe);
    }
    Host host;
    TcpPipe pipe{1, kBufferMem, "task 1 on there", host};
};

std::string run_pipe(const std::string& input) {
    int fds[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds) != 0) return "no sockets";
    const UniqueFd peer(fds[1]);
    OnePipe device;
    device.pipe.open(UniqueFd(fds[0]));
    poe::SegmentHeader header{};
    const poe::SegmentFacts facts;
    poe::TaskSlot slot{};
    const poe::Fences fences(false);
    Waiter waiter(header, facts, slot, poe::WaitMode::kYield, fences);
    MessageLayer layer(
        {0, 2, kEager, kBufferMem}, {&device}, [&device](TaskId) -> Device& { return device; },
        &waiter);
    std::array<char, 64> room{};
    ReceiveRequest receive;
    receive.view = BufferView(room.data(), room.size());
    receive.wanted = {poe::kMplContext, 1, 7};
    layer.start(receive);
    std::array<char, 4096> long_message{};
    SendRequest send(BufferView(long_message.data(), long_message.size()), 1, 3);
    layer.start(send);  // its grant may be among the input
    // The first byte says how large the pieces are.
    const std::size_t piece = input.empty() ? 1 : static_cast<unsigned char>(input[0]) * 8 + 1;
    for (std::size_t at = 1; at < input.size();) {
        const ssize_t n = ::send(peer.get(), input.data() + at, std::min(piece, input.size() - at),
                                 MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n > 0) at += static_cast<std::size_t>(n);
        const bool moved = layer.progress();
        if (n <= 0 && !moved) break;  // full, and nobody reads any more
    }
    while (layer.progress()) {
    }
    if (layer.unexpected_messages() * kMessageCost > kBufferMem) return "too much is kept";
    if (device.pipe.fault() != nullptr && layer.fault_of(1) == nullptr) return "a fault is hidden";
    if (device.pipe.fault() != nullptr && device.pipe.front() != nullptr)
        return "a broken pipe goes on";
    // Both requests are on this stack.
    if (receive.outcome == Outcome::kPending && receive.moved > room.size()) return "too long";
    return "";
}

std::string frame(FrameKind kind, std::int32_t tag, const std::string& payload,
                  std::uint32_t length) {
    const FrameHeader header{length, tag, poe::kMplContext, kind, FlowClass::kUser, 0};
    std::string bytes(sizeof header, ' ');
    std::memcpy(bytes.data(), &header, sizeof header);
    return bytes + payload;
}

template <typename Body>
std::string body(const Body& content) {
    std::string bytes(sizeof content, ' ');
    std::memcpy(bytes.data(), &content, sizeof content);
    return bytes;
}

}  // namespace

namespace poe::fuzz {

const std::vector<FuzzTarget>& tcp_targets() {
    static const std::vector<FuzzTarget> targets{
        {"tcp", run_pipe, {std::string_view("\x80\0\0\0", 4)}}};
    return targets;
}

void write_tcp_corpus(const std::string& folder) {
    const auto whole = [](FrameKind kind, std::int32_t tag, const std::string& payload) {
        return frame(kind, tag, payload, static_cast<std::uint32_t>(payload.size()));
    };
    RequestBody request;
    request.length = 5000;
    request.send_id = 3;
    GrantBody grant;
    grant.length = 4096;
    grant.send_id = (1U << 20);
    const auto tokens = static_cast<FrameKind>(128);
    const std::string files[] = {
        "\x10" + whole(FrameKind::kEager, 7, "hello") + whole(FrameKind::kEager, 8, "unasked"),
        "\x01" + whole(FrameKind::kRequest, 7, body(request)) + whole(FrameKind::kData, 1, "data"),
        "\x40" + whole(FrameKind::kGrant, 0, body(grant)) + frame(tokens, 0, "", 128),
        "\xff" + whole(FrameKind::kEager, 9, std::string(2000, 'x')) +
            frame(tokens, 0, "", 1 << 30),
        "\x02" + frame(FrameKind::kEager, 7, "cut short", 100),
    };
    int number = 0;
    for (const std::string& file : files)
        std::ofstream(folder + "/" + std::to_string(number++), std::ios::binary) << file;
}

}  // namespace poe::fuzz
