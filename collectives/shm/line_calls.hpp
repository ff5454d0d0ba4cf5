// Calls of a group within a node on so few bytes that what a member gives fits into one cache line,
// with the word that says so. Each member writes its line, and reads those of all others: one
// transfer of a line between two cores, at the same time in both directions, where an arrival, a
// result and a departure (commons.hpp) take four one after the other. But each does all the work,
// so this is for few members. And it is for calls in which everybody waits for everybody.
//
// Calls are numbered; a member has two lines, for even and for odd calls.
//
//   line[m][e % 2]   written by member m: what it gives in call e, then `word` = e + 1 with
//   release;
//                    read by all others, `word` with acquire
//
// Invariant: who begins call e is through with call e - 1, so it has seen the lines of e - 1 of
// all, which each wrote when it was through with call e - 2. So nobody reads the lines of e - 2 any
// more when one of them is written again; and a line seen with the word of call e stays as it is
// until the one who has seen it begins call e + 1.
#pragma once

#include <atomic>
#include <cstddef>

#include "collectives/call/call.hpp"
#include "collectives/shm/commons.hpp"

namespace poe::collectives {

class LineCalls {
  public:
    // On memory of bytes_for(members), all zero when the first member comes. The memory must
    // outlive it.
    LineCalls(std::byte* memory, std::uint32_t members, std::uint32_t me) noexcept
        : lines_(reinterpret_cast<Line*>(memory)), members_(members), me_(me) {}
    static constexpr Bytes bytes_for(std::uint32_t members) noexcept {
        return 2 * Bytes{members} * sizeof(Line);
    }

    // Whether such a call can be made, and is not slower than another one. Depends on the shape
    // and the mode only, so all members agree.
    static bool fits(const Shape& shape, bool barrier) noexcept;
    // Makes it. Blocking. `scratch`: as reduce_into wants it.
    void run(const Shape& shape, const Run& run, Commons::Host& host, std::byte* scratch);

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
    const std::byte* told_by(std::uint32_t member, Commons::Host& host) const;

    Line* lines_;
    std::uint32_t members_;
    std::uint32_t me_;
    std::uint64_t call_ = 0;
};

}  // namespace poe::collectives
