// Implementation of the progress thread's sleep; see progress_sleeper.hpp.
#include "comm/progress/progress_sleeper.hpp"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <poll.h>
#include <string>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/futex.hpp"

namespace poe::comm {

ProgressSleeper::ProgressSleeper(TaskSlot& slot, const Fences& fences, SleepPlace* place,
                                 std::chrono::nanoseconds longest)
    : slot_(slot), fences_(fences), place_(place), longest_(longest) {
    if (place_ != nullptr) make_call_descriptor();
}

void ProgressSleeper::make_call_descriptor() {
    call_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!call_) {
        throw Error(std::string("MP_CSS_INTERRUPT: no descriptor for interrupts (") +
                    std::strerror(errno) + "); raise the limit (ulimit -n), or set it to no");
    }
}

void ProgressSleeper::sleep_in(SleepPlace& place) {
    if (!call_) make_call_descriptor();
    end_sleep();
    place_ = &place;
}

void ProgressSleeper::announce() noexcept {
    doorbell_seen_ =
        announce_sleep(slot_, place_ != nullptr ? kAsleepOnFifo : kAsleepOnDoorbell, fences_);
    if (place_ == nullptr) return;
    std::uint64_t calls = 0;
    while (::read(call_.get(), &calls, sizeof calls) > 0) {
    }
}

void ProgressSleeper::prepare() noexcept {
    limit_ = longest_;
    in_place_ = place_ != nullptr;
    if (in_place_) descriptor_ = place_->prepare_sleep(limit_);
}

void ProgressSleeper::sleep() noexcept {
    if (!in_place_) {
        futex_wait(slot_.doorbell, doorbell_seen_, limit_);
        return;
    }
    pollfd watched[] = {{descriptor_, POLLIN, 0}, {call_.get(), POLLIN, 0}};
    const auto time = std::chrono::ceil<std::chrono::milliseconds>(limit_);
    ::poll(watched, 2, static_cast<int>(time.count()));
}

void ProgressSleeper::end_sleep() noexcept {
    slot_.sleeping.store(kAwake, std::memory_order_relaxed);
    if (place_ == nullptr) {
        slot_.doorbell.fetch_add(1, std::memory_order_release);
        futex_wake(slot_.doorbell, 1);
        return;
    }
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(call_.get(), &one, sizeof one);
}

}  // namespace poe::comm
