// See multicast_receiver.hpp.
#include "comm/multicast/multicast_receiver.hpp"

#include <algorithm>

namespace poe::comm {
namespace {

using namespace std::chrono_literals;

constexpr auto kReorder = 1500us;
constexpr auto kMerge = 500us;
constexpr auto kMinRepeat = 5ms;
constexpr auto kMaxRepeat = 100ms;

}  // namespace

void MulticastReceiver::begin(std::uint32_t packets, const ReportChildren& children) {
    active_ = true;
    packets_ = packets;
    children_.clear();
    for (const std::uint32_t rank : children) children_.push_back({rank, 0, 0});
    arrived_.assign(packets, false);
    base_ = count_ = sent_ = 0;
    gap_.reset();
    gap_due_.reset();
    pause_ = {};
    report_due_.reset();
    asked_.clear();
    reported_ = serial_ = 0;
}

std::uint32_t MulticastReceiver::subtree_base() const noexcept {
    std::uint32_t base = base_;
    for (const Child& child : children_) base = std::min(base, child.base);
    return base;
}

void MulticastReceiver::report_at(MulticastTime when) noexcept {
    if (!report_due_ || when < *report_due_) report_due_ = when;
}

void MulticastReceiver::report_progress(MulticastTime now) noexcept {
    if (subtree_base() >= reported_ + kReportEvery) report_at(now);
}

void MulticastReceiver::look_for_gap(MulticastTime now) {
    if (base_ >= sent_) {
        gap_.reset();
        gap_due_.reset();
    } else if (gap_ != base_) {
        gap_ = base_;
        gap_due_ = now + kReorder;
        pause_ = kMinRepeat;
    }
}

bool MulticastReceiver::on_packet(std::uint32_t packet, std::uint32_t sent, bool report,
                                  MulticastTime now) {
    if (packet >= sent || sent > packets_) return false;
    sent_ = std::max(sent_, sent);
    const bool is_new = !arrived_[packet];
    if (is_new) {
        arrived_[packet] = true;
        ++count_;
        while (base_ < packets_ && arrived_[base_]) ++base_;
    }
    look_for_gap(now);
    if (report) {
        report_at(now);
        if (gap_due_) gap_due_ = now;
    }
    report_progress(now);
    return is_new;
}

void MulticastReceiver::on_status(std::uint32_t rank, const MulticastStatus& status,
                                  MulticastTime now) {
    const auto child = std::find_if(children_.begin(), children_.end(),
                                    [rank](const Child& each) { return each.rank == rank; });
    if (child == children_.end() || status.base > packets_ || status.serial <= child->serial)
        return;
    child->serial = status.serial;
    child->base = std::max(child->base, status.base);
    for (std::uint32_t i = 0; i < kMulticastWindow && status.base + i < packets_; ++i)
        if (status.missing[i]) asked_.push_back(status.base + i);
    if (!asked_.empty() || subtree_base() > reported_) report_at(now + kMerge);
    report_progress(now);
}

std::optional<MulticastStatus> MulticastReceiver::next(MulticastTime now) {
    const bool ask = gap_due_ && now >= *gap_due_;
    if (!ask && !(report_due_ && now >= *report_due_)) return std::nullopt;
    MulticastStatus status{subtree_base(), ++serial_, {}};
    const std::uint32_t end = status.base + kMulticastWindow;
    if (ask) {
        for (std::uint32_t packet = base_; packet < std::min(sent_, end); ++packet)
            if (!arrived_[packet]) status.missing.set(packet - status.base);
        gap_due_ = now + pause_;
        pause_ = std::min<Duration>(2 * pause_, kMaxRepeat);
    }
    for (const std::uint32_t packet : asked_)
        if (packet >= status.base && packet < end) status.missing.set(packet - status.base);
    asked_.clear();
    report_due_.reset();
    reported_ = status.base;
    return status;
}

std::optional<MulticastTime> MulticastReceiver::due() const noexcept {
    if (!gap_due_ || (report_due_ && *report_due_ < *gap_due_)) return report_due_;
    return gap_due_;
}

}  // namespace poe::comm
