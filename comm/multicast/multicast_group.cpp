// See multicast_group.hpp.
#include "comm/multicast/multicast_group.hpp"

#include <algorithm>
#include <cstring>

#include "base/check.hpp"
#include "comm/multicast/report_tree.hpp"

namespace poe::comm {
namespace {

using namespace std::chrono_literals;

constexpr auto kFirstProbePause = 5ms;
constexpr auto kMaxProbePause = 50ms;
// The maximum number of datagrams that are kept for later calls: packets and statuses.
constexpr std::size_t kMaxEarly = 2 * kFirstMulticastWindow;

bool all_but(const std::vector<bool>& flags, std::uint32_t me) noexcept {
    for (std::uint32_t rank = 0; rank < flags.size(); ++rank)
        if (rank != me && !flags[rank]) return false;
    return true;
}

template <typename Time>
void keep_earlier(std::optional<Time>& earliest, const std::optional<Time>& other) noexcept {
    if (other && (!earliest || *other < *earliest)) earliest = other;
}

}  // namespace

MulticastGroup::MulticastGroup(std::uint64_t id, std::uint32_t members, std::uint32_t me,
                               const DatagramKey& key)
    : id_(id), members_(members), me_(me), key_(key), heard_(members), answered_(members) {
    POE_CHECK(members > 1 && me < members, members, me);
}

DatagramHeader MulticastGroup::header_of(DatagramKind kind) const noexcept {
    DatagramHeader header;
    header.group = id_;
    header.call = call_;
    header.kind = kind;
    header.sender = me_;
    return header;
}

// --- the probe

void MulticastGroup::begin_probe(MulticastTime now) {
    probing_ = true;
    probe_late_ = false;
    next_probe_ = now;
    probe_pause_ = kFirstProbePause;
    probe_deadline_ = now + kProbeTime;
}

bool MulticastGroup::probe_passed() const noexcept {
    return all_but(heard_, me_) && all_but(answered_, me_);
}

std::optional<MulticastGroup::Outgoing> MulticastGroup::next_probe(std::byte* room,
                                                                   MulticastTime now) {
    if (!to_answer_.empty()) {
        const std::uint32_t rank = to_answer_.back();
        to_answer_.pop_back();
        return Outgoing{Outgoing::To::kOne, rank,
                        key_.seal(header_of(DatagramKind::kProbeAnswer), {}, room)};
    }
    probe_late_ = probing_ && now >= probe_deadline_;
    if (!probing_ || now < next_probe_ || all_but(answered_, me_)) return std::nullopt;
    next_probe_ = now + probe_pause_;
    probe_pause_ = std::min<std::chrono::milliseconds>(2 * probe_pause_,
                                                       probe_late_ ? kProbeTime : kMaxProbePause);
    const std::vector<std::byte> filling(kDatagramData);
    return Outgoing{Outgoing::To::kAll, 0,
                    key_.seal(header_of(DatagramKind::kProbe), filling, room)};
}

// --- calls

void MulticastGroup::begin_send(const std::byte* data, Bytes bytes, MulticastTime now) {
    POE_CHECK(!busy() && bytes <= kMaxMulticastBytes, bytes);
    ++call_;
    root_ = me_;
    from_ = data;
    bytes_ = bytes;
    sender_.begin(packets_of(bytes), report_children(members_, root_, me_), now);
    take_early(now);
}

void MulticastGroup::begin_receive(std::uint32_t root, std::byte* data, Bytes bytes,
                                   MulticastTime now) {
    POE_CHECK(!busy() && bytes <= kMaxMulticastBytes && root < members_, bytes, root);
    ++call_;
    root_ = root;
    to_ = data;
    bytes_ = bytes;
    complete_ = false;
    wrong_length_.reset();
    receiving_.begin(packets_of(bytes), report_children(members_, root, me_));
    take_early(now);
}

void MulticastGroup::end_call() noexcept {
    sender_.end();
    receiving_.end();
}

// Takes a packet of the call in progress.
bool MulticastGroup::store(const DatagramHeader& header, std::span<const std::byte> data,
                           MulticastTime now) {
    if (header.sender != root_) return false;
    if (header.bytes != bytes_) {
        wrong_length_ = header.bytes;
        return true;
    }
    const Bytes at = Bytes{header.number} * kDatagramData;
    if (at > bytes_ || data.size() != std::min(kDatagramData, bytes_ - at)) return false;
    const bool is_new =
        receiving_.on_packet(header.number, header.sent, (header.flags & kReport) != 0, now);
    if (is_new && !data.empty()) std::memcpy(to_ + at, data.data(), data.size());
    complete_ = receiving_.complete();
    return is_new;
}

// Takes a packet or a status of the call in progress, or of the last one.
bool MulticastGroup::take_now(const DatagramHeader& header, std::span<const std::byte> payload,
                              MulticastTime now) {
    if (header.kind == DatagramKind::kData)
        return receiving_.active() && store(header, payload, now);
    const MulticastStatus status = status_of(header, payload);
    if (sender_.active()) sender_.on_status(header.sender, status, now);
    if (receiving_.active()) receiving_.on_status(header.sender, status, now);
    return false;
}

void MulticastGroup::keep_early(const DatagramHeader& header, std::span<const std::byte> payload) {
    if (kept_ == kMaxEarly) return;
    if (kept_ == early_.size()) early_.emplace_back().payload.reserve(kDatagramData);
    Kept& kept = early_[kept_++];
    kept.header = header;
    kept.payload.assign(payload.begin(), payload.end());
}

// Takes what has arrived before the call began.
void MulticastGroup::take_early(MulticastTime now) {
    for (std::size_t i = 0; i < kept_; ++i)
        if (early_[i].header.call == call_) take_now(early_[i].header, early_[i].payload, now);
    const auto later = [this](const Kept& each) { return each.header.call > call_; };
    const auto end = early_.begin() + static_cast<std::ptrdiff_t>(kept_);
    kept_ = static_cast<std::size_t>(std::partition(early_.begin(), end, later) - early_.begin());
}

bool MulticastGroup::take(std::span<const std::byte> datagram, MulticastTime now) {
    const std::optional<DatagramHeader> header = key_.open(datagram);
    if (!header || header->group != id_ || header->sender >= members_ || header->sender == me_)
        return false;
    const auto payload = datagram.subspan(sizeof *header);
    switch (header->kind) {
        case DatagramKind::kProbe:
            heard_[header->sender] = true;
            if (std::find(to_answer_.begin(), to_answer_.end(), header->sender) == to_answer_.end())
                to_answer_.push_back(header->sender);
            return true;
        case DatagramKind::kProbeAnswer:
            answered_[header->sender] = true;
            return true;
        case DatagramKind::kStatus:
        case DatagramKind::kData:
            if (header->call == call_) return take_now(*header, payload, now);
            if (header->call > call_) keep_early(*header, payload);
            return false;
    }
    return false;
}

std::optional<MulticastGroup::Outgoing> MulticastGroup::next_packet(std::byte* room,
                                                                    MulticastTime now) {
    const auto what = sender_.next(now);
    if (!what) return std::nullopt;
    DatagramHeader header = header_of(DatagramKind::kData);
    header.number = what->packet;
    header.sent = what->sent;
    header.flags = what->report ? kReport : 0;
    header.bytes = bytes_;
    const Bytes at = Bytes{what->packet} * kDatagramData;
    const std::span<const std::byte> data{from_ + at, std::min(kDatagramData, bytes_ - at)};
    return Outgoing{what->unicast ? Outgoing::To::kEach : Outgoing::To::kAll, 0,
                    key_.seal(header, data, room)};
}

std::optional<MulticastGroup::Outgoing> MulticastGroup::next_status(std::byte* room,
                                                                    MulticastTime now) {
    const auto status = receiving_.next(now);
    if (!status) return std::nullopt;
    DatagramHeader header = header_of(DatagramKind::kStatus);
    header.number = status->base;
    header.sent = status->serial;
    return Outgoing{Outgoing::To::kOne, report_parent(members_, root_, me_),
                    key_.seal(header, bits_of(*status), room)};
}

std::optional<MulticastGroup::Outgoing> MulticastGroup::next(std::byte* room, MulticastTime now) {
    if (const auto probe = next_probe(room, now)) return probe;
    if (sender_.active()) return next_packet(room, now);
    if (receiving_.active()) return next_status(room, now);
    return std::nullopt;
}

std::optional<MulticastTime> MulticastGroup::due() const noexcept {
    std::optional<MulticastTime> earliest;
    if (probing_) {
        if (!probe_late_) earliest = probe_deadline_;
        if (!all_but(answered_, me_)) keep_earlier(earliest, std::optional(next_probe_));
    }
    if (sender_.active()) keep_earlier(earliest, sender_.due());
    if (receiving_.active()) keep_earlier(earliest, receiving_.due());
    return earliest;
}

}  // namespace poe::comm
