// CacheLineExchange: calls of a group within one node whose members contribute so few bytes that
// they fit into a cache line together with a flag. Every member writes its own line and reads the
// lines of all others. This costs one transfer of a line between two cores, in both directions at
// once. An arrival, a result and a departure (group_segment.hpp) cost four transfers, one after the
// other. Every member does all the work. The exchange is therefore for few members, and for calls
// in which every member waits for every other one.
//
// Calls are numbered. A member has two lines, one for even and one for odd calls.
//
//   word              written by   meaning
//   line[m][e % 2]    member m     what it contributes to call e, and then `word` = e + 1
//                                  (release); all others read `word` with acquire
//
// Invariant: no member overwrites a line that another member still reads, because
//   1. a member that begins call e has finished call e - 1, so it has seen the lines of call e - 1
//      of all members;
//   2. each of them wrote that line after it had finished call e - 2;
//   3. therefore no member reads a line of call e - 2 any more when the first of these lines is
//      overwritten.
// A line that was seen with the word of call e does not change until the member that has seen it
// begins call e + 1.
#pragma once

#include <atomic>
#include <cstddef>

#include "collectives/call/call.hpp"
#include "collectives/shm/group_segment.hpp"

namespace poe::collectives {

class CacheLineExchange {
  public:
    // Uses memory of bytes_for(members) bytes, which is all zero when the first member is
    // constructed. The memory must outlive this object. For one thread at a time.
    CacheLineExchange(std::byte* memory, std::uint32_t members, std::uint32_t me) noexcept
        : lines_(reinterpret_cast<Line*>(memory)), members_(members), me_(me) {}
    static constexpr Bytes bytes_for(std::uint32_t members) noexcept {
        return 2 * Bytes{members} * sizeof(Line);
    }

    // True if this path supports calls of this shape and no other path is faster. Depends on the
    // shape and the mode only, so all members decide alike.
    static bool fits(const Shape& shape, bool barrier) noexcept;
    // Makes the call; blocks. `scratch` is the scratch buffer of reduce_into (reductions.hpp).
    void run(const Shape& shape, const Run& run, GroupSegment::Host& host, std::byte* scratch);

  private:
    static constexpr Bytes kRoom = kLine - sizeof(std::uint64_t);
    struct alignas(kLine) Line {
        std::atomic<std::uint64_t> word;
        std::byte data[kRoom];
    };
    static_assert(sizeof(Line) == kLine);

    Line& line(std::uint32_t member) const noexcept {
        return lines_[std::size_t{2} * member + call_ % 2];
    }
    const std::byte* told_by(std::uint32_t member, GroupSegment::Host& host) const;

    Line* lines_;
    std::uint32_t members_;
    std::uint32_t me_;
    std::uint64_t call_ = 0;
};

}  // namespace poe::collectives
