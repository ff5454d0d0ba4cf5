// Fences for a publisher that stores data and then checks whether the receiver sleeps. Publisher
// and sleeper must not miss each other:
//
//   publisher:  store data;      light fence;  load sleeping   -> wake if set
//   sleeper:    store sleeping;  heavy fence;  load data       -> do not sleep if there
//
// With two ordinary full fences, each side's store is visible before its own load, so at least one
// side sees the other's store (Dekker). A full fence per message would cost the sender a round trip
// to the receiver's cache. If the kernel has membarrier(2), the heavy fence therefore makes every
// running thread of every registered process execute a full barrier, and the light fence is only a
// compiler barrier. Proof: let B be the moment at which the heavy fence interrupts the publisher's
// processor. (If the publisher is not running, the context switch is the barrier.)
//   - If the publisher's load comes after B in program order, it sees `sleeping`, because
//     `sleeping` was stored before the heavy fence began.
//   - Otherwise the publisher's store of the data came before B too. B drained the store to memory
//     before the sleeper's load.
// Interrupts are precise, so there is no third case.
#pragma once

#include <atomic>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace poe {

// True if membarrier works across processes on this system. Never blocks.
inline bool membarrier_available() noexcept {
    const long commands = ::syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
    constexpr long kNeeded =
        MEMBARRIER_CMD_GLOBAL_EXPEDITED | MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED;
    return commands > 0 && (commands & kNeeded) == kNeeded;
}

// One process's side of the fences. Constructed once at attach; copyable; thread-safe afterwards.
class Fences {
  public:
    // `asymmetric` is what the creator of the segment found, and is the same for all tasks. If this
    // task cannot register although the creator could, light() is a full fence and reliable() is
    // false.
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

    // False if heavy() may miss a publisher. A sleeper must then limit every sleep to a short time.
    bool reliable() const noexcept { return reliable_; }

  private:
    bool light_is_free_ = false;
    bool heavy_interrupts_ = false;
    bool reliable_ = true;
};

}  // namespace poe
