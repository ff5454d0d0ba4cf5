// What the tests of datatypes share: datatypes with an owner, short names for constructors, and a
// comparison of a datatype with an OracleType.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <catch2/catch.hpp>

#include "mpi/datatype/constructors.hpp"
#include "mpi/datatype/queries.hpp"
#include "tests/unit/mpi_datatype/type_oracle.hpp"

namespace datatype_tests {

using namespace poe::mpi;
using Large = std::vector<std::int64_t>;

struct Release {
    void operator()(Datatype* type) const { type->release(); }
};
using Type = std::unique_ptr<Datatype, Release>;

// Calls a constructor, which must succeed: made(type_contiguous, Form::kInt, 3, old).
template <typename Constructor, typename... Arguments>
Type made(Constructor constructor, Arguments&&... arguments) {
    Datatype* type = nullptr;
    const ErrorReport error = constructor(std::forward<Arguments>(arguments)..., type);
    INFO(error.text);
    REQUIRE(error.error_class == kSuccess);
    REQUIRE(type != nullptr);
    return Type(type);
}

template <typename Constructor, typename... Arguments>
int error_of(Constructor constructor, Arguments&&... arguments) {
    Datatype* type = nullptr;
    const ErrorReport error = constructor(std::forward<Arguments>(arguments)..., type);
    CHECK(type == nullptr);
    CHECK(!error.text.empty());
    CHECK(!error.argument.empty());
    return error.error_class;
}

inline Datatype& basic(int code) {
    return predefined_datatype(code);
}

inline Counts counts(const Large& values) {
    return Counts(values.data());
}

struct Bounds {
    std::int64_t lower;
    std::int64_t extent;
    std::int64_t true_lower;
    std::int64_t true_extent;
    bool operator==(const Bounds&) const = default;
};
inline std::ostream& operator<<(std::ostream& out, const Bounds& b) {
    return out << "lb " << b.lower << " extent " << b.extent << " true lb " << b.true_lower
               << " true extent " << b.true_extent;
}
inline Bounds bounds(const Datatype& type) {
    return {type.lower_bound(), type.extent(), type.map().true_lower_bound(),
            type.map().true_extent()};
}

// The displacements of the packed bytes of `count` elements, found one by one with piece().
inline std::vector<std::int64_t> addresses(Datatype& type, std::int64_t count) {
    type.commit();
    const TypedLayout layout = type.layout(count);
    // Displacements may be negative, so the base is a number that is far from both ends.
    auto* base = reinterpret_cast<std::byte*>(std::uintptr_t{1} << 40);
    std::vector<std::int64_t> result;
    for (poe::Bytes offset = 0; offset < layout.size(); ++offset) {
        poe::Bytes length = 0;
        const std::byte* at = layout.piece(base, offset, length);
        result.push_back(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(at) -
                                                   reinterpret_cast<std::uintptr_t>(base)));
    }
    return result;
}

// True if the type has the bounds, the size, the signature and the data of the oracle.
inline void check_same(Datatype& type, const OracleType& oracle) {
    const bool empty = oracle.entries.empty();
    CHECK(bounds(type) == Bounds{oracle.lower(), oracle.extent(), empty ? 0 : oracle.true_lower(),
                                 empty ? 0 : oracle.true_upper() - oracle.true_lower()});
    CHECK(type.size() == oracle.size());
    CHECK(type.map().elements == static_cast<std::int64_t>(oracle.entries.size()));
    Signature signature;
    for (const auto& entry : oracle.entries) {
        signature = signature.then(Signature::of(static_cast<std::uint64_t>(entry.code)));
    }
    CHECK(type.map().signature == signature);
    CHECK(addresses(type, 2) == oracle.addresses(2));
}

}  // namespace datatype_tests
