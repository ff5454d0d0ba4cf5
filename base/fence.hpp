// Fences for "publish, then look whether the other side sleeps". Publisher and sleeper must not
// both miss each other:
//
//   publisher:  store data;      light fence;  load sleeping   -> wake if set
//   sleeper:    store sleeping;  heavy fence;  load data       -> do not sleep if there
//
// With two ordinary fences each side's store is seen before its own load, so at least one side sees
// the other (Dekker). A fence per message costs the sender a round trip to the receiver's cache, so
// where the kernel has membarrier(2) the heavy fence makes every running thread of every registered
// process pass through a full barrier, and the light fence only has to hold the compiler. Proof:
// take the moment B at which the heavy fence interrupts the publisher's processor (or at which it
// is not running, a context switch being a barrier as well). If the publisher's load comes after B
// in program order it sees `sleeping`, stored before the heavy fence began. Otherwise its store of
// the data also came before B, which drained it to memory before the sleeper's load. Interrupts are
// precise, so there is no third case.
#pragma once

#include <atomic>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace poe {

// Whether membarrier works across processes here. Never blocks.
inline bool membarrier_available() noexcept {
    const long commands = ::syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
    constexpr long kNeeded =
        MEMBARRIER_CMD_GLOBAL_EXPEDITED | MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED;
    return commands > 0 && (commands & kNeeded) == kNeeded;
}

// One process's side of the fences. Made once at attach; copyable; thread-safe afterwards.
class Fences {
  public:
    // `asymmetric`: what the creator of the segment found, the same for all tasks. A task that
    // cannot register although the creator could fences as a sender, and may not rely on heavy().
    explicit Fences(bool asymmetric) noexcept {
        if (!asymmetric) return;
        const bool registered =
            ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
        light_is_free_ = registered;
        heavy_interrupts_ = true;
        reliable_ = registered;
    }

    void light() const noexcept {
        if (light_is_free_) {
            std::atomic_signal_fence(std::memory_order_seq_cst);
        } else {
            std::atomic_thread_fence(std::memory_order_seq_cst);
        }
    }

    void heavy() const noexcept {
        std::atomic_thread_fence(std::memory_order_seq_cst);
        if (heavy_interrupts_) ::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
    }

    // False: heavy() may miss a publisher, so a sleeper must wake by itself after a moment.
    bool reliable() const noexcept { return reliable_; }

  private:
    bool light_is_free_ = false;
    bool heavy_interrupts_ = false;
    bool reliable_ = true;
};

}  // namespace poe
