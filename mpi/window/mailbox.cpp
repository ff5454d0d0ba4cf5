// The origin's side of mailboxes; see mailbox.hpp.
#include "mpi/window/mailbox.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <sched.h>

#include "base/copy_block.hpp"
#include "base/relax.hpp"

namespace poe::mpi {
namespace {

using Clock = std::chrono::steady_clock;

// About the time of a copy by the system.
constexpr std::chrono::nanoseconds kPatience{1000};
// The target may be copying other pieces of the operation.
constexpr std::chrono::nanoseconds kPatienceAmongPieces{10000};
constexpr unsigned kPausesPerClock = 8;
constexpr unsigned kLooksBeforePause = 64;
// Pauses while the target carries an operation out until the processor is given away, and until the
// origin looks whether the target has ended.
constexpr unsigned kPausesPerYield = 1000;
constexpr unsigned kPausesPerLook = 20000;

// A piece that is under way.
struct MailPiece {
    std::size_t slot = 0;
    Bytes at = 0;
    Bytes length = 0;
};

// The pieces of one operation that are under way, oldest first.
class Flight {
  public:
    bool empty() const noexcept { return count_ == 0; }
    bool full() const noexcept { return count_ == kMailSlots; }
    void push(const MailPiece& piece) noexcept {
        pieces_[(first_ + count_++) % kMailSlots] = piece;
    }
    MailPiece pop() noexcept {
        --count_;
        return pieces_[first_++ % kMailSlots];
    }

  private:
    std::array<MailPiece, kMailSlots> pieces_;
    std::size_t first_ = 0;
    std::size_t count_ = 0;
};

// The slot that was claimed; kMailSlots: none is free.
std::size_t claim(Mailbox& box) noexcept {
    constexpr std::uint32_t kAll = (1u << kMailSlots) - 1;
    std::uint32_t claims = box.claims.load(std::memory_order_relaxed);
    while (claims != kAll) {
        const auto free = static_cast<std::size_t>(std::countr_one(claims));
        if (box.claims.compare_exchange_weak(claims, claims | (1u << free),
                                             std::memory_order_acquire))
            return free;
    }
    return kMailSlots;
}

void release(Mailbox& box, std::size_t slot) noexcept {
    box.claims.fetch_and(~(1u << slot), std::memory_order_release);
}

void post(Mailbox& box, std::size_t at, const Mail& mail, const std::byte* data) noexcept {
    MailSlot& slot = box.slots[at];
    slot.mail = mail;
    if (mail.sent() > 0) copy_block(box.data(at), data, mail.sent());
    slot.state.store(MailState::kPosted, std::memory_order_release);
}

MailState state_of(const MailSlot& slot) noexcept {
    return slot.state.load(std::memory_order_acquire);
}

// Waits for as long as `patience` until the target takes the operation. Returns false if it does
// not.
bool is_taken(const MailSlot& slot, std::chrono::nanoseconds patience, MailWait& wait) {
    const auto look = [&] {
        for (unsigned i = 0; i < kPausesPerClock; ++i) {
            if (state_of(slot) != MailState::kPosted) return true;
            relax();
        }
        return false;
    };
    // Two tasks that run need about 100 ns, which is less than two pauses.
    for (unsigned i = 0; i < kLooksBeforePause; ++i)
        if (state_of(slot) != MailState::kPosted) return true;
    if (look()) return true;
    const auto deadline = Clock::now() + patience;
    do {
        if (look()) return true;
        wait.serve_own();
    } while (Clock::now() < deadline);
    return false;
}

// True if the operation was withdrawn, false if the target has taken it.
bool withdraw(MailSlot& slot) noexcept {
    MailState posted = MailState::kPosted;
    return slot.state.compare_exchange_strong(posted, MailState::kIdle, std::memory_order_relaxed);
}

// Waits for an operation that the target has taken. Returns false if the target has ended
// meanwhile.
bool wait_until_done(const MailSlot& slot, MailWait& wait) {
    for (unsigned i = 0; i < kLooksBeforePause; ++i)
        if (state_of(slot) == MailState::kDone) return true;
    for (unsigned pauses = 1; state_of(slot) != MailState::kDone; ++pauses) {
        relax();
        if (pauses % kPausesPerYield == 0) ::sched_yield();
        if (pauses % kPausesPerLook == 0 && wait.target_lost())
            return state_of(slot) == MailState::kDone;
    }
    return true;
}

void collect(Mailbox& box, const MailPiece& piece, std::byte* fetched) noexcept {
    const Mail& mail = box.slots[piece.slot].mail;
    if (gives_data(mail.kind))
        copy_block(fetched + piece.at, box.data(piece.slot) + mail.sent(), mail.bytes);
    release(box, piece.slot);
}

}  // namespace

Fault hand_over(Mailbox& box, const Mail& mail, Bytes bytes, Bytes element_bytes,
                const std::byte* data, std::byte* fetched, MailSender& sender, bool& listens) {
    Mail unit = mail;
    unit.bytes = 1;
    const Bytes most = kMailPieceBytes / unit.held() / element_bytes * element_bytes;
    Flight flight;
    Fault fault;
    Bytes posted = 0;
    bool trying = true;
    listens = false;
    while (true) {
        while (trying && posted < bytes && !flight.full()) {
            const std::size_t slot = claim(box);
            if (slot == kMailSlots) break;
            const MailPiece piece{slot, posted, std::min(most, bytes - posted)};
            Mail part = mail;
            part.bytes = static_cast<std::uint32_t>(piece.length);
            part.displacement += static_cast<std::int64_t>(piece.at);
            post(box, slot, part, data == nullptr ? nullptr : data + piece.at);
            flight.push(piece);
            posted += piece.length;
        }
        if (flight.empty()) break;
        const MailPiece oldest = flight.pop();
        MailSlot& slot = box.slots[oldest.slot];
        trying =
            trying && is_taken(slot, listens ? kPatienceAmongPieces : kPatience, sender.wait());
        listens = listens || trying;
        if (!trying && withdraw(slot)) {
            release(box, oldest.slot);
            if (!fault) fault = sender.by_copy(oldest.at, oldest.length);
        } else if (wait_until_done(slot, sender.wait())) {
            collect(box, oldest, fetched);
        } else {
            return sender.lost_fault();
        }
    }
    if (!fault && posted < bytes) fault = sender.by_copy(posted, bytes - posted);
    return fault;
}

Handed hand_over_short(Mailbox& box, const Mail& mail, const std::byte* data, std::byte* fetched,
                       MailWait& wait) {
    const std::size_t at = claim(box);
    if (at == kMailSlots) return Handed::kNotTaken;
    post(box, at, mail, data);
    MailSlot& slot = box.slots[at];
    if (!is_taken(slot, kPatience, wait) && withdraw(slot)) {
        release(box, at);
        return Handed::kNotTaken;
    }
    if (!wait_until_done(slot, wait)) return Handed::kLost;
    collect(box, {at, 0, mail.bytes}, fetched);
    return Handed::kDone;
}

}  // namespace poe::mpi
