// See signal_samples.hpp.
#include "partition_manager/sampling/signal_samples.hpp"

#include <algorithm>
#include <atomic>
#include <fcntl.h>
#include <poll.h>
#include <span>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/unique_fd.hpp"
#include "tracer/probe/stream_file.hpp"

namespace poe::pm {
namespace {

constexpr std::uint64_t kLongestFilling = 1'000'000'000;  // ns

bool has_ended(std::uint64_t thread) {
    return ::access(("/proc/" + std::to_string(thread)).c_str(), F_OK) != 0;
}

}  // namespace

PerfEvent event_from(const PoeSampleSlot& slot) {
    PerfEvent event;
    event.time = slot.time;
    event.event = static_cast<std::uint64_t>(slot.task);
    event.process = slot.process;
    event.thread = slot.thread;
    switch (slot.kind) {
        case kPoeSampleExecuted:
            event.kind = PerfEvent::Kind::kExecuted;
            return event;
        case kPoeSampleForked:
            event.kind = PerfEvent::Kind::kForked;
            event.parent = slot.parent;
            return event;
        default:
            break;
    }
    event.kind = PerfEvent::Kind::kSample;
    event.count = static_cast<std::uint16_t>(std::clamp<std::uint32_t>(slot.count, 1, 0xffff));
    for (unsigned number = 0; number < kPoeSampleRegisters; ++number)
        event.registers.set(number, slot.registers[number]);
    event.stack_at = slot.registers[kStackPointer];
    const auto stack = std::as_bytes(std::span(slot.stack))
                           .first(std::min<std::size_t>(slot.stack_bytes, sizeof slot.stack));
    event.stack.assign(stack.begin(), stack.end());
    return event;
}

SignalSamples::SignalSamples(const std::string& path) {
    const UniqueFd file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    struct stat facts = {};
    if (!file || ::fstat(file.get(), &facts) != 0) throw_errno("opening " + path);
    bytes_ = static_cast<std::size_t>(facts.st_size);
    if (bytes_ < sizeof(PoeSampleSlots)) throw Error(path + " is too short");
    void* const memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    if (memory == MAP_FAILED) throw_errno("mapping " + path);
    slots_ = static_cast<PoeSampleSlots*>(memory);
    const std::size_t room = (bytes_ - sizeof(PoeSampleSlots)) / sizeof(PoeSampleSlot);
    if (slots_->slots > room || slots_->period == 0) throw Error(path + " has no slots");
}

SignalSamples::~SignalSamples() {
    if (slots_ != nullptr) ::munmap(slots_, bytes_);
}

void SignalSamples::reclaim(PoeSampleSlot& slot, std::uint64_t state, std::uint64_t now) {
    auto& [known, since] = filling_[&slot];
    if (known != state) {
        known = state;
        since = now;
    } else if (now > since + kLongestFilling && has_ended(state >> 2)) {
        std::atomic_ref(slot.state).compare_exchange_strong(state, 0);
    }
}

void SignalSamples::read(std::vector<PerfEvent>& events) {
    const std::uint64_t now = trace::monotonic_ns();
    const std::size_t first = events.size();
    for (PoeSampleSlot& slot : std::span(poe_sample_slot(slots_, 0), slots_->slots)) {
        const std::atomic_ref state(slot.state);
        const std::uint64_t seen = state.load(std::memory_order_acquire);
        if (seen == 0) continue;
        if ((seen & 3) == kPoeSampleFilled) {
            events.push_back(event_from(slot));
            events.back().time = std::max(events.back().time, earliest_);
            state.store(0, std::memory_order_release);
        } else {
            reclaim(slot, seen, now);
        }
    }
    const std::uint64_t lost = std::atomic_ref(slots_->lost).load(std::memory_order_relaxed);
    if (lost != told_lost_) {
        PerfEvent event;
        event.kind = PerfEvent::Kind::kLost;
        event.time = earliest_;
        event.lost = lost - told_lost_;
        events.push_back(std::move(event));
        told_lost_ = lost;
    }
    earliest_ = now;
    std::stable_sort(events.begin() + static_cast<std::ptrdiff_t>(first), events.end(),
                     [](const PerfEvent& a, const PerfEvent& b) { return a.time < b.time; });
}

void SignalSamples::wait(int other, int milliseconds) {
    pollfd file{other, POLLIN, 0};
    static_cast<void>(::poll(&file, 1, milliseconds));
}

std::uint64_t SignalSamples::spent_in_tasks() const {
    return std::atomic_ref(slots_->spent).load(std::memory_order_relaxed);
}

}  // namespace poe::pm
