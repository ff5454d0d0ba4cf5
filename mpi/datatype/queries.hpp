// What programs ask about datatypes: handles, names, envelopes and contents (MPI 5.0, section
// 5.1.13), numbers of elements in a message (sections 3.2.5 and 5.1.11), and whether the types of
// two sides of a message match (section 3.3.1). Sizes and extents are functions of Datatype and
// TypeMap. Nothing blocks.
#pragma once

#include <cstdint>
#include <string_view>

#include "mpi/datatype/constructors.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/datatype/error_report.hpp"

namespace poe::mpi {

// The handle of a datatype.
MPI_Datatype handle_of(Datatype& type) noexcept;
// The datatype of a handle; null if there is none: MPI_DATATYPE_NULL, a number that is no
// predefined datatype, or a datatype that was freed.
Datatype* find_datatype(MPI_Datatype handle) noexcept;
// The datatype whose predefined operations are those of the datatype of `handle`: the named one
// that a datatype of MPI_Type_create_f90_real and the like represents, or else `handle` itself.
MPI_Datatype operand_type(MPI_Datatype handle) noexcept;

// MPI_Type_free without the callbacks of attributes, which the caller has run before.
ErrorReport type_free(Datatype& type);
ErrorReport type_set_name(Datatype& type, const char* name);

struct Envelope {
    std::int64_t integers = 0;
    std::int64_t addresses = 0;
    std::int64_t large_counts = 0;
    std::int64_t datatypes = 0;
    Combiner combiner = Combiner::kNamed;
};
// In the form kInt it is an error if the type was made by a function with `_c` and has large
// counts.
ErrorReport type_get_envelope(Form form, const Datatype& type, Envelope& envelope);

// The arrays of the caller and how many entries each may receive. In the form kInt there are no
// large counts.
struct ContentsArrays {
    std::int64_t max_integers = 0;
    std::int64_t max_addresses = 0;
    std::int64_t max_large_counts = 0;
    std::int64_t max_datatypes = 0;
    int* integers = nullptr;
    std::int64_t* addresses = nullptr;
    std::int64_t* large_counts = nullptr;
    MPI_Datatype* datatypes = nullptr;
};
// Each derived datatype that is returned has one more reference, which the program releases with
// MPI_Type_free.
ErrorReport type_get_contents(Form form, const Datatype& type, const ContentsArrays& arrays);

// The number of whole elements of `type` in a message of `bytes` bytes; kUndefined if it is not an
// integer. 0 if the type has no data and the message is empty.
std::int64_t get_count(const Datatype& type, std::int64_t bytes);
// The number of basic elements; kUndefined if the message ends within one.
std::int64_t get_elements(const Datatype& type, std::int64_t bytes);
// The bytes of the first `elements` basic elements of a message of this type: the inverse of
// get_elements(), for MPI_Status_set_elements. An error if elements is negative.
ErrorReport bytes_of_elements(const Datatype& type, std::int64_t elements, std::int64_t& bytes);

// The signature of a message of `count` elements of `type`.
Signature signature_of(const Datatype& type, std::int64_t count);
// The signature of the basic elements that fit into the first `bytes` bytes of such a message. A
// receive matches a shorter message if this equals the signature of the message.
Signature signature_of_prefix(const Datatype& type, std::int64_t bytes);
// True if a message of na elements of a may be received as nb elements of b. MPI_PACKED matches
// every type.
bool signatures_match(const Datatype& a, std::int64_t na, const Datatype& b, std::int64_t nb);

}  // namespace poe::mpi
