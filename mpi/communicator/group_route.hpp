// The context and type of messages between tasks that have no communicator in common
// (from_group.hpp, leaving.hpp). Pure.
#pragma once

#include <span>
#include <string_view>

#include "base/types.hpp"
#include "mpi/communicator/exchange.hpp"

namespace poe::mpi {

// What the messages of a creation are for.
enum class FromGroup : char { kMembers = 'm', kLocal = 'l', kLeaders = 'r', kLeaving = 'x' };

// The route of the messages of a creation with this tag, in the group or between the two tasks. The
// 58 bits of its hash keep creations with different tags or groups apart. The context has bits 27
// and 31, which no communicator has together with a number below 2^27.
Route route_of(FromGroup purpose, std::string_view tag, std::span<const TaskId> tasks) noexcept;

}  // namespace poe::mpi
