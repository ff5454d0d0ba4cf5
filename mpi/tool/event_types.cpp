// See event_types.hpp.
#include "mpi/tool/event_types.hpp"

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

#include "base/check.hpp"

namespace poe::mpi::tool {
namespace {

struct ElementRow {
    const char* name;
    MPI_Datatype datatype;
};
struct EventRow {
    EngineEvent event;
    const char* name;
    const char* description;
    Topic topic;
    int verbosity;
    std::vector<ElementRow> elements;
};

// Texts are addresses, because MPI_T has no datatype for a text within an event.
const MPI_Datatype kAddress = MPI_UINT64_T;

// The elements of each event about a message, and `more` after them.
std::vector<ElementRow> message_elements(std::initializer_list<ElementRow> more = {}) {
    std::vector<ElementRow> all = {{"source", MPI_INT},       {"tag", MPI_INT},
                                   {"context", MPI_UNSIGNED}, {"internal", MPI_INT},
                                   {"number", MPI_UNSIGNED},  {"bytes", MPI_UNSIGNED_LONG_LONG}};
    all.insert(all.end(), more);
    return all;
}

// In the order of EngineEvent, with the elements in the order in which they are raised. Not
// constexpr, because the handles of datatypes are casts of numbers.
std::vector<EventRow> event_rows() {
    return {
        {EngineEvent::kUnexpectedArrived, "message_unexpected",
         "a message that no receive matches has arrived or was announced", kMessages,
         MPI_T_VERBOSITY_TUNER_BASIC, message_elements()},
        {EngineEvent::kUnexpectedMatched, "message_matched",
         "a receive has matched a message that was unexpected", kMessages,
         MPI_T_VERBOSITY_TUNER_DETAIL, message_elements()},
        {EngineEvent::kAnnouncedAccepted, "message_accepted",
         "the bytes of a message that was announced (rendezvous) are about to be transferred",
         kMessages, MPI_T_VERBOSITY_TUNER_DETAIL,
         message_elements({{"single_copy", MPI_INT}, {"buffered", MPI_INT}})},
        {EngineEvent::kPathDecided,
         "collective_path",
         "the path for blocking collective calls of a shape was decided",
         kCollectives,
         MPI_T_VERBOSITY_TUNER_BASIC,
         {{"operation", kAddress},
          {"path", kAddress},
          {"bytes", MPI_UNSIGNED_LONG_LONG},
          {"members", MPI_UNSIGNED},
          {"context", MPI_UNSIGNED}}},
        {EngineEvent::kAlgorithmChosen,
         "collective_algorithm",
         "the algorithm for collective calls of a shape by messages was chosen",
         kCollectives,
         MPI_T_VERBOSITY_TUNER_BASIC,
         {{"operation", kAddress},
          {"algorithm", kAddress},
          {"parameter", MPI_DOUBLE},
          {"bytes", MPI_UNSIGNED_LONG_LONG},
          {"members", MPI_UNSIGNED},
          {"context", MPI_UNSIGNED}}},
        {EngineEvent::kErrorRaised,
         "error",
         "a call of MPI has an error, before its error handler is invoked",
         kErrors,
         MPI_T_VERBOSITY_USER_BASIC,
         {{"function", kAddress}, {"error_class", kAddress}}},
    };
}

MPI_Aint size_of(MPI_Datatype datatype) noexcept {
    return datatype == MPI_INT || datatype == MPI_UNSIGNED ? sizeof(int) : sizeof(EventWord);
}

std::vector<EventType> make_event_types() {
    const std::vector<EventRow> rows = event_rows();
    std::vector<EventType> types;
    types.reserve(rows.size());  // the addresses of names and enumerations must not change
    for (const EventRow& row : rows) {
        POE_CHECK(static_cast<std::size_t>(row.event) == types.size(), types.size());
        EventType& type = types.emplace_back();
        type.event = row.event;
        type.name = row.name;
        type.description = row.description;
        type.topic = row.topic;
        type.verbosity = row.verbosity;
        MPI_Aint place = 0;
        for (const ElementRow& element : row.elements) {
            const MPI_Aint size = size_of(element.datatype);
            place = (place + size - 1) / size * size;
            type.element_names.push_back(element.name);
            type.datatypes.push_back(element.datatype);
            type.displacements.push_back(place);
            place += size;
        }
        type.enumeration_name = std::string("elements_of_") + row.name;
        type.elements = {type.enumeration_name.c_str(), type.element_names};
    }
    return types;
}

}  // namespace

std::span<const EventType> event_types() {
    // Never destroyed, because events may be raised in exit handlers, too.
    static const std::vector<EventType>& all = *new std::vector<EventType>(make_event_types());
    return all;
}

const EventType& type_of(EngineEvent event) {
    return event_types()[static_cast<std::size_t>(event)];
}

void store_element(MPI_Datatype datatype, EventWord element, void* to) noexcept {
    if (datatype == MPI_INT || datatype == MPI_UNSIGNED) {
        const auto narrow = static_cast<std::uint32_t>(element);
        std::memcpy(to, &narrow, sizeof narrow);
    } else {
        // A double is raised as its bits.
        std::memcpy(to, &element, sizeof element);
    }
}

}  // namespace poe::mpi::tool
