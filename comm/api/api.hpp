// The entry points, each called with the name under which it reports errors. Shared by the C,
// by-reference and Fortran forms. All check their arguments and return 0 or -1, except where
// mpproto.h, which documents them, says otherwise.
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

// api_tasks.cpp
int api_environ(const Caller& name, UserCount numtask, UserCount taskid);
// `nbuf` is the first of `nelem` integers of any width.
int api_task_query(const Caller& name, UserCount nbuf, int nelem, int qtype);
int api_task_set(const Caller& name, int nbuf, int stype);
[[noreturn]] int api_stopall(int errcode);

// api_blocking.cpp
int api_bsend(const Caller& name, const void* out, std::size_t len, int dest, int type);
int api_brecv(const Caller& name, void* in, std::size_t len, int* source, int* type,
              UserCount nbytes);
int api_bvsend(const Caller& name, const UserBuffer& out, int dest, int type);
int api_bvrecv(const Caller& name, const UserBuffer& in, int* source, int* type, UserCount nbytes);
int api_bsendrecv(const Caller& name, const UserBuffer& out, int dest, int type,
                  const UserBuffer& in, int* source, UserCount nbytes);
int api_pack(const Caller& name, const void* in, void* out, const UserBuffer& blocks, bool unpack);

// api_nonblocking.cpp
int api_send(const Caller& name, const UserBuffer& out, int dest, int type, int* msgid);
int api_recv(const Caller& name, const UserBuffer& in, int* source, int* type, int* msgid);
int api_rcvncall(const Caller& name, const UserBuffer& in, int* source, int* type, int* msgid,
                 void (*handler)(int*));
int api_status(const Caller& name, int msgid);
int api_wait(const Caller& name, int* msgid, UserCount nbytes);
int api_probe(const Caller& name, int* source, int* type, UserCount nbytes);
int api_lockrnc(const Caller& name, int newval, int* oldval);

// api_output.cpp
int api_flush(const Caller& name, int option);
int api_stdout_mode(const Caller& name, int mode);

// api_interrupts.cpp
int api_queryintr(const Caller& name);
int api_enableintr(const Caller& name, bool enable);
int api_queryintrdelay(const Caller& name);
int api_setintrdelay(const Caller& name, int delay);

}  // namespace poe::comm
