// CacheLineExchange: the exchange of cache lines, for calls of a group within one node whose members contribute so few
// bytes that they fit into a cache line together with a flag. Every member writes its own line and reads the
// lines of all others. This costs one transfer of a line between two cores, in both directions at once; an
// arrival, a result and a departure (group_segment.hpp) cost four, one after the other. Every member does all the
// work, so the exchange is for few members, and for calls in which every member waits for every other one.
//
// Calls are numbered. A member has two lines, for even and for odd calls.
//
//   word              written by   meaning
//   line[m][e % 2]    member m     what it contributes to call e, and then `word` = e + 1 (release);
//                                  all others read `word` with acquire
//
// Invariant: A member that begins call e has finished call e - 1, so it has seen the lines of call e - 1 of all
// members. Each of them wrote that line after it had finished call e - 2. Therefore no member reads a line of
// call e - 2 any more when the first of these lines is overwritten, and a line that was seen with the word of
// call e stays as it is until the member that has seen it begins call e + 1.
#pragma once

#include <atomic>
#include <cstddef>

#include "collectives/call/call.hpp"
#include "collectives/shm/group_segment.hpp"

namespace poe::collectives {

class CacheLineExchange {
  public:
    // On memory of bytes_for(members), all zero when the first member comes. The memory must
    // outlive it.
    CacheLineExchange(std::byte* memory, std::uint32_t members, std::uint32_t me) noexcept
        : lines_(reinterpret_cast<Line*>(memory)), members_(members), me_(me) {}
    static constexpr Bytes bytes_for(std::uint32_t members) noexcept {
        return 2 * Bytes{members} * sizeof(Line);
    }

    // Whether such a call can be made, and is not slower than another one. Depends on the shape
    // and the mode only, so all members agree.
    static bool fits(const Shape& shape, bool barrier) noexcept;
    // Makes it. Blocking. `scratch`: as reduce_into wants it.
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
