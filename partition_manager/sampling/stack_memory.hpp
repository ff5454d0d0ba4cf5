// The registers and the stack of a thread as the kernel has copied them. Plain data.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace poe::pm {

// Registers have their DWARF numbers. Only those are kept that a function must preserve.
inline constexpr std::size_t kRegisters = 17;
inline constexpr unsigned kFramePointer = 6;
inline constexpr unsigned kStackPointer = 7;
inline constexpr unsigned kReturnAddress = 16;  // the address of the instruction

struct Registers {
    std::array<std::uint64_t, kRegisters> values{};
    std::uint32_t known = 0;  // bit n: register n

    bool has(unsigned number) const { return number < kRegisters && (known >> number & 1) != 0; }
    std::uint64_t operator[](unsigned number) const { return values[number]; }
    void set(unsigned number, std::uint64_t value) {
        values[number] = value;
        known |= 1u << number;
    }
};

// A copy of the memory from `address` on.
struct StackCopy {
    std::uint64_t address = 0;
    std::span<const std::byte> bytes;

    std::optional<std::uint64_t> word_at(std::uint64_t where) const {
        std::uint64_t word = 0;
        if (where < address || bytes.size() < sizeof word ||
            where - address > bytes.size() - sizeof word)
            return std::nullopt;
        std::memcpy(&word, bytes.data() + (where - address), sizeof word);
        return word;
    }
};

}  // namespace poe::pm
