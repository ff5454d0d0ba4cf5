// The kernel's perf events as plain data, and how they are read from the bytes of a ring buffer.
// Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "partition_manager/sampling/stack_memory.hpp"

namespace poe::pm {

struct PerfEvent {
    enum class Kind : std::uint8_t {
        kSample,
        kMapped,
        kExecuted,
        kForked,
        kThreadMade,
        kEnded,
        kLost
    };
    Kind kind = Kind::kSample;
    std::uint64_t time = 0;   // CLOCK_MONOTONIC, ns
    std::uint64_t event = 0;  // the id of the perf event; threads and processes inherit it
    std::int32_t process = 0;
    std::int32_t thread = 0;
    std::int32_t recorded_by = 0;  // the thread in which it happened

    // kSample
    bool in_kernel = false;
    std::uint16_t count = 1;  // the number of periods that it stands for
    Registers registers;
    std::uint64_t stack_at = 0;
    std::vector<std::byte> stack;

    // kMapped: code has been mapped.
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    std::uint64_t position = 0;  // in the file
    std::string path;

    // kForked: the process that has made `process`; kThreadMade: the same as `process`. kEnded: the
    // thread has ended; it is the first one of its process if it has the number of the process.
    std::int32_t parent = 0;
    std::uint64_t lost = 0;  // kLost: the number of events for which there was no room
};

// The bytes of the stack that the kernel copies for a sample: a multiple of 8.
inline constexpr std::uint32_t kCopiedStack = 32 << 10;

// The registers that the kernel copies for a sample, as a mask of its own numbers.
std::uint64_t copied_registers() noexcept;
// The sample_type that samples must have.
std::uint64_t sample_fields() noexcept;

// Appends the events of complete records to `events`. Skips unknown records and stops at an invalid
// one.
void read_perf_events(std::span<const std::byte> bytes, std::vector<PerfEvent>& events);

}  // namespace poe::pm
