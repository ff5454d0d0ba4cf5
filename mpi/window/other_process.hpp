// Operations on a part of a created window that belongs to another process of this node: by its
// mailbox if it is just waiting in MPI, otherwise by single copy.
//
// Short puts and accumulates are collected in a batch. The batch is carried out by the next
// synchronisation, by an operation that cannot be batched, and when it is full; so the operations
// on a member keep their order.
#pragma once

#include "comm/bootstrap/runtime.hpp"
#include "mpi/datatype/typed_layout.hpp"
#include "mpi/object/fault.hpp"
#include "mpi/window/access.hpp"
#include "mpi/window/window.hpp"

namespace poe::mpi {

// Carries out the operation, or adds it to the batch of the member. `layout` is that of the
// target's elements; `data` are the origin's data in packed form, and `fetched` receives the old
// contents in packed form; each is null if the kind has none. Precondition: the member's memory may
// be copied and is not mapped.
Fault access_other_process(comm::Runtime& runtime, Window& window, int rank, const Access& access,
                           const TypedLayout& layout, const std::byte* data, std::byte* fetched);

// The longest operand of exchange_at_once(): two operands and the result are in the line of a
// mailbox's slot.
inline constexpr Bytes kMostInMail = 8;

// Tries an operation with a result, whose target has contiguous elements of at most kMostInMail
// bytes. `data` as in post of mailbox.hpp. Returns false if the target does not take it at once, or
// if earlier operations wait in the batch; nothing has happened then, except that `fetched` is
// undefined if the target has ended meanwhile. Blocks while the target carries it out.
bool exchange_at_once(comm::Runtime& runtime, Window& window, int rank, const Mail& mail,
                      const std::byte* data, std::byte* fetched) noexcept;

// Carries out a put or get of contiguous bytes, which `mail` describes but for their number,
// without the description of the operation that access_other_process() needs. `data` or `fetched`
// are the bytes of the program. Returns false if the member's memory cannot be copied, if earlier
// operations wait in the batch, or if the operation has failed; access_other_process() may then
// carry it out once more, and has the fault. Blocks until the operation has taken effect.
bool move_at_once(comm::Runtime& runtime, Window& window, int rank, const Mail& mail, Bytes bytes,
                  const std::byte* data, std::byte* fetched) noexcept;

// Carries out the batch of a member.
Fault carry_out_batch(comm::Runtime& runtime, Window& window, int rank);

}  // namespace poe::mpi
