// The bodies of the calls of MPL, shared by the C, by-reference and Fortran forms. All check their
// arguments and return 0 or -1, except where mpproto.h, which documents them, says otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "comm/api/caller.hpp"

namespace poe::comm {

// The user's description of a message in memory: `count` blocks of `block` bytes whose starts are
// `offset` bytes apart. An ordinary message is one block. Does not own the memory.
struct UserBuffer {
    const void* start = nullptr;
    std::size_t block = 0;
    std::size_t offset = 0;
    std::size_t count = 1;
};

// A user's pointer to one or more integers of any width; may be null. Two words, so that it is
// passed in registers.
class UserCount {
  public:
    template <typename Count>
    UserCount(Count* where) noexcept
        : where_(where),
          kind_(sizeof(Count) == 8        ? kWide
                : std::is_signed_v<Count> ? kSigned
                                          : kUnsigned) {
        static_assert(sizeof(Count) == 8 || sizeof(Count) == 4);
    }

    bool is_null() const noexcept { return where_ == nullptr; }
    // The integer `index` places after this one.
    UserCount at(std::size_t index) const noexcept {
        UserCount other = *this;
        other.where_ = static_cast<char*>(where_) + index * (kind_ == kWide ? 8 : 4);
        return other;
    }

    // Stores -1 in any width. Returns false, and stores nothing, if the value does not fit. No
    // effect on a null pointer.
    bool store(long long value) const noexcept {
        if (where_ == nullptr) return true;
        if (kind_ == kWide) {
            std::memcpy(where_, &value, sizeof value);
            return true;
        }
        const long long largest = kind_ == kSigned ? std::numeric_limits<std::int32_t>::max()
                                                   : std::numeric_limits<std::uint32_t>::max();
        if (value > largest) return false;
        const auto narrow = static_cast<std::int32_t>(value);
        std::memcpy(where_, &narrow, sizeof narrow);
        return true;
    }

  private:
    enum Kind : std::uint8_t { kWide, kSigned, kUnsigned };
    void* where_;
    Kind kind_;
};

// api_<name>: the body of each call of calls.tsv, with the name under which it reports errors and
// the arguments of the C function. For a count of any width it gets a UserCount.
#include "comm/api/bodies.inc"

}  // namespace poe::comm
