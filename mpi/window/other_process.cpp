// Access to the memory of other processes of this node; see other_process.hpp.
#include "mpi/window/other_process.hpp"

#include <chrono>
#include <cstring>
#include <mpi.h>
#include <new>
#include <span>
#include <string>
#include <utility>

#include "comm/matching/message_peer.hpp"
#include "comm/tcp/tcp_pipe.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/object/handle.hpp"
#include "mpi/point/outcomes.hpp"
#include "mpi/point/waiting.hpp"
#include "mpi/window/batch.hpp"
#include "mpi/window/mailbox.hpp"
#include "mpi/window/service.hpp"
#include "mpi/window/shared_memory.hpp"
#include "mpi/window/single_copy.hpp"

namespace poe::mpi {
namespace {

const Datatype& byte_type() noexcept {
    return *find_predefined_datatype(value_of(MPI_BYTE));
}

// The elements of which a contiguous operation may be cut; null if it may not.
const Datatype* unit_of(const Access& access) noexcept {
    if (!is_atomic(access.kind) || access.element == 0) return &byte_type();
    const Datatype* const element = find_predefined_datatype(access.element);
    return element->size() == element->extent() ? element : nullptr;
}

Fault left_fault(int rank) {
    return {MPI_ERR_PROC_ABORTED, "",
            "rank " + std::to_string(rank) +
                " does not use the window any more, because another member has ended",
            ""};
}

Fault copy_access(comm::Runtime& runtime, Window& window, int rank, const Access& access,
                  const TypedLayout& layout, const std::byte* data, std::byte* fetched) {
    const SingleCopyInProgress copy(runtime, window, rank);
    if (!copy.allowed()) return left_fault(rank);
    const WindowMember& member = window.member(rank);
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    auto* const memory = reinterpret_cast<std::byte*>(member.base + access.displacement);
    const AccumulateLock lock(window, rank, is_atomic(access.kind));
    return carry_out_by_copy(member.process, access, memory, layout, data, fetched);
}

class WindowMailWait final : public MailWait {
  public:
    WindowMailWait(comm::Runtime& runtime, TaskId target) noexcept
        : runtime_(runtime), target_(target) {}
    void serve_own() override { empty_own_mailboxes(); }
    bool target_lost() override { return runtime_.messages().has_ended(target_); }

  private:
    comm::Runtime& runtime_;
    const TaskId target_;
};

class WindowMailSender : public MailSender {
  public:
    WindowMailSender(comm::Runtime& runtime, Window& window, int rank) noexcept
        : runtime_(runtime), window_(window), rank_(rank), wait_(runtime, window.task(rank)) {}
    MailWait& wait() override { return wait_; }
    Fault lost_fault() override {
        return fault_of(runtime_, *window_.comm, comm::Outcome::kPeerBroken, window_.task(rank_));
    }

  protected:
    comm::Runtime& runtime_;
    Window& window_;
    const int rank_;

  private:
    WindowMailWait wait_;
};

// An operation on contiguous memory, which consists of elements `unit`.
class OperationSender final : public WindowMailSender {
  public:
    OperationSender(comm::Runtime& runtime, Window& window, int rank, const Access& access,
                    const Datatype& unit, const std::byte* data, std::byte* fetched) noexcept
        : WindowMailSender(runtime, window, rank),
          access_(access),
          unit_(unit),
          data_(data),
          fetched_(fetched) {}
    Fault by_copy(Bytes at, Bytes length) override {
        Access part = access_;
        part.displacement += static_cast<std::int64_t>(at);
        part.bytes = length;
        const auto count = static_cast<std::int64_t>(length) / unit_.size();
        return copy_access(runtime_, window_, rank_, part, unit_.layout(count),
                           data_ == nullptr ? nullptr : data_ + at,
                           fetched_ == nullptr ? nullptr : fetched_ + at);
    }

  private:
    const Access& access_;
    const Datatype& unit_;
    const std::byte* const data_;
    std::byte* const fetched_;
};

// A put or a get of contiguous bytes.
class PlainSender final : public WindowMailSender {
  public:
    // `own`: where the bytes of this task are.
    PlainSender(comm::Runtime& runtime, Window& window, int rank, const Mail& mail,
                std::byte* own) noexcept
        : WindowMailSender(runtime, window, rank),
          gets_(mail.kind == AccessKind::kGet),
          displacement_(mail.displacement),
          own_(own) {}
    Fault by_copy(Bytes at, Bytes length) override {
        const SingleCopyInProgress copy(runtime_, window_, rank_);
        if (!copy.allowed()) return left_fault(rank_);
        const WindowMember& member = window_.member(rank_);
        // NOLINTNEXTLINE(performance-no-int-to-ptr)
        auto* const memory = reinterpret_cast<std::byte*>(member.base + displacement_);
        return copy_bytes(member.process, gets_, memory + at, own_ + at, length);
    }

  private:
    const bool gets_;
    const std::int64_t displacement_;
    std::byte* const own_;
};

class BatchSender final : public WindowMailSender {
  public:
    BatchSender(comm::Runtime& runtime, Window& window, int rank,
                std::span<const std::byte> records) noexcept
        : WindowMailSender(runtime, window, rank), records_(records) {}
    // Puts that follow each other are one system call.
    Fault by_copy(Bytes, Bytes) override {
        const SingleCopyInProgress copy(runtime_, window_, rank_);
        if (!copy.allowed()) return left_fault(rank_);
        const WindowMember& member = window_.member(rank_);
        CopiedPuts puts(member.process);
        Fault fault;
        Batch::for_each(records_, [&](const Mail& mail, const std::byte* data) {
            if (fault) return;
            // NOLINTNEXTLINE(performance-no-int-to-ptr)
            auto* const memory = reinterpret_cast<std::byte*>(member.base + mail.displacement);
            if (mail.kind == AccessKind::kPut) {
                fault = puts.add(memory, data, mail.bytes);
                return;
            }
            fault = puts.carry_out();
            if (fault) return;
            Access access;
            access.kind = mail.kind;
            access.element = mail.element;
            access.operation = mail.operation;
            access.displacement = mail.displacement;
            access.bytes = mail.bytes;
            const Datatype& unit = *unit_of(access);
            const auto count = static_cast<std::int64_t>(mail.bytes) / unit.size();
            const AccumulateLock lock(window_, rank_, true);
            fault = carry_out_by_copy(member.process, access, memory, unit.layout(count), data,
                                      nullptr);
        });
        return fault ? fault : puts.carry_out();
    }

  private:
    const std::span<const std::byte> records_;
};

// Hands the operation over, or copies; see MailChoice. Short operations and batches of them are not
// measured, because to read the clock takes as long as one of them.
Fault hand_over_or_copy(WindowMember& member, const Mail& mail, Bytes bytes, Bytes unit,
                        const std::byte* data, std::byte* fetched, MailSender& sender) {
    if (member.mailbox == nullptr) return sender.by_copy(0, bytes);
    MailChoice& choice = member.mail_choice;
    const Bytes length = mail.batch ? 0 : bytes;
    const MailChoice::Way way = choice.choose(mail.kind, length);
    const std::uint64_t start = way.measured ? comm::now_ns() : 0;
    const auto took = [&]() noexcept { return way.measured ? comm::now_ns() - start : 0; };
    if (!way.mailbox) {
        Fault fault = sender.by_copy(0, bytes);
        choice.copied(mail.kind, length, took());
        return fault;
    }
    bool listens = false;
    Fault fault = hand_over(*member.mailbox, mail, bytes, unit, data, fetched, sender, listens);
    choice.tried(mail.kind, length, listens, took());
    return fault;
}

// If the target has ended, the report of poe should come before the error of this task, as with a
// connection that is lost (comm/tcp/tcp_pipe.hpp). Blocks until the end of the target is noticed.
Fault after_report(comm::Runtime& runtime, Window& window, int rank, Fault fault) {
    if (fault.code != MPI_ERR_PROC_ABORTED || has_left(window, rank)) return fault;
    const TaskId target = window.task(rank);
    const auto limit = std::chrono::steady_clock::now() + comm::TcpPipe::kFaultDelay;
    wait_until(
        runtime,
        [&] {
            return runtime.messages().lost(target) || std::chrono::steady_clock::now() >= limit;
        },
        [] { return Awaited{}; });
    return fault;
}

bool may_be_batched(const Access& access) noexcept {
    return (access.kind == AccessKind::kPut || access.kind == AccessKind::kAccumulate) &&
           access.bytes <= kMostBatchedBytes;
}

}  // namespace

Fault access_other_process(comm::Runtime& runtime, Window& window, int rank, const Access& access,
                           const TypedLayout& layout, const std::byte* data, std::byte* fetched) {
    WindowMember& member = window.member(rank);
    TypedLayout::Strided form;
    const Datatype* const unit = unit_of(access);
    const bool contiguous = unit != nullptr && layout.strided(form) && form.blocks <= 1;
    const bool batched = contiguous && may_be_batched(access);
    if (!batched || !member.batch.has_room(access.bytes)) {
        if (Fault fault = carry_out_batch(runtime, window, rank)) return fault;
    }
    if (!contiguous)
        return after_report(runtime, window, rank,
                            copy_access(runtime, window, rank, access, layout, data, fetched));
    Access moved = access;
    moved.displacement += form.displacement;
    Mail mail;
    mail.kind = access.kind;
    mail.element = access.element;
    mail.operation = access.operation;
    mail.displacement = moved.displacement;
    if (batched) {
        mail.bytes = static_cast<std::uint32_t>(access.bytes);
        member.batch.add(mail, data);
        return {};
    }
    OperationSender sender(runtime, window, rank, moved, *unit, data, fetched);
    return after_report(runtime, window, rank,
                        hand_over_or_copy(member, mail, access.bytes,
                                          static_cast<Bytes>(unit->size()), data, fetched, sender));
}

bool exchange_at_once(comm::Runtime& runtime, Window& window, int rank, const Mail& mail,
                      const std::byte* data, std::byte* fetched) noexcept {
    WindowMember& member = window.member(rank);
    if (member.mailbox == nullptr || rank == window.rank() || mail.bytes == 0 ||
        !member.batch.empty() || !member.mail_choice.would_try_short())
        return false;
    WindowMailWait wait(runtime, window.task(rank));
    const Handed handed = hand_over_short(*member.mailbox, mail, data, fetched, wait);
    member.mail_choice.tried(mail.kind, mail.bytes, handed == Handed::kDone, 0);
    if (handed != Handed::kDone) return false;
    window.used = true;
    return true;
}

bool move_at_once(comm::Runtime& runtime, Window& window, int rank, const Mail& mail, Bytes bytes,
                  const std::byte* data, std::byte* fetched) noexcept {
    WindowMember& member = window.member(rank);
    if (member.process == 0 || rank == window.rank() || bytes == 0 || !member.batch.empty())
        return false;
    try {
        PlainSender sender(runtime, window, rank, mail,
                           fetched != nullptr ? fetched : const_cast<std::byte*>(data));
        if (hand_over_or_copy(member, mail, bytes, 1, data, fetched, sender)) return false;
    } catch (const std::bad_alloc&) {
        return false;
    }
    window.used = true;
    return true;
}

Fault carry_out_batch(comm::Runtime& runtime, Window& window, int rank) {
    WindowMember& member = window.member(rank);
    if (member.batch.empty()) return {};
    const std::span<const std::byte> records = member.batch.bytes();
    BatchSender sender(runtime, window, rank, records);
    Mail mail;
    const std::byte* data = records.data();
    Bytes bytes = records.size();
    if (member.batch.count() == 1) {
        // Short data then fit into the line of the slot.
        std::memcpy(&mail, data, sizeof mail);
        data += sizeof mail;
        bytes = mail.bytes;
    } else {
        mail.batch = true;
    }
    Fault fault = hand_over_or_copy(member, mail, bytes, bytes, data, nullptr, sender);
    member.batch.clear();
    return after_report(runtime, window, rank, std::move(fault));
}

}  // namespace poe::mpi
