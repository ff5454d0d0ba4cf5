// Buffered sends; see send_buffer.hpp.
#include "mpi/point/send_buffer.hpp"

#include <cstdlib>
#include <new>
#include <string>
#include <unordered_map>

#include "mpi/check/message_check.hpp"

namespace poe::mpi {
namespace {

constexpr Bytes kAlignment = alignof(std::max_align_t);

constexpr Bytes round_up(Bytes bytes) noexcept {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// The buffers of communicators by context, because an address may become that of another one.
struct SendBuffers {
    std::shared_ptr<SendBuffer> process;
    std::unordered_map<ContextId, std::shared_ptr<SendBuffer>> by_context;
    std::unordered_map<int, std::shared_ptr<SendBuffer>> by_session;
};

SendBuffers& buffers() noexcept {
    static SendBuffers* const the_buffers = new SendBuffers;
    return *the_buffers;
}

}  // namespace

struct SendBuffer::Slot {
    comm::SendRequest request;
    Bytes bytes = 0;  // of the slot
    std::uint64_t number = 0;
    Slot* next = nullptr;
    Slot* previous = nullptr;

    std::byte* data() noexcept {
        return reinterpret_cast<std::byte*>(this) + round_up(sizeof(Slot));
    }
    std::byte* end() noexcept { return reinterpret_cast<std::byte*>(this) + bytes; }
};

SendBuffer::SendBuffer(void* start, MPI_Count size) noexcept : start_(start), size_(size) {
    // What a slot needs besides the message, what the alignment of its ends costs, and the envelope
    // of check mode.
    static_assert(round_up(sizeof(Slot)) + 2 * kAlignment + check::kEnvelopeBytes <=
                  MPI_BSEND_OVERHEAD);
    if (automatic()) return;
    const auto address = reinterpret_cast<std::uintptr_t>(start);
    const Bytes skipped = round_up(address) - address;
    if (start == nullptr || static_cast<Bytes>(size) < skipped) return;
    begin_ = static_cast<std::byte*>(start) + skipped;
    end_ = static_cast<std::byte*>(start) + size;
}

// Makes a slot after `before` (null: at the beginning) if the gap there is long enough.
SendBuffer::Slot* SendBuffer::place_after(Slot* before, Bytes bytes) noexcept {
    std::byte* const from = before != nullptr ? before->end() : begin_;
    Slot* const next = before != nullptr ? before->next : first_;
    std::byte* const limit = next != nullptr ? reinterpret_cast<std::byte*>(next) : end_;
    if (from == nullptr || static_cast<Bytes>(limit - from) < bytes) return nullptr;
    Slot* slot = new (from) Slot;
    slot->next = next;
    slot->previous = before;
    return slot;
}

// Tries the memory after the newest slot first, because the oldest messages are usually sent first.
SendBuffer::Slot* SendBuffer::reserve(Bytes bytes) noexcept {
    if (automatic()) {
        void* memory = std::malloc(bytes);
        if (memory == nullptr) return nullptr;
        Slot* slot = new (memory) Slot;
        slot->previous = last_;
        return slot;
    }
    if (Slot* slot = newest_ != nullptr ? place_after(newest_, bytes) : nullptr) return slot;
    if (Slot* slot = place_after(nullptr, bytes)) return slot;
    for (Slot* each = first_; each != nullptr; each = each->next)
        if (Slot* slot = place_after(each, bytes)) return slot;
    return nullptr;
}

Fault SendBuffer::send(comm::MessageLayer& messages, const comm::SendRequest& message) {
    release_ended();
    const Bytes length = message.view.size();
    // The last slot need not end aligned.
    const Bytes bytes = round_up(sizeof(Slot)) + round_up(length);
    Slot* slot = reserve(bytes);
    if (slot == nullptr)
        return {MPI_ERR_BUFFER, "",
                "the message of " + std::to_string(length) +
                    " bytes does not fit into the attached buffer of " + std::to_string(size_) +
                    " bytes in addition to the messages that are not sent yet",
                "attach a larger buffer: each message needs MPI_BSEND_OVERHEAD bytes more than its "
                "packed size"};
    slot->bytes = bytes;
    slot->number = next_number_++;
    (slot->previous != nullptr ? slot->previous->next : first_) = slot;
    (slot->next != nullptr ? slot->next->previous : last_) = slot;
    newest_ = slot;
    message.view.copy_out(0, slot->data(), length);
    comm::SendRequest& request = slot->request;
    request.view = comm::BufferView(slot->data(), length);
    request.dest = message.dest;
    request.type = message.type;
    request.context = message.context;
    request.flow = message.flow;
    request.owner = slot;
    request.tell = &ended_;
    messages.start(request);
    return {};
}

void SendBuffer::release(Slot& slot) noexcept {
    (slot.previous != nullptr ? slot.previous->next : first_) = slot.next;
    (slot.next != nullptr ? slot.next->previous : last_) = slot.previous;
    if (newest_ == &slot) newest_ = slot.previous;
    slot.~Slot();
    if (automatic()) std::free(&slot);
}

void SendBuffer::release_ended() noexcept {
    while (comm::Request* request = ended_.head) {
        ended_.remove(*request);
        auto& slot = *static_cast<Slot*>(request->owner);
        if (request->outcome != comm::Outcome::kDone) lost_ = slot.request.dest;
        release(slot);
    }
}

bool SendBuffer::idle() noexcept {
    release_ended();
    return first_ == nullptr;
}

std::uint64_t SendBuffer::oldest_number() noexcept {
    release_ended();
    std::uint64_t oldest = next_number_;
    for (const Slot* each = first_; each != nullptr; each = each->next)
        if (each->number < oldest) oldest = each->number;
    return oldest;
}

// A message to this task itself cannot be received while the only thread of the task waits here.
// Other threads may release the slots, and add messages, for which this call does not wait.
Fault SendBuffer::flush(comm::Runtime& runtime) {
    comm::MessageLayer& messages = runtime.messages();
    const std::uint64_t until = next_number_;
    const auto over = [&] {
        for (Slot* each = first_; each != nullptr; each = each->next)
            messages.end_if_hopeless(each->request);
        return oldest_number() >= until;
    };
    lost_.reset();
    if (messages.shared() && !over()) messages.wait_until(over, [] { return Awaited{}; });
    while (oldest_number() < until) messages.wait(first_->request);
    if (!lost_) return {};
    return {MPI_ERR_OTHER, "",
            "a buffered message to task " + std::to_string(*lost_) + " cannot be sent any more",
            "receive messages to the own rank before the buffer is detached"};
}

SendBuffer* buffer_for(const Comm& comm) noexcept {
    SendBuffers& all = buffers();
    if (!all.by_context.empty()) {
        const auto found = all.by_context.find(comm.context);
        if (found != all.by_context.end() && found->second) return found->second.get();
    }
    if (const int session = comm.local->session(); session != 0) {
        const auto found = all.by_session.find(session);
        return found != all.by_session.end() ? found->second.get() : nullptr;
    }
    return all.process.get();
}

std::shared_ptr<SendBuffer>& buffer_of(const BufferOwner& owner) {
    if (owner.comm != nullptr) return buffers().by_context[owner.comm->context];
    return owner.session != 0 ? buffers().by_session[owner.session] : buffers().process;
}

void detach_buffer_of_session(comm::Runtime& runtime, int session) {
    auto& all = buffers().by_session;
    const auto found = all.find(session);
    if (found == all.end()) return;
    // Another thread may change the table during the wait.
    if (const std::shared_ptr<SendBuffer> buffer = found->second) buffer->flush(runtime);
    all.erase(session);
}

void detach_buffer_of(comm::Runtime& runtime, const Comm& comm) {
    auto& all = buffers().by_context;
    const auto found = all.find(comm.context);
    if (found == all.end()) return;
    // Another thread may change the table during the wait.
    if (const std::shared_ptr<SendBuffer> buffer = found->second) buffer->flush(runtime);
    all.erase(comm.context);
}

}  // namespace poe::mpi
