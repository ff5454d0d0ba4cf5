// Partitioned communication; see partitioned.hpp.
#include "mpi/point/partitioned.hpp"

#include <algorithm>
#include <list>
#include <string>
#include <utility>

#include "mpi/object/status.hpp"
#include "mpi/point/message_view.hpp"
#include "mpi/point/outcomes.hpp"

namespace poe::mpi {
namespace {

constexpr ContextId kOfferBits = 0xc0000000u;
constexpr ContextId kPartitionBits = 0xd0000000u;

struct SentOffer {
    PartitionOffer words;
    comm::SendRequest send;
};

// Offers that the message layer has not taken yet. They outlive their requests, because a program
// may free a request at once.
std::list<SentOffer>& sent_offers() {
    static auto* const offers = new std::list<SentOffer>;
    return *offers;
}

void send_offer(comm::Runtime& runtime, const PartitionOffer& words, TaskId task, std::int32_t tag,
                ContextId context) {
    std::list<SentOffer>& offers = sent_offers();
    offers.remove_if(
        [](const SentOffer& offer) { return offer.send.outcome != comm::Outcome::kPending; });
    SentOffer& offer = offers.emplace_back();
    offer.words = words;
    offer.send = comm::SendRequest({&offer.words, sizeof offer.words}, task, tag, context);
    runtime.messages().start(offer.send);
    if (offer.send.outcome == comm::Outcome::kPending) runtime.keep_moving();
}

// Reserves the types of this many messages. The types begin again at 0 when they are exhausted.
std::int32_t reserve_types(std::int32_t count) noexcept {
    static std::int32_t next = 0;
    constexpr std::int32_t kLast = 0x7fffffff;
    const std::int32_t first = count > kLast - next ? 0 : next;
    next = first + count;
    return first;
}

}  // namespace

void SlicedLayout::copy_out(const std::byte*, Bytes offset, std::byte* to, Bytes n) const noexcept {
    whole_->copy_out(from_ + offset, to, n);
}

void SlicedLayout::copy_in(std::byte*, Bytes offset, const std::byte* from,
                           Bytes n) const noexcept {
    whole_->copy_in(from_ + offset, from, n);
}

std::byte* SlicedLayout::piece(std::byte*, Bytes offset, Bytes& length) const noexcept {
    std::byte* const start = whole_->piece(from_ + offset, length);
    length = std::min(length, length_ - offset);
    return start;
}

Partitioned::Partitioned(comm::Runtime& runtime, const PartitionedArguments& given)
    : runtime_(runtime),
      given_(given),
      type_(*given.type),
      whole_(view_of(layout_, *given.type, given.buffer, given.partitions * given.count)) {}

Bytes Partitioned::partition_bytes() const noexcept {
    return static_cast<Bytes>(given_.count * given_.type->size());
}

comm::BufferView Partitioned::part(Bytes from, Bytes length, SlicedLayout& slice) const noexcept {
    if (length == 0) return {nullptr, 0};
    if (length == whole_.size()) return whole_;
    Bytes piece = 0;
    std::byte* const start = whole_.piece(from, piece);
    if (piece >= length) return {start, length};
    slice = SlicedLayout(whole_, from, length);
    return {nullptr, slice, length};
}

ContextId Partitioned::offer_context() const noexcept {
    return given_.comm->context | kOfferBits;
}

ContextId Partitioned::data_context() const noexcept {
    return given_.comm->context | kPartitionBits;
}

void Partitioned::note(comm::Outcome outcome) {
    if (outcome != comm::Outcome::kDone && !fault_)
        fault_ = fault_of(runtime_, *given_.comm, outcome, given_.task);
}

PartitionedSend::PartitionedSend(comm::Runtime& runtime, const PartitionedArguments& given)
    : Partitioned(runtime, given), parts_(new Part[static_cast<std::size_t>(given.partitions)]) {
    if (given_.nobody) return;
    first_type_ = reserve_types(given_.partitions);
    const Bytes bytes = partition_bytes();
    for (int number = 0; number < given_.partitions; ++number) {
        Part& each = at(number);
        each.send = comm::SendRequest(part(static_cast<Bytes>(number) * bytes, bytes, each.slice),
                                      given_.task, first_type_ + number, data_context());
    }
    send_offer(runtime_, {given_.partitions, bytes, first_type_, 0}, given_.task, given_.tag,
               offer_context());
}

void PartitionedSend::send(int partition) {
    Part& each = at(partition);
    each.ready = true;
    if (given_.nobody) return;
    runtime_.messages().start(each.send);
    if (each.send.outcome == comm::Outcome::kPending) runtime_.keep_moving();
}

void PartitionedSend::start(comm::MessageLayer&) {
    fault_ = {};
    ended_ = 0;
    for (int number = 0; number < given_.partitions; ++number) {
        at(number).ready = false;
        at(number).send.reset();
    }
}

bool PartitionedSend::advance(comm::MessageLayer& messages) {
    if (given_.nobody) return true;
    for (; ended_ < given_.partitions; ++ended_) {
        Part& next = at(ended_);
        if (!next.ready) return false;
        if (next.send.outcome == comm::Outcome::kPending) messages.end_if_hopeless(next.send);
        if (next.send.outcome == comm::Outcome::kPending) return false;
        note(next.send.outcome);
    }
    return true;
}

Awaited PartitionedSend::awaited(const comm::MessageLayer& messages) {
    if (given_.nobody || ended_ == given_.partitions || !at(ended_).ready) return {};
    return messages.awaited_by(at(ended_).send);
}

struct PartitionedReceive::Offer {
    PartitionOffer words;
    comm::ReceiveRequest receive;
};

PartitionedReceive::PartitionedReceive(comm::Runtime& runtime, const PartitionedArguments& given)
    : Partitioned(runtime, given), offer_(std::make_unique<Offer>()) {
    if (given_.nobody) return;
    offer_->receive.reset({&offer_->words, sizeof offer_->words},
                          {offer_context(), given_.task, given_.tag});
    runtime_.messages().start(offer_->receive);
    runtime_.messages().begin_fetching();
}

// A receive that was matched while its message is still arriving must stay until it has ended.
PartitionedReceive::~PartitionedReceive() {
    static auto* const arriving = new std::list<std::unique_ptr<Offer>>;
    arriving->remove_if([](const std::unique_ptr<Offer>& offer) {
        return offer->receive.outcome != comm::Outcome::kPending;
    });
    if (given_.nobody || offer_->receive.outcome != comm::Outcome::kPending) return;
    if (!runtime_.messages().cancel(offer_->receive)) arriving->push_back(std::move(offer_));
}

// A receive from this task itself is not ended as hopeless, because the program may still mark
// partitions as ready.
bool PartitionedReceive::offer_known() {
    comm::ReceiveRequest& receive = offer_->receive;
    if (receive.outcome == comm::Outcome::kPending) runtime_.messages().end_if_lost(receive);
    if (receive.outcome == comm::Outcome::kPending) return false;
    note(receive.outcome);
    return true;
}

void PartitionedReceive::start(comm::MessageLayer&) {
    fault_ = {};
    ended_ = 0;
    started_ = false;
}

// As with other messages, the sender may send fewer bytes than the receiver has room for. If it
// sends more, the messages are received without their data, so that the sender does not wait.
void PartitionedReceive::start_parts(comm::MessageLayer& messages) {
    const PartitionOffer& offer = offer_->words;
    const auto count = static_cast<std::size_t>(offer.partitions);
    if (parts_ == nullptr) {
        parts_.reset(new Part[count]);
        sent_ = static_cast<Bytes>(offer.partitions) * offer.bytes;
        fits_ = sent_ <= whole_.size();
    }
    for (std::size_t number = 0; number < count; ++number) {
        Part& each = parts_[number];
        const comm::BufferView into =
            fits_ ? part(number * offer.bytes, offer.bytes, each.slice) : comm::BufferView();
        each.receive.reset(into, {data_context(), given_.task,
                                  offer.first_type + static_cast<std::int32_t>(number)});
        messages.start(each.receive);
    }
    messages.begin_fetching();
    started_ = true;
    if (fits_) return;
    fault_ = {MPI_ERR_TRUNCATE, "",
              "rank " + std::to_string(given_.rank) + " sends " + std::to_string(offer.partitions) +
                  " partitions, which are " + std::to_string(sent_) +
                  " bytes, but the receiver has room for " + std::to_string(given_.partitions) +
                  " partitions, which are " + std::to_string(whole_.size()) + " bytes",
              "give MPI_Precv_init at least as many bytes in all as MPI_Psend_init"};
}

bool PartitionedReceive::advance(comm::MessageLayer& messages) {
    if (given_.nobody) return true;
    if (!started_) {
        if (!offer_known()) return false;
        if (fault_) return true;
        start_parts(messages);
    }
    for (; ended_ < offer_->words.partitions; ++ended_) {
        comm::ReceiveRequest& receive = at(ended_).receive;
        if (receive.outcome == comm::Outcome::kPending) messages.end_if_lost(receive);
        if (receive.outcome == comm::Outcome::kPending) return false;
        note(receive.outcome);
    }
    return true;
}

bool PartitionedReceive::has_arrived(int partition) {
    if (given_.nobody || fault_) return true;
    if (!started_) return false;
    for (auto [number, end] = sender_partitions(partition); number < end; ++number)
        if (parts_[number].receive.outcome == comm::Outcome::kPending) return false;
    return true;
}

// The first of the sender's partitions that have data for this partition, and the end of them. If
// there are no data at all, the partitions of both sides are divided alike.
std::pair<Bytes, Bytes> PartitionedReceive::sender_partitions(int partition) const noexcept {
    const auto number = static_cast<Bytes>(partition);
    const Bytes bytes = partition_bytes();
    const Bytes sent = offer_->words.bytes;
    if (bytes == 0 || sent == 0) {
        const auto own = static_cast<Bytes>(given_.partitions);
        const auto theirs = static_cast<Bytes>(offer_->words.partitions);
        return {number * theirs / own, ((number + 1) * theirs + own - 1) / own};
    }
    // Nothing arrives in the partitions after the end of what is sent.
    const Bytes last = std::min((number + 1) * bytes, sent_);
    return {number * bytes / sent, (last + sent - 1) / sent};
}

Awaited PartitionedReceive::awaited(const comm::MessageLayer& messages) {
    if (given_.nobody) return {};
    if (!started_) return messages.awaited_by(offer_->receive);
    if (ended_ == offer_->words.partitions) return {};
    return messages.awaited_by(at(ended_).receive);
}

bool PartitionedReceive::describe(MPI_Status& status) const noexcept {
    if (given_.nobody) {
        set_from_nobody(status);
    } else {
        set_status(status, given_.rank, given_.tag, static_cast<std::int64_t>(sent_));
    }
    return true;
}

}  // namespace poe::mpi
