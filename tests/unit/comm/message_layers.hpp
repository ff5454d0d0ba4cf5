// Two message layers in one process, joined by a device made of plain memory and moved on by hand;
// messages and receives of text. For the tests of the message layer.
#pragma once

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "comm/matching/message_layer.hpp"
#include "comm/shm/shm_pipe.hpp"

namespace message_layers {

using namespace poe::comm;
using poe::Bytes;
using poe::TaskId;

inline constexpr Bytes kControl = 4096;
inline constexpr Bytes kRing = 32 << 10;
inline constexpr Bytes kBuffer = 64 << 10;
inline constexpr Bytes kEager = 8 << 10;

struct Wire {
    Wire() : start(static_cast<std::byte*>(std::aligned_alloc(4096, kControl + kRing))) {
        std::memset(start, 0, kControl + kRing);
    }
    ~Wire() { std::free(start); }
    Wire(const Wire&) = delete;
    Wire& operator=(const Wire&) = delete;
    ShmPipeMemory view() const {
        return ShmPipeMemory::at(start, kControl, kRing, kBuffer, nullptr);
    }
    std::byte* start;
};

class TestPipe : public Pipe {
  public:
    TestPipe(TaskId peer, const Wire& out, const Wire& in)
        : Pipe(peer), sender(out.view()), receiver(in.view()) {}
    Bytes start_frame(const FrameHeader& header, const BufferView& payload, Bytes offset,
                      Bytes cost) override {
        return sender.start_frame(header, payload, offset, cost);
    }
    Bytes continue_frame(const BufferView& payload, Bytes offset, Bytes rest) override {
        return sender.continue_frame(payload, offset, rest);
    }
    const FrameHeader* front() override { return receiver.front(); }
    Bytes read(const BufferView& to, Bytes offset, Bytes n) override {
        return receiver.read(to, offset, n);
    }
    Bytes skip(Bytes n) override { return receiver.skip(n); }
    bool read_whole(const BufferView& to, Bytes cost) override {
        return receiver.read_whole(to, cost);
    }
    void finish_frame() override { receiver.finish_frame(); }
    void give_tokens(FlowClass flow, Bytes cost) override { receiver.give_tokens(flow, cost); }
    const char* fault() const override {
        return sender.fault() != nullptr ? sender.fault() : receiver.fault();
    }
    ShmSender sender;
    ShmReceiver receiver;
};

class TestDevice final : public Device {
  public:
    TestDevice(TaskId peer, const Wire& out, const Wire& in) : pipe(peer, out, in) {}
    Pipe& pipe_to(TaskId) override { return pipe; }
    bool poll(PipeSink& sink) override { return pipe.receiver.has_input() && sink.on_input(pipe); }
    TestPipe pipe;
};

// Two tasks; `both()` lets both make progress until nothing moves.
struct Pair {
    Pair()
        : zero_device(1, forth, back),
          one_device(0, back, forth),
          fences(false),
          waiter(header, facts, slot, poe::WaitMode::kYield, fences),
          zero(
              {0, 2, kEager, kBuffer}, {&zero_device},
              [this](TaskId) -> Device& { return zero_device; }, &waiter),
          one(
              {1, 2, kEager, kBuffer}, {&one_device},
              [this](TaskId) -> Device& { return one_device; }, &waiter) {
        zero_device.pipe_to(1);
    }
    void both() {
        while (zero.progress() || one.progress()) {
        }
    }
    Wire forth, back;
    TestDevice zero_device, one_device;
    poe::SegmentHeader header{};
    poe::SegmentFacts facts;
    poe::TaskSlot slot{};
    poe::Fences fences;
    Waiter waiter;
    MessageLayer zero, one;
};

struct Sent {
    Sent(MessageLayer& layer, TaskId dest, int type, std::string what,
         poe::ContextId context = poe::kMplContext)
        : text(std::move(what)),
          request({text.data(), text.size()}, dest, type, context,
                  context == poe::kCclContext ? FlowClass::kCollective : FlowClass::kUser) {
        layer.start(request);
    }
    bool done() const { return request.outcome == Outcome::kDone; }
    std::string text;
    SendRequest request;
};

// Device and pipe of a peer whose memory can be read, one of several.
struct FetchablePipe final : TestPipe {
    FetchablePipe(TaskId peer, const Wire& out, const Wire& in, std::string& log)
        : TestPipe(peer, out, in), log_(log) {}
    bool can_fetch() const override { return true; }
    bool fetch(std::uint64_t address, const BufferView& to, Bytes offset, Bytes n) override {
        log_ += n <= kBytesPerVisit ? 'F' : '!';
        if (fails) return false;
        // An address of this process. NOLINTNEXTLINE(performance-no-int-to-ptr)
        to.copy_in(offset, reinterpret_cast<const std::byte*>(address), n);
        return true;
    }
    bool fails = false;

  private:
    std::string& log_;
};

// Receives from several senders, and logs a P for each round of polling.
struct FetchingDevice final : Device {
    Pipe& pipe_to(TaskId peer) override { return *pipes[static_cast<std::size_t>(peer) - 1]; }
    bool poll(PipeSink& sink) override {
        log += 'P';
        bool moved = false;
        for (auto& pipe : pipes)
            moved = (pipe->receiver.has_input() && sink.on_input(*pipe)) || moved;
        return moved;
    }
    std::vector<std::unique_ptr<FetchablePipe>> pipes;
    std::string log;
};

struct Received {
    Received(MessageLayer& layer, TaskId source, int type, std::size_t room = 100,
             poe::ContextId context = poe::kMplContext)
        : bytes(room, '?') {
        request.view = {bytes.data(), room};
        request.wanted = {context, source, type};
        layer.start(request);
    }
    bool done() const { return request.outcome == Outcome::kDone; }
    std::string text() const { return bytes.substr(0, request.expected); }
    std::string bytes;
    ReceiveRequest request;
};

}  // namespace message_layers
