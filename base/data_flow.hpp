// DataFlow: which members of a collective call need data of which other members. From this, a
// reader of a trace tells in what kind of wait a member was. Traces contain these numbers
// (tracer/probe/format.hpp). Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace poe {

enum class DataFlow : std::uint8_t {
    kNone,      // not a collective call, or unknown
    kBarrier,   // no data; every member waits for all
    kAllToAll,  // every member needs the data of all
    kOneToAll,  // members need the data of the root
    kAllToOne,  // the root needs the data of all
    kPrefix,    // a member needs the data of the members before it
    kFence,     // as kBarrier; the data were moved by operations on a window
};
inline constexpr std::size_t kDataFlows = 7;

// Returns the data flow of a collective call of MPL or MPI by its name, in any case. Reductions and
// gathers whose result every member gets, or a part of it, are kAllToAll, and so are names that
// tell nothing.
DataFlow data_flow_of(std::string_view name);

}  // namespace poe
