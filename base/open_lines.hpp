// Which standard outputs of this process end within a line, so that a message does not continue a
// line that somebody else has begun.
#pragma once

#include <array>
#include <atomic>

namespace poe {

// By descriptor: standard input, output and error.
inline std::array<std::atomic<bool>, 3> open_lines{};

// Any thread may call it. What was written to `fd` last ends within a line, or does not; other
// descriptors than the standard ones are ignored.
inline void note_open_line(int fd, bool open) noexcept {
    if (fd >= 0 && fd < 3)
        open_lines[static_cast<unsigned>(fd)].store(open, std::memory_order_relaxed);
}
inline bool ends_within_line(int fd) noexcept {
    return open_lines[static_cast<unsigned>(fd)].load(std::memory_order_relaxed);
}

}  // namespace poe
