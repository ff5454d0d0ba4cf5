// Waits of several threads; thread_waits.hpp has the protocol and shows that no wake-up is lost.
#include "comm/progress/thread_waits.hpp"

#include <algorithm>
#include <sched.h>
#include <unistd.h>

#include "base/futex.hpp"
#include "base/relax.hpp"

namespace poe::comm {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kSpinPhase = 50us;
constexpr auto kYieldPhase = 1ms;
constexpr auto kYieldPhaseCrowded = 300us;
constexpr unsigned kBurst = 16;          // polls before each pause, if every thread has a core
constexpr std::uint32_t kPerClock = 16;  // pauses before the clock is read
constexpr std::uint32_t kPerClockCrowded = 4;

std::int32_t this_threads_id() noexcept {
    static thread_local const std::int32_t own = ::gettid();
    return own;
}

}  // namespace

TaskActivityWords& this_threads_activity() noexcept {
    static thread_local TaskActivityWords own;
    return own;
}

// A thread that waits. It is in the list as long as the object exists, and awake at first.
class ThreadWaits::Member {
  public:
    Member(ThreadWaits& waits, WaitCondition& its_condition) noexcept
        : condition(its_condition),
          activity(this_threads_activity()),
          thread(this_threads_id()),
          waits_(waits) {
        ++waits_.table_.changes;
        previous = waits_.last_;
        (previous != nullptr ? previous->next : waits_.first_) = this;
        waits_.last_ = this;
        ++waits_.members_;
        ++waits_.awake_;
    }
    ~Member() {
        ++waits_.table_.changes;
        (previous != nullptr ? previous->next : waits_.first_) = next;
        (next != nullptr ? next->previous : waits_.last_) = previous;
        --waits_.members_;
        if (waits_.shown_ == this) {
            waits_.shown_ = nullptr;
            waits_.settings_.shown->clear();
        }
        waits_.fell_asleep(*this);
        if (waits_.first_ == nullptr) waits_.turn_.unpark();
    }
    Member(const Member&) = delete;
    Member& operator=(const Member&) = delete;

    WaitCondition& condition;
    TaskActivityWords& activity;
    const std::int32_t thread;           // its id
    std::atomic<std::uint32_t> word{0};  // futex word: 1 once the member was woken
    bool awake = true;
    Member* next = nullptr;
    Member* previous = nullptr;

    Awaited awaited() const noexcept {
        try {
            return condition.awaited();
        } catch (...) {
            return {};
        }
    }

  private:
    ThreadWaits& waits_;
};

// The phases of one wait, as in wait.hpp.
class ThreadWaits::Pause {
  public:
    enum class Step : std::uint8_t { kSpin, kYield, kSleep };

    explicit Pause(WaitMode mode) noexcept : mode_(mode) {}

    void restart() noexcept {
        turns_ = 0;
        timed_ = false;
        waited_ = 0us;
    }
    // True if the wait has lasted longer than a message between two running tasks takes.
    bool impatient() const noexcept { return waited_ >= kSpinPhase || mode_ == WaitMode::kSleep; }
    // True if watchers should see the wait.
    bool lasts() const noexcept { return waited_ >= kYieldPhase || mode_ == WaitMode::kSleep; }

    Step next(bool crowded) noexcept {
        if (++turns_ % (crowded ? kPerClockCrowded : kPerClock) == 0) {
            const auto now = Clock::now();
            if (!timed_) started_ = now;
            timed_ = true;
            waited_ = now - started_;
        }
        switch (mode_) {
            case WaitMode::kPoll:
                return Step::kSpin;
            case WaitMode::kYield:
                return Step::kYield;
            case WaitMode::kSleep:
                return Step::kSleep;
            case WaitMode::kAdaptive:
                break;
        }
        if (waited_ >= (crowded ? kYieldPhaseCrowded : kYieldPhase)) return Step::kSleep;
        return crowded || waited_ >= kSpinPhase ? Step::kYield : Step::kSpin;
    }

  private:
    WaitMode mode_;
    std::uint32_t turns_ = 0;
    bool timed_ = false;  // started_ is set
    Clock::time_point started_;
    Clock::duration waited_{0};
};

void ThreadWaits::wait(WaitCondition& condition) {
    Member self(*this, condition);
    Pause pause(settings_.mode);
    work_.help();
    while (!condition.over()) {
        const std::uint32_t began_ms = pause.lasts() && waiter_ != nullptr ? waiter_->now_ms() : 0;
        if (poll()) {
            // Only if no other member polls: if several do, the messages that move may be for
            // others, and this member's own may come much later.
            if (awake_ == 1) pause.restart();
            if (turn_.contended()) pass();
            continue;
        }
        if (condition.over()) return;
        const Pause::Step step = pause.next(crowded());
        if (pause.impatient()) {
            condition.sweep();
            if (condition.over()) return;
            if (work_.take_in_offers()) {
                ++table_.changes;
                continue;
            }
        }
        if (pause.lasts()) {
            show(self);
            note_vain_look(began_ms);
        }
        if (step == Pause::Step::kSleep) {
            sleep(self);
        } else {
            rest(step == Pause::Step::kYield);
        }
    }
}

bool ThreadWaits::look(unsigned times) {
    while (times-- > 0) {
        if (!work_.progress()) continue;
        ++table_.changes;
        return true;
    }
    return false;
}

// Polls for all members.
bool ThreadWaits::poll() {
    withdraw();
    const bool moved = look(crowded() ? 1 : kBurst);
    if (moved) work_.help();
    wake_those_over();
    return moved;
}

void ThreadWaits::rest(bool yields) noexcept {
    turn_.give_up();
    yields ? static_cast<void>(::sched_yield()) : relax();
    turn_.take_again();
    if (waiter_ != nullptr) waiter_->stop_if_ending();
}

void ThreadWaits::sleep(Member& self) {
    if (sleeper_ != nullptr && awake_ == 1 && sleeps_for_all_ == nullptr) {
        sleep_for_all(self);
    } else {
        sleep_on_own_word(self);
    }
    if (waiter_ != nullptr) waiter_->slept();
}

void ThreadWaits::sleep_for_all(Member& self) {
    sleeper_->announce();
    announced_ = true;
    const bool moved = look(1);
    // Also if nothing has moved, because a helper may wait for a store to shared memory.
    work_.help();
    wake_those_over();
    if (moved || self.condition.over()) return withdraw();
    sleeper_->prepare();
    sleeps_for_all_ = &self;
    self.awake = false;
    --awake_;
    turn_.give_up();
    sleeper_->sleep();
    turn_.take_again();
    sleeps_for_all_ = nullptr;
    withdraw();
    woke_up(self);
}

void ThreadWaits::sleep_on_own_word(Member& self) {
    self.word.store(0, std::memory_order_relaxed);
    fell_asleep(self);
    // If hand_on() has met this member's condition, it has also set this word, so futex_wait
    // returns.
    turn_.give_up();
    futex_wait(self.word, 0, settings_.longest);
    turn_.take_again();
    woke_up(self);
}

// Call when the member is about to sleep on its own word, or leaves.
void ThreadWaits::fell_asleep(Member& self) noexcept {
    if (!self.awake) return;
    self.awake = false;
    if (--awake_ == 0 && members_ > 0) hand_on();
}

// Counts a member that woke by itself. If another thread woke it, that thread has counted it.
void ThreadWaits::woke_up(Member& self) noexcept {
    if (self.awake) return;
    self.awake = true;
    ++awake_;
}

// Precondition: no member is awake.
void ThreadWaits::hand_on() noexcept {
    if (sleeper_ == nullptr) return;
    if (sleeps_for_all_ == nullptr) return wake(*first_);
    if (announced_) return;
    if (!settings_.on_doorbell || work_.needs_polling()) return wake(*sleeps_for_all_);
    sleeper_->renew();
    announced_ = true;
    try {
        const bool moved = look(1);
        work_.help();
        wake_those_over();
        if (moved && awake_ == 0) wake(*sleeps_for_all_);
    } catch (...) {
        // The member meets the same error, and its caller reports it.
        if (awake_ == 0) wake(*sleeps_for_all_);
    }
}

void ThreadWaits::wake_those_over() noexcept {
    if (members_ == awake_) return;
    for (Member* each = first_; each != nullptr; each = each->next) {
        if (each->awake) continue;
        bool over = true;
        try {
            over = each->condition.over();
        } catch (...) {
            // The member meets the same error, and its caller reports it.
        }
        if (over) wake(*each);
    }
}

void ThreadWaits::wake(Member& member) noexcept {
    member.awake = true;
    ++awake_;
    if (&member == sleeps_for_all_) {
        announced_ = false;
        sleeper_->end_sleep();
    } else {
        member.word.store(1, std::memory_order_release);
        futex_wake(member.word, 1);
    }
}

void ThreadWaits::withdraw() noexcept {
    if (!announced_) return;
    announced_ = false;
    sleeper_->withdraw();
}

// Shows the member's call in the slot, unless the slot shows that of another member.
void ThreadWaits::show(Member& self) noexcept {
    if (shown_ != nullptr || settings_.shown == nullptr) return;
    const TaskActivity doing = self.activity.read();
    if (doing.call == Call::kNone) return;
    shown_ = &self;
    settings_.shown->set(doing.call, doing.peer, doing.type, doing.bytes,
                         reinterpret_cast<const void*>(doing.site), doing.context, doing.request);
    if (waiter_ != nullptr) settings_.shown->stamp(waiter_->now_ms() | 1u);
}

// True if the condition of any member is met: that member can go on, although it has not run yet.
bool ThreadWaits::any_over() noexcept {
    for (Member* each = first_; each != nullptr; each = each->next) {
        try {
            if (each->condition.over()) return true;
        } catch (...) {
            return true;  // with an error
        }
    }
    return false;
}

// Call after a poll that found nothing. `began_ms`: when the poll began; 0: not known. Notes what
// the members wait for only if nothing has changed between two such polls, because noting takes
// longer than a message.
void ThreadWaits::note_vain_look(std::uint32_t began_ms) noexcept {
    if (waiter_ == nullptr) return;
    ++table_.looks;
    if (any_over()) ++table_.changes;
    if (table_.changes != seen_changes_) {
        seen_changes_ = table_.changes;
        waiter_->show_movement();
        return;
    }
    if (began_ms == 0) return;
    if (table_.noted != table_.changes) note_members();
    waiter_->show_vain_look(began_ms);
}

void ThreadWaits::note_members() noexcept {
    table_.count = 0;
    for (const Member* each = first_; each != nullptr; each = each->next) {
        if (table_.count < ThreadWaitsTable::kMostThreads)
            table_.threads[table_.count] = note_of(*each);
        ++table_.count;
        if (each != shown_) continue;
        const Awaited awaited = each->awaited();
        waiter_->show_wait(awaited, work_.unexpected(awaited));
    }
    table_.progress_thread = turn_.progress_thread();
    table_.noted = table_.changes;
}

WaitingThread ThreadWaits::note_of(const Member& member) const noexcept {
    const TaskActivity doing = member.activity.read();
    const Awaited awaited = member.awaited();
    WaitingThread note;
    note.thread = member.thread;
    note.call = static_cast<std::uint32_t>(doing.call);
    note.peer = doing.peer;
    note.type = doing.type;
    note.bytes = doing.bytes;
    note.site = doing.site;
    note.context = doing.context;
    note.awaited_kind = static_cast<std::uint32_t>(awaited.kind);
    note.awaited_peer = awaited.peer;
    note.awaited_type = awaited.type;
    note.awaited_context = awaited.context;
    const std::string_view name = waiter_->name_of_context(doing.context);
    std::copy_n(name.data(), std::min(name.size(), note.communicator.size()),
                note.communicator.data());
    return note;
}

void ThreadWaits::before_release() noexcept {
    ++table_.changes;
    if (members_ == awake_) return;
    try {
        work_.help();
    } catch (...) {
        // The members meet the same error, and their callers report it.
        if (awake_ == 0) wake(*first_);
    }
    wake_those_over();
    if (awake_ == 0 && sleeps_for_all_ != nullptr && work_.needs_polling()) wake(*sleeps_for_all_);
}

void ThreadWaits::pause_between_looks() noexcept {
    before_release();
    const bool yields = crowded(1);
    turn_.give_up();
    if (yields) ::sched_yield();
    turn_.take_again();
    if (waiter_ != nullptr) waiter_->stop_if_ending();
}

void ThreadWaits::pass() noexcept {
    before_release();
    turn_.give_up();
    turn_.take_again();
}

}  // namespace poe::comm
