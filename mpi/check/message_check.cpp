// Checks of messages; see message_check.hpp.
#include "mpi/check/message_check.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "mpi/check/place_words.hpp"

namespace poe::mpi::check {
namespace {

// Any change of one word changes the sum.
std::uint64_t sum_of(const comm::BufferView& view) noexcept {
    std::array<std::uint64_t, 1024> words;
    std::uint64_t sum = view.size();
    for (Bytes at = 0; at < view.size(); at += sizeof words) {
        const Bytes length = std::min<Bytes>(sizeof words, view.size() - at);
        words[(length - 1) / sizeof(std::uint64_t)] = 0;  // the last word may be incomplete
        view.copy_out(at, reinterpret_cast<std::byte*>(words.data()), length);
        for (Bytes i = 0; i * sizeof(std::uint64_t) < length; ++i)
            sum = (sum ^ words[i]) * 0x9e3779b97f4a7c15u + (sum >> 31);
    }
    return sum;
}

std::string in_hexadecimal(std::uintptr_t address) {
    constexpr const char* kDigits = "0123456789abcdef";
    std::string text;
    for (; address != 0; address /= 16) text.insert(text.begin(), kDigits[address % 16]);
    return "0x" + text;
}

Fault overlap(const PendingBuffer& own, const PendingBuffer& other, std::uintptr_t shared) {
    return {MPI_ERR_BUFFER, "",
            std::string("the buffer that it ") + (own.receives() ? "receives into" : "sends") +
                " and the buffer that " + words_of_call(other.place()) + " " +
                (other.receives() ? "receives into" : "sends") + " share memory at address " +
                in_hexadecimal(shared) + ", and neither call is complete",
            "complete the first call before, or use other memory"};
}

}  // namespace

std::byte* EnvelopedLayout::envelope_bytes() const noexcept {
    return reinterpret_cast<std::byte*>(const_cast<Envelope*>(&envelope));
}

void EnvelopedLayout::copy_out(const std::byte*, Bytes offset, std::byte* to,
                               Bytes n) const noexcept {
    const Bytes first = offset < kEnvelopeBytes ? std::min(n, kEnvelopeBytes - offset) : 0;
    if (first > 0) std::memcpy(to, envelope_bytes() + offset, first);
    if (n > first) data.copy_out(offset + first - kEnvelopeBytes, to + first, n - first);
}

void EnvelopedLayout::copy_in(std::byte*, Bytes offset, const std::byte* from,
                              Bytes n) const noexcept {
    const Bytes first = offset < kEnvelopeBytes ? std::min(n, kEnvelopeBytes - offset) : 0;
    if (first > 0) std::memcpy(envelope_bytes() + offset, from, first);
    if (n > first) data.copy_in(offset + first - kEnvelopeBytes, from + first, n - first);
}

std::byte* EnvelopedLayout::piece(std::byte*, Bytes offset, Bytes& length) const noexcept {
    if (offset >= kEnvelopeBytes) return data.piece(offset - kEnvelopeBytes, length);
    length = kEnvelopeBytes - offset;
    return envelope_bytes() + offset;
}

comm::BufferView MessageCheck::wrap_send(const comm::BufferView& data, const Datatype& type,
                                         std::int64_t count) {
    send_.data = data;
    send_.envelope = {part_of(type, count), place_};
    guards_send_ = true;
    given_.set(data, false, place_);
    return send_.view();
}

comm::BufferView MessageCheck::wrap_receive(const comm::BufferView& data, const Datatype& type) {
    receive_.data = data;
    received_type_ = &type;
    taken_.set(data, true, place_);
    return receive_.view();
}

void MessageCheck::sends_copy() {
    guards_send_ = false;
    given_.set({}, false, place_);
}

Fault MessageCheck::begin() {
    std::uintptr_t shared = 0;
    if (given_.conflicts_with(taken_, shared)) return overlap(given_, taken_, shared);
    for (const PendingBuffer* own : {&given_, &taken_}) {
        if (const PendingBuffer* other = own->find_conflict(shared))
            return overlap(*own, *other, shared);
    }
    given_.begin();
    taken_.begin();
    if (guards_send_) sum_ = sum_of(send_.data);
    return {};
}

void MessageCheck::end() noexcept {
    given_.end();
    taken_.end();
}

Fault MessageCheck::check_send() const {
    if (!guards_send_ || sum_of(send_.data) == sum_) return {};
    return {MPI_ERR_BUFFER, "",
            "the buffer of " + std::to_string(send_.data.size()) + " bytes that " +
                words_of_call(place_) +
                " sends was changed before the call was complete, so the "
                "receiver may have got the old or the new data",
            "change the buffer after MPI_Wait or MPI_Test has completed the request"};
}

Fault MessageCheck::check_receive(const Comm& comm, const comm::ReceiveRequest& receive) const {
    if (received_type_ == nullptr || receive.outcome != comm::Outcome::kDone ||
        receive.length > receive.view.size() || receive.length < kEnvelopeBytes)
        return {};
    const Part& sent = receive_.envelope.part;
    const auto bytes = static_cast<std::int64_t>(without_envelope(receive.length));
    const Part expected = prefix_of(*received_type_, bytes);
    if (sent.matches(expected)) return {};
    return {MPI_ERR_TYPE, "",
            "rank " + std::to_string(comm.peers().rank_of(receive.source)) + " sends " +
                words_of_part(sent) + " with tag " + std::to_string(receive.type) + " (" +
                words_of_call(receive_.envelope.place) + "), but the receive (" +
                words_of_call(place_) + ") expects " + words_of_part(expected),
            "give datatypes with the same type signature at both"};
}

}  // namespace poe::mpi::check
