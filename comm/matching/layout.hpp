// Layout: the interface through which the message layer moves a message whose memory is neither
// contiguous nor a plain vector, for instance an MPI derived datatype. The message is a stream of
// size() bytes, its packed form; a layout knows where in memory each byte of the stream is. The
// message layer copies between this memory and a pipe, so such a message is never packed first.
#pragma once

#include <cstddef>

#include "base/types.hpp"

namespace poe::comm {

// `base` is the address of the buffer that the user passed. If it is null, the layout holds
// absolute addresses. A layout owns no user memory. The owner of a layout keeps it until the
// message has ended. No function blocks, allocates or fails; several threads may call all of them.
class Layout {
  public:
    // The length of the packed form in bytes.
    virtual Bytes size() const noexcept = 0;

    // Copies the bytes [offset, offset + n) of the packed form to `to`. Requires offset + n <=
    // size(). Calls may come in any order of offsets.
    virtual void copy_out(const std::byte* base, Bytes offset, std::byte* to,
                          Bytes n) const noexcept = 0;

    // Copies n bytes from `from` to the places of the bytes [offset, offset + n) of the packed
    // form. Requires offset + n <= size().
    virtual void copy_in(std::byte* base, Bytes offset, const std::byte* from,
                         Bytes n) const noexcept = 0;

    // Returns the address of byte `offset` of the packed form, and in `length` the number of bytes
    // from there that are contiguous both in memory and in the packed form. Requires offset <
    // size().
    virtual std::byte* piece(std::byte* base, Bytes offset, Bytes& length) const noexcept = 0;

  protected:
    ~Layout() = default;
};

}  // namespace poe::comm
