// Processor hints for loops that wait for another processor.
#pragma once

namespace poe {

// Pauses a spin loop: leaves the core's units to its sibling hardware thread, and the polled cache
// line to its writer.
inline void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

// Prefetches a cache line for writing, so that the later store need not wait for it. Accesses no
// memory: an invalid address does no harm.
inline void fetch_for_writing(const void* where) noexcept {
#if defined(__x86_64__)
    asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(where)));
#else
    __builtin_prefetch(where, 1);
#endif
}

}  // namespace poe
