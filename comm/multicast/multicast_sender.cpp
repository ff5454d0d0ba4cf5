// See multicast_sender.hpp.
#include "comm/multicast/multicast_sender.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace poe::comm {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kMinWindow = 32;
constexpr auto kAssumedRoundTrip = 4ms;
constexpr auto kMaxRoundTrip = 20ms;
constexpr auto kMinTimeout = 10ms;
constexpr auto kMaxTimeout = 200ms;
// Timeouts in a row after which the message is stalled: the first time, and after it was stalled.
constexpr std::uint32_t kFirstPatience = 6;
constexpr std::uint32_t kLaterPatience = 2;

}  // namespace

void MulticastSender::begin(std::uint32_t packets, const ReportChildren& children,
                            MulticastTime now) {
    POE_CHECK(packets > 0 && children.count > 0, packets, children.count);
    active_ = true;
    packets_ = packets;
    children_.clear();
    for (const std::uint32_t rank : children) children_.push_back({rank, 0, 0});
    base_ = sent_ = 0;
    window_ = kFirstMulticastWindow;
    lost_any_ = false;
    acknowledged_ = 0;
    wanted_.clear();
    next_wanted_ = 0;
    sent_at_.clear();
    sent_at_.reserve(packets);
    repeated_.assign(packets, false);
    round_trip_ = kAssumedRoundTrip;
    shrunk_at_ = now - 1h;
    timeout_ = kMinTimeout;
    deadline_ = now + kMinTimeout;
    timeouts_ = 0;
    patience_ = kFirstPatience;
    repaired_ = 0;
}

MulticastSender::Duration MulticastSender::first_timeout() const noexcept {
    return std::clamp<Duration>(2 * round_trip_, kMinTimeout, kMaxTimeout);
}

MulticastSender::Transmission MulticastSender::repeat(std::uint32_t packet, bool report,
                                                      MulticastTime now) {
    sent_at_[packet] = now;
    repeated_[packet] = true;
    ++repaired_;
    return {packet, sent_, report, stalled()};
}

std::optional<MulticastSender::Transmission> MulticastSender::next(MulticastTime now) {
    while (next_wanted_ < wanted_.size()) {
        const std::uint32_t packet = wanted_[next_wanted_++];
        if (packet >= base_) return repeat(packet, false, now);
    }
    wanted_.clear();
    next_wanted_ = 0;
    if (sent_ < packets_ && sent_ - base_ < window_) {
        const std::uint32_t packet = sent_++;
        sent_at_.push_back(now);
        deadline_ = now + timeout_;
        // If the window is used up, members report without waiting for more packets.
        return Transmission{packet, sent_, sent_ < packets_ && sent_ - base_ == window_, stalled()};
    }
    if (base_ < packets_ && now >= deadline_) {
        ++timeouts_;
        timeout_ = std::min<Duration>(2 * timeout_, kMaxTimeout);
        deadline_ = now + timeout_;
        return repeat(base_, true, now);
    }
    return std::nullopt;
}

void MulticastSender::shrink_window(MulticastTime now) {
    lost_any_ = true;
    if (now - shrunk_at_ < round_trip_) return;
    shrunk_at_ = now;
    window_ = std::max(window_ / 2, kMinWindow);
    acknowledged_ = 0;
}

// All members have the packets before `base`.
void MulticastSender::acknowledge(std::uint32_t base, MulticastTime now) {
    // A packet that waited for a repeated one before it says nothing about the round trip.
    const auto from = repeated_.begin();
    if (std::find(from + base_, from + base, true) == from + base)
        round_trip_ = std::min<Duration>(round_trip_ + (now - sent_at_[base - 1] - round_trip_) / 8,
                                         kMaxRoundTrip);
    acknowledged_ += base - base_;
    base_ = base;
    if (stalled()) patience_ = kLaterPatience;
    timeouts_ = 0;
    timeout_ = first_timeout();
    deadline_ = now + timeout_;
    if (!lost_any_) {
        window_ = std::min(window_ + acknowledged_, kMulticastWindow);
        acknowledged_ = 0;
    } else if (acknowledged_ >= window_) {
        acknowledged_ = 0;
        window_ = std::min(window_ + 4, kMulticastWindow);
    }
}

void MulticastSender::on_status(std::uint32_t rank, const MulticastStatus& status,
                                MulticastTime now) {
    const auto child = std::find_if(children_.begin(), children_.end(),
                                    [rank](const Child& each) { return each.rank == rank; });
    if (child == children_.end() || status.base > sent_ || status.serial <= child->serial) return;
    child->serial = status.serial;
    child->base = std::max(child->base, status.base);
    const std::uint32_t base =
        std::min_element(children_.begin(), children_.end(), [](const auto& a, const auto& b) {
            return a.base < b.base;
        })->base;
    if (base > base_) acknowledge(base, now);
    bool lost = false;
    for (std::uint32_t i = 0; i < kMulticastWindow && status.base + i < sent_; ++i) {
        const std::uint32_t packet = status.base + i;
        const auto waiting = wanted_.begin() + static_cast<std::ptrdiff_t>(next_wanted_);
        if (!status.missing[i] || packet < base_ || now - sent_at_[packet] < round_trip_ ||
            std::find(waiting, wanted_.end(), packet) != wanted_.end())
            continue;
        wanted_.push_back(packet);
        lost = true;
    }
    if (lost) shrink_window(now);
}

std::optional<MulticastTime> MulticastSender::due() const noexcept {
    if (base_ == packets_) return std::nullopt;
    return deadline_;
}

}  // namespace poe::comm
