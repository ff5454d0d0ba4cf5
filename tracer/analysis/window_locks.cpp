// Implementation of window_locks.hpp.
#include "tracer/analysis/window_locks.hpp"

namespace poe::trace {
namespace {

constexpr std::uint32_t kAnyExclusive = LockedPart::kAll - 1;

std::uint64_t key_of(std::uint32_t window, std::uint32_t target) {
    return std::uint64_t{window} << 32 | target;
}

}  // namespace

std::optional<WindowLocks::Holder> WindowLocks::taken(TaskId task, LockedPart part, bool exclusive,
                                                      Time since, Time now) {
    std::optional<Holder> last;
    const bool all = part.target == LockedPart::kAll;
    for (const std::uint32_t target : {all ? kAnyExclusive : part.target, LockedPart::kAll}) {
        const auto found = holds_.find(key_of(part.window, target));
        if (found == holds_.end()) continue;
        for (const auto& [holder, hold] : found->second) {
            if (holder == task || (!exclusive && !hold.exclusive)) continue;
            if (!hold.given_back && !hold.giving_back) continue;
            const Time until = hold.given_back.value_or(now);
            if (until > since && (!last || until > last->until)) last = Holder{holder, until};
        }
    }
    const Hold hold{.exclusive = exclusive, .giving_back = false, .given_back = {}};
    holds_[key_of(part.window, part.target)][task] = hold;
    if (!all && exclusive) holds_[key_of(part.window, kAnyExclusive)][task] = hold;
    return last;
}

template <typename Change>
void WindowLocks::change(TaskId task, LockedPart part, const Change& what) {
    for (const std::uint32_t target : {part.target, kAnyExclusive}) {
        const auto holds = holds_.find(key_of(part.window, target));
        if (holds == holds_.end()) continue;
        const auto hold = holds->second.find(task);
        if (hold != holds->second.end()) what(hold->second);
    }
}

void WindowLocks::giving_back(TaskId task, LockedPart part) {
    change(task, part, [](Hold& hold) { hold.giving_back = !hold.given_back; });
}

void WindowLocks::given_back(TaskId task, LockedPart part, Time now) {
    change(task, part, [now](Hold& hold) {
        hold.giving_back = false;
        if (!hold.given_back) hold.given_back = now;
    });
}

}  // namespace poe::trace
