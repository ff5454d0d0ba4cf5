// IndexHeader: the first bytes of an index file.
#pragma once

#include <array>
#include <cstdint>

namespace poe::trace {

struct IndexHeader {
    static constexpr std::array<char, 8> kMark{'P', 'O', 'E', 'I', 'N', 'D', 'E', 'X'};
    static constexpr std::uint64_t kVersion = 14;

    std::array<char, 8> mark = kMark;
    std::uint64_t version = kVersion;
    std::uint64_t identity = 0;  // of the trace
    std::uint64_t between = 0;
    std::uint64_t tasks = 0;
    std::uint64_t table_at = 0;  // 0: not complete
    std::uint64_t entries = 0;
    std::uint64_t definitions_at = 0;
    std::uint64_t definitions_size = 0;
    std::uint64_t findings_at = 0;
    std::uint64_t findings_size = 0;
    std::uint64_t repaired = 0;  // 1: for the trace with repaired clocks
};

}  // namespace poe::trace
