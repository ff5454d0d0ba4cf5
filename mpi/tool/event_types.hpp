// The types of events as a table (MPI 5.0, section 15.3.8): one row for each EngineEvent, with the
// name and the datatype of each of its elements. A type's number is its place in the table, which
// does not change while a program runs.
#pragma once

#include <cstddef>
#include <mpi.h>
#include <span>
#include <string>
#include <vector>

#include "mpi/tool/variables.hpp"
#include "tracer/probe/engine_events.hpp"

namespace poe::mpi::tool {

// The data of an event is a buffer with the elements in the order of the table, each at a multiple
// of its size.
struct EventType {
    EngineEvent event;
    const char* name;
    const char* description;
    Topic topic;
    int verbosity;  // MPI_T_VERBOSITY_*
    std::vector<const char*> element_names;
    std::vector<MPI_Datatype> datatypes;
    std::vector<MPI_Aint> displacements;
    std::string enumeration_name;
    Enumeration elements;  // value i is the name of element i
};
std::span<const EventType> event_types();
const EventType& type_of(EngineEvent event);

// Stores an element as its datatype demands.
void store_element(MPI_Datatype datatype, EventWord element, void* to) noexcept;

}  // namespace poe::mpi::tool
