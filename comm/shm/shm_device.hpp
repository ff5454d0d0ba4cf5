// ShmDevice: the device for tasks of the same node. It creates shared-memory pipes in the node
// segment, keeps the list of active ones, sets and answers doorbells, and wakes sleeping tasks.
//
// A pipe is active while the receiver polls it (its `polled` flag for that sender is 1).
//   1. The first message over an idle pipe also sets the sender's doorbell bit at the receiver and
//      increments the receiver's `rings`. The receiver then activates the pipe.
//   2. If many pipes are active, quiet ones become idle again: the receiver sets the flag to 0,
//      executes the heavy fence, and polls once more.
//   3. The sender loads the flag after the light fence. Either it sees 0 and sets the doorbell bit,
//      or the receiver's last poll sees the message (base/fence.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/fence.hpp"
#include "base/segment/node_segment.hpp"
#include "comm/matching/pipe.hpp"
#include "comm/progress/wait.hpp"
#include "comm/progress/wake_fifo.hpp"
#include "comm/shm/shm_pipe.hpp"

namespace poe::comm {

class ShmDevice;

// Both directions between this task and one other task of the node. Owned by the device.
class ShmPipe final : public Pipe {
  public:
    ShmPipe(ShmDevice& device, TaskId peer, std::uint32_t peer_index);

    Bytes start_frame(const FrameHeader& header, const BufferView& payload, Bytes offset,
                      Bytes cost) override;
    Bytes continue_frame(const BufferView& payload, Bytes offset, Bytes rest) override;
    const FrameHeader* front() override {
        if (!receiver_) return nullptr;
        const FrameHeader* header = receiver_->front();
        if (header != nullptr) sender_.take_echo(header->device);
        return header;
    }
    Bytes read(const BufferView& to, Bytes offset, Bytes n) override;
    Bytes skip(Bytes n) override;
    bool read_whole(const BufferView& to, Bytes cost) override;
    void finish_frame() override;
    void give_tokens(FlowClass flow, Bytes cost) override;
    const char* fault() const override;
    Bytes whole_frames() const noexcept override { return kWholeFrame; }
    bool shows_end_of_peer() const override { return false; }
    bool can_fetch() const override;
    bool fetch(std::uint64_t address, const BufferView& to, Bytes offset, Bytes n) override;
    HandoverSender* handover_out() override;
    HandoverReceiver* handover_in() override { return receiver_ ? &*handover_in_ : nullptr; }
    void wake_after_store() override;

  private:
    friend class ShmDevice;
    void open_receiver();
    bool has_input() const noexcept { return receiver_->has_input() || handover_in_->offered(); }
    void wake_peer() noexcept;
    void tell_sender() noexcept;  // call when the receiver's line was published

    ShmDevice& device_;
    std::uint32_t peer_index_;
    SegmentMapping out_mapping_;
    SegmentMapping in_mapping_;
    TaskSlot& peer_slot_;
    std::atomic<std::uint8_t>& polled_by_peer_;
    ShmSender sender_;
    HandoverSender handover_out_;
    std::unique_ptr<ShmReceiver> receiver_;        // null until the peer has set its doorbell bit
    std::optional<HandoverReceiver> handover_in_;  // likewise
    bool active_ = false;
    std::uint32_t quiet_polls_ = 0;
};

// For one thread. The segment and the fences must outlive the device.
class ShmDevice final : public Device {
  public:
    ShmDevice(const NodeSegment& segment, std::uint32_t own_index, Bytes token_capacity,
              const Fences& fences);

    Pipe& pipe_to(TaskId peer) override;
    bool poll(PipeSink& sink) override;

    // Wakes a task of the node if it sleeps. Call it after a light fence. Never blocks.
    void wake(std::uint32_t peer_index) noexcept {
        if (wake_if_asleep(segment_.slot(peer_index))) [[unlikely]]
            fifos_.wake(segment_.task_at(peer_index));
    }

    std::size_t active_pipes() const noexcept { return active_.size(); }

  private:
    friend class ShmPipe;
    ShmPipe& pipe_at(std::uint32_t peer_index);
    void answer_doorbell();
    bool poll_active(PipeSink& sink);
    void activate(ShmPipe& pipe);
    void retire_quiet_pipes();
    void ring(std::uint32_t peer_index, TaskSlot& peer_slot) noexcept;
    ShmPipeMemory memory_of(std::uint32_t sender, std::uint32_t receiver, std::byte* start) const;

    const NodeSegment& segment_;
    const std::uint32_t own_index_;
    const Bytes token_capacity_;
    const Fences& fences_;
    TaskSlot& own_slot_;
    std::span<std::atomic<std::uint64_t>> own_bits_;
    std::span<std::atomic<std::uint8_t>> own_polled_;
    WakeFifos fifos_;
    std::vector<std::unique_ptr<ShmPipe>> pipes_;  // indexed by local index
    std::vector<ShmPipe*> active_;
    std::uint32_t rings_answered_ = 0;
    std::uint32_t polls_ = 0;
    bool may_fetch_;
};

}  // namespace poe::comm
