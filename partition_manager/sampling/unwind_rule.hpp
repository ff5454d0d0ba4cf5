// UnwindRule: how to find the registers of the caller, for one address of an object file. libdw
// derives it from the unwind tables (.eh_frame), which every program and library has, even without
// debug information and frame pointers.
//
// UnwindTables keeps the rules that it has found. The first request for an address takes some
// microseconds, later ones the time of a look-up. Most addresses in stacks are return addresses, of
// which a program has few.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "partition_manager/sampling/stack_memory.hpp"

namespace poe::pm {

// One operation of a DWARF expression.
struct UnwindOperation {
    std::uint8_t code = 0;
    std::uint64_t first = 0;
    std::uint64_t second = 0;
};
using UnwindExpression = std::vector<UnwindOperation>;

struct UnwindRule {
    enum class Kind : std::uint8_t {
        kUnknown,  // the value is lost; of the return address: there is no caller
        kSame,
        kAt,     // the expression yields the address where the value is stored
        kValue,  // the expression yields the value
    };
    struct Saved {
        Kind kind = Kind::kUnknown;
        UnwindExpression expression;
    };

    bool found = false;
    bool signal_frame = false;   // the caller was interrupted and did not call
    UnwindExpression frame;      // yields the canonical frame address
    std::array<Saved, 7> saved;  // of kSavedRegisters
};
inline constexpr std::array<unsigned, 7> kSavedRegisters{3, 6, 12, 13, 14, 15, kReturnAddress};

// An object file. For one thread.
class UnwindTables {
  public:
    // Never fails: without unwind tables no rule is found. "[vdso]" names the code that the kernel
    // adds to each process.
    explicit UnwindTables(const std::string& path);
    ~UnwindTables();
    UnwindTables(const UnwindTables&) = delete;
    UnwindTables& operator=(const UnwindTables&) = delete;

    // Converts a position in the file to the address that its symbols have.
    std::uint64_t address_of(std::uint64_t position) const;
    // Valid until this object is destroyed.
    const UnwindRule& rule_of(std::uint64_t address);

  private:
    struct Segment {
        std::uint64_t position = 0;
        std::uint64_t bytes = 0;
        std::uint64_t address = 0;
    };
    struct File;
    std::unique_ptr<File> file_;
    std::vector<Segment> segments_;
    std::unordered_map<std::uint64_t, UnwindRule> rules_;
};

}  // namespace poe::pm
