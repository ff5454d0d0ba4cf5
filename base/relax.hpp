// One moment of a loop that waits for another processor.
#pragma once

namespace poe::comm {

// Leaves the core's units to its other thread, and the line that is looked at to its writer.
inline void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

// Asks for a line that will be written here, so that the store need not wait for it. Touches
// nothing; memory that does not exist does no harm.
inline void fetch_for_writing(const void* where) noexcept {
#if defined(__x86_64__)
    asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(where)));
#else
    __builtin_prefetch(where, 1);
#endif
}

}  // namespace poe::comm
