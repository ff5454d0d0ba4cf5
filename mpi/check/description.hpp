// Description: what one member says about a collective call to the others, so that a judge can tell
// whether all have made the same call (judge.hpp). It holds what the standard requires to agree,
// and the type signatures of what the member sends to and receives from each other member, which
// must match in pairs (MPI 5.0, section 6.1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <mpi.h>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.hpp"
#include "mpi/check/place.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/object/fault.hpp"

namespace poe::mpi::check {

// The type signature of some elements, in a form that travels and that has words.
struct Part {
    std::uint64_t hash = 0;
    std::int64_t bytes = 0;
    std::int64_t elements = 0;  // basic elements
    std::uint32_t basic = 0;    // the handle of the only basic type as a number; 0: several types
    std::uint32_t unused = 0;

    bool packed() const noexcept { return basic == 0x207; }  // MPI_PACKED
    // Equal signatures. What is packed matches everything.
    bool matches(const Part& other) const noexcept {
        return hash == other.hash || packed() || other.packed();
    }
};
Part part_of(const Datatype& type, std::int64_t count);
// The same for a handle; an empty part if it names no datatype.
Part part_of(MPI_Datatype type, std::int64_t count);
// The part of the first `bytes` bytes of a message of `count` elements.
Part prefix_of(const Datatype& type, std::int64_t bytes);
// "10 MPI_INT", "24 bytes of several types" or "nothing".
std::string words_of_part(const Part& part);

// What a member sends, or what it receives.
struct Flow {
    enum class Kind : std::uint8_t {
        kNothing,    // the arguments do not say: no data, or MPI_IN_PLACE
        kSame,       // parts[0] is the part for each of the other members
        kEach,       // a part for each rank
        kNeighbors,  // parts[k] is for the member peers[k], in the order of matching
    };
    Kind kind = Kind::kNothing;
    std::vector<Part> parts;
    std::vector<std::int32_t> peers;

    // The parts for one member, in the order of matching.
    std::vector<Part> parts_for(int rank) const;
};

// An argument that must be the same at all members that have it.
struct Agreed {
    std::string name;
    std::string value;       // in words
    std::uint64_t hash = 0;  // of what the words cannot say
    std::int32_t code = 0;   // the error class if it differs
    std::int32_t within_group =
        0;  // 1: only the members of one group of an intercommunicator agree

    bool operator==(const Agreed& other) const noexcept {
        return name == other.name && value == other.value && hash == other.hash;
    }
};

struct Description {
    Place place;
    std::string function;  // the name, without the _c of the large-count form
    // Not MPI_SUCCESS: this member cannot make the call. The other members report the reason.
    int fault = MPI_SUCCESS;
    std::string reason;
    std::vector<Agreed> agreed;
    int root = MPI_UNDEFINED;  // intercommunicators only; for others it is one of `agreed`
    Flow sent;
    Flow received;
    bool has_group = false;
    std::vector<std::int32_t> group;  // the tasks of the group argument of MPI_Comm_create

    void agree(std::string_view name, std::string value, int code = MPI_ERR_ARG,
               std::uint64_t hash = 0, bool within_group = false);
    void agree(std::string_view name, std::int64_t value, int code = MPI_ERR_ARG) {
        agree(name, std::to_string(value), code);
    }
    // A list of numbers.
    void agree_list(std::string_view name, std::span<const std::int64_t> values,
                    int code = MPI_ERR_ARG, bool within_group = false);
    void agree_list(std::string_view name, const int* values, int count, int code = MPI_ERR_ARG);
    void agree_operation(MPI_Op op);
    void fail(const Fault& fault);
};

Description describe(Function function, const void* site);

std::vector<std::byte> encode(const Description& description);
// False if the bytes are no description.
bool decode(std::span<const std::byte> bytes, Description& description);

}  // namespace poe::mpi::check
