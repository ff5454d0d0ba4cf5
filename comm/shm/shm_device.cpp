// Active pipes, doorbells and mappings for tasks of one node; see shm_device.hpp.
#include "comm/shm/shm_device.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <sys/uio.h>

#include "base/check.hpp"
#include "base/process_copy.hpp"
#include "comm/progress/wait.hpp"

namespace poe::comm {
namespace {

constexpr std::size_t kManyActive = 16;
constexpr std::uint32_t kPollsPerReview = 4096;
constexpr std::uint32_t kQuietReviews = 2;

// Copies n bytes from `address` of another process to position `offset` of `to`, in as many calls
// as the blocks of `to` need. Returns false and sets errno if that fails.
bool fetch_blocks(pid_t process, std::uint64_t address, const BufferView& to, Bytes offset,
                  Bytes n) {
    constexpr std::size_t kPieces = 64;
    constexpr Bytes kAtOnce = Bytes{1} << 30;
    std::array<iovec, kPieces> local;
    for (Bytes done = 0; done < n;) {
        std::size_t pieces = 0;
        Bytes taken = 0;
        for (; pieces < kPieces && done + taken < n && taken < kAtOnce; ++pieces) {
            Bytes length = 0;
            std::byte* piece = to.piece(offset + done + taken, length);
            length = std::min({length, n - done - taken, kAtOnce});
            local[pieces] = {piece, length};
            taken += length;
        }
        // An address in the other process. NOLINTNEXTLINE(performance-no-int-to-ptr)
        iovec remote{reinterpret_cast<void*>(static_cast<std::uintptr_t>(address + done)), taken};
        const ssize_t got = ::process_vm_readv(process, local.data(), pieces, &remote, 1, 0);
        if (got == 0) errno = EFAULT;
        if (got <= 0) return false;
        done += static_cast<Bytes>(got);
    }
    return true;
}

}  // namespace

// --- pipe

ShmPipe::ShmPipe(ShmDevice& device, TaskId peer, std::uint32_t peer_index)
    : Pipe(peer),
      device_(device),
      peer_index_(peer_index),
      out_mapping_((device.segment_.reserve_pipe(device.own_index_, peer_index, 0,
                                                 device.segment_.facts().layout.control_bytes),
                    device.segment_.map_pipe(device.own_index_, peer_index))),
      peer_slot_(device.segment_.slot(peer_index)),
      polled_by_peer_(device.segment_.polled(peer_index)[device.own_index_]),
      sender_(device.memory_of(device.own_index_, peer_index, out_mapping_.data())),
      handover_out_(reinterpret_cast<ShmControl*>(out_mapping_.data())->handover) {}

void ShmPipe::open_receiver() {
    if (receiver_) return;
    const std::uint32_t own = device_.own_index_;
    device_.segment_.reserve_pipe(peer_index_, own, 0,
                                  device_.segment_.facts().layout.control_bytes);
    in_mapping_ = device_.segment_.map_pipe(peer_index_, own);
    receiver_ =
        std::make_unique<ShmReceiver>(device_.memory_of(peer_index_, own, in_mapping_.data()));
    handover_in_.emplace(reinterpret_cast<ShmControl*>(in_mapping_.data())->handover);
}

inline void ShmPipe::wake_peer() noexcept {
    if (wake_if_asleep(peer_slot_)) [[unlikely]]
        device_.fifos_.wake(peer());
}

Bytes ShmPipe::start_frame(const FrameHeader& header, const BufferView& payload, Bytes offset,
                           Bytes cost) {
    if (receiver_) sender_.set_echo(receiver_->echo());
    const Bytes taken = sender_.start_frame(header, payload, offset, cost);
    if (taken == kNoRoom) return kNoRoom;
    if (receiver_) receiver_->answered();
    device_.fences_.light();
    if (polled_by_peer_.load(std::memory_order_relaxed) == 0) [[unlikely]]
        device_.ring(peer_index_, peer_slot_);
    wake_peer();
    return taken;
}

Bytes ShmPipe::continue_frame(const BufferView& payload, Bytes offset, Bytes rest) {
    const Bytes taken = sender_.continue_frame(payload, offset, rest);
    if (taken == 0) return 0;
    device_.fences_.light();
    wake_peer();
    return taken;
}

inline void ShmPipe::tell_sender() noexcept {
    if (!receiver_->take_published()) [[likely]]
        return;
    device_.fences_.light();
    wake_peer();
}

Bytes ShmPipe::read(const BufferView& to, Bytes offset, Bytes n) {
    const Bytes got = receiver_->read(to, offset, n);
    tell_sender();
    return got;
}

Bytes ShmPipe::skip(Bytes n) {
    const Bytes got = receiver_->skip(n);
    tell_sender();
    return got;
}

bool ShmPipe::read_whole(const BufferView& to, Bytes cost) {
    const bool done = receiver_->read_whole(to, cost);
    tell_sender();
    return done;
}

bool ShmPipe::can_fetch() const {
    return device_.may_fetch_;
}

// If the system forbids access (by a security module, a container, another user namespace), it
// forbids it for all tasks of this job, so it is not tried again.
bool ShmPipe::fetch(std::uint64_t address, const BufferView& to, Bytes offset, Bytes n) {
    const pid_t sender = peer_slot_.pid;
    const bool fetched = to.contiguous() ? copy_process_memory(CopyDirection::kRead, sender,
                                                               to.start() + offset, address, n)
                                         : fetch_blocks(sender, address, to, offset, n);
    if (!fetched && errno != EFAULT && errno != ESRCH) device_.may_fetch_ = false;
    return fetched;
}

// If tasks share cores, the receiver does not poll while the sender runs, so there is no handover.
HandoverSender* ShmPipe::handover_out() {
    const bool peer_looks = polled_by_peer_.load(std::memory_order_relaxed) != 0;
    const bool possible = device_.may_fetch_ && !device_.segment_.facts().oversubscribed();
    return possible && peer_looks ? &handover_out_ : nullptr;
}

void ShmPipe::wake_after_store() {
    device_.fences_.light();
    wake_peer();
}

void ShmPipe::finish_frame() {
    receiver_->finish_frame();
    tell_sender();
}

void ShmPipe::give_tokens(FlowClass flow, Bytes cost) {
    receiver_->give_tokens(flow, cost);
    tell_sender();
}

const char* ShmPipe::fault() const {
    if (sender_.fault() != nullptr) return sender_.fault();
    return receiver_ ? receiver_->fault() : nullptr;
}

// --- device

ShmDevice::ShmDevice(const NodeSegment& segment, std::uint32_t own_index, Bytes token_capacity,
                     const Fences& fences)
    : segment_(segment),
      own_index_(own_index),
      token_capacity_(token_capacity),
      fences_(fences),
      own_slot_(segment.slot(own_index)),
      own_bits_(segment.doorbell_bits(own_index)),
      own_polled_(segment.polled(own_index)),
      fifos_(segment),
      pipes_(segment.local_tasks()),
      may_fetch_(segment.facts().single_copy != 0) {}

ShmPipeMemory ShmDevice::memory_of(std::uint32_t sender, std::uint32_t receiver,
                                   std::byte* start) const {
    const SegmentLayout& layout = segment_.facts().layout;
    return ShmPipeMemory::at(start, layout.control_bytes, layout.ring_bytes, token_capacity_,
                             [this, sender, receiver](Bytes ring_size) {
                                 const Bytes control = segment_.facts().layout.control_bytes;
                                 segment_.reserve_pipe(sender, receiver, control,
                                                       control + ring_size);
                             });
}

ShmPipe& ShmDevice::pipe_at(std::uint32_t peer_index) {
    auto& pipe = pipes_[peer_index];
    if (!pipe) pipe = std::make_unique<ShmPipe>(*this, segment_.task_at(peer_index), peer_index);
    return *pipe;
}

Pipe& ShmDevice::pipe_to(TaskId peer) {
    const auto index = segment_.local_index(peer);
    POE_CHECK(index.has_value() && *index != own_index_, peer);
    return pipe_at(*index);
}

void ShmDevice::ring(std::uint32_t peer_index, TaskSlot& peer_slot) noexcept {
    auto& word = segment_.doorbell_bits(peer_index)[own_index_ / 64];
    word.fetch_or(std::uint64_t{1} << own_index_ % 64, std::memory_order_release);
    peer_slot.rings.fetch_add(1, std::memory_order_release);
    std::atomic_thread_fence(std::memory_order_seq_cst);
}

void ShmDevice::activate(ShmPipe& pipe) {
    pipe.open_receiver();
    pipe.quiet_polls_ = 0;
    if (pipe.active_) return;
    pipe.active_ = true;
    active_.push_back(&pipe);
    own_polled_[pipe.peer_index_].store(1, std::memory_order_relaxed);
}

[[gnu::cold]] void ShmDevice::answer_doorbell() {
    rings_answered_ = own_slot_.rings.load(std::memory_order_acquire);
    for (std::uint32_t word = 0; word < own_bits_.size(); ++word) {
        if (own_bits_[word].load(std::memory_order_relaxed) == 0) continue;
        std::uint64_t bits = own_bits_[word].exchange(0, std::memory_order_acquire);
        for (; bits != 0; bits &= bits - 1) {
            const std::uint32_t sender =
                word * 64 + static_cast<std::uint32_t>(__builtin_ctzll(bits));
            // A bit that no sender can have set was written by a faulty process.
            if (sender < segment_.local_tasks() && sender != own_index_) activate(pipe_at(sender));
        }
    }
}

[[gnu::hot]] bool ShmDevice::poll(PipeSink& sink) {
    if (own_slot_.rings.load(std::memory_order_relaxed) != rings_answered_) [[unlikely]]
        answer_doorbell();
    return !active_.empty() && poll_active(sink);
}

[[gnu::hot]] bool ShmDevice::poll_active(PipeSink& sink) {
    bool moved = false;
    // By index, because a new pipe may become active meanwhile. None is removed inside the loop.
    for (std::size_t i = 0; i < active_.size(); ++i) {
        ShmPipe& pipe = *active_[i];
        if (!pipe.has_input()) continue;
        pipe.quiet_polls_ = 0;
        moved = sink.on_input(pipe) || moved;
    }
    if (++polls_ % kPollsPerReview == 0 && active_.size() > kManyActive) [[unlikely]]
        retire_quiet_pipes();
    return moved;
}

[[gnu::cold]] void ShmDevice::retire_quiet_pipes() {
    std::vector<ShmPipe*> retired;
    std::vector<ShmPipe*> kept;
    for (ShmPipe* pipe : active_) {
        const bool quiet = ++pipe->quiet_polls_ > kQuietReviews && !pipe->has_input();
        (quiet ? retired : kept).push_back(pipe);
    }
    if (retired.empty()) return;
    active_ = std::move(kept);
    for (ShmPipe* pipe : retired) {
        pipe->active_ = false;
        own_polled_[pipe->peer_index_].store(0, std::memory_order_relaxed);
    }
    fences_.heavy();
    for (ShmPipe* pipe : retired) {
        // If the heavy fence is not reliable, every pipe stays active.
        if (!fences_.reliable() || pipe->has_input()) activate(*pipe);
    }
}

}  // namespace poe::comm
