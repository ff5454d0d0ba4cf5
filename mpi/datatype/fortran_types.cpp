// The datatypes that Fortran 90 programs ask for by precision and range, or by size (MPI 5.0,
// section 19.1.5), and the datatypes of pairs. The kinds are those of gfortran.
#include <limits>
#include <map>
#include <mutex>
#include <tuple>

#include "mpi/datatype/basic_type.hpp"
#include "mpi/datatype/constructors.hpp"

namespace poe::mpi {

namespace {

// A kind that selected_real_kind(p, r) can return, and the datatypes of the same representation.
struct RealKind {
    int precision;
    int range;
    int real;
    int complex;
};

constexpr RealKind kRealKinds[] = {
    {6, 37, code::kReal4, code::kComplex8},
    {15, 307, code::kReal8, code::kComplex16},
#if __LDBL_MANT_DIG__ == 64
    {18, 4931, code::kLongDouble, code::kLongDoubleComplex},
#endif
    {33, 4931, code::kReal16, code::kComplex32},
};

struct IntegerKind {
    int range;
    int integer;
};

constexpr IntegerKind kIntegerKinds[] = {
    {2, code::kInteger1},  {4, code::kInteger2},   {9, code::kInteger4},
    {18, code::kInteger8}, {38, code::kInteger16},
};

// The parameterised datatypes that exist. Like the named ones they live as long as the process.
struct ParameterisedTypes {
    std::mutex mutex;
    std::map<std::tuple<Combiner, int, int>, Datatype*> types;
};

ParameterisedTypes& parameterised_types() {
    static auto* types = new ParameterisedTypes;
    return *types;
}

Datatype* parameterised(Combiner combiner, int p, int r, int representation) {
    ParameterisedTypes& known = parameterised_types();
    const std::lock_guard lock(known.mutex);
    Datatype*& type = known.types[{combiner, p, r}];
    if (type == nullptr) {
        Contents contents;
        contents.combiner = combiner;
        if (combiner != Combiner::kF90Integer) contents.integers.push_back(p);
        contents.integers.push_back(r);
        type = &datatype_pool().make();
        type->define(predefined_datatype(representation).map(), std::move(contents));
        type->make_predefined({}, representation);
    }
    return type;
}

ErrorReport find_real_kind(int p, int r, const RealKind*& kind) {
    if (p == kUndefined && r == kUndefined) {
        return {kErrArg, "p", "the precision and the range are both MPI_UNDEFINED"};
    }
    const int precision = p == kUndefined ? 0 : p;
    const int range = r == kUndefined ? 0 : r;
    for (const RealKind& candidate : kRealKinds) {
        if (precision <= candidate.precision && range <= candidate.range) {
            kind = &candidate;
            return {};
        }
    }
    return {kErrArg, precision > 33 ? "p" : "r",
            joined("no kind of REAL has a precision of ", precision, " digits and a range of ",
                   range, "; the limits are 33 and 4931")};
}

}  // namespace

ErrorReport type_create_f90_integer(int r, Datatype*& made) {
    for (const IntegerKind& kind : kIntegerKinds) {
        if (r <= kind.range) {
            made = parameterised(Combiner::kF90Integer, 0, r, kind.integer);
            return {};
        }
    }
    return {kErrArg, "r", joined("no kind of INTEGER has a range of ", r, "; the limit is 38")};
}

ErrorReport type_create_f90_real(int p, int r, Datatype*& made) {
    const RealKind* kind = nullptr;
    if (ErrorReport error = find_real_kind(p, r, kind)) return error;
    made = parameterised(Combiner::kF90Real, p, r, kind->real);
    return {};
}

ErrorReport type_create_f90_complex(int p, int r, Datatype*& made) {
    const RealKind* kind = nullptr;
    if (ErrorReport error = find_real_kind(p, r, kind)) return error;
    made = parameterised(Combiner::kF90Complex, p, r, kind->complex);
    return {};
}

ErrorReport type_match_size(int typeclass, int size, Datatype*& made) {
    static constexpr int kIntegers[] = {code::kInteger1, code::kInteger2, code::kInteger4,
                                        code::kInteger8, code::kInteger16};
    static constexpr int kReals[] = {code::kReal2, code::kReal4, code::kReal8, code::kReal16};
    static constexpr int kComplexes[] = {code::kComplex4, code::kComplex8, code::kComplex16,
                                         code::kComplex32};
    const auto choose = [&](const auto& codes) -> ErrorReport {
        for (const int candidate : codes) {
            Datatype& type = predefined_datatype(candidate);
            if (type.size() == size) {
                made = &type;
                return {};
            }
        }
        return {kErrArg, "size", joined("no datatype of this class has ", size, " bytes")};
    };
    switch (typeclass) {
        case kTypeclassInteger:
            return choose(kIntegers);
        case kTypeclassReal:
            return choose(kReals);
        case kTypeclassComplex:
            return choose(kComplexes);
        default:
            return {kErrArg, "typeclass",
                    joined(typeclass,
                           " is none of MPI_TYPECLASS_INTEGER, MPI_TYPECLASS_REAL and "
                           "MPI_TYPECLASS_COMPLEX")};
    }
}

ErrorReport type_get_value_index(const Datatype& value, const Datatype& index, Datatype*& made) {
    made = nullptr;
    if (value.code() == 0 || index.code() == 0) return {};
    const PairType* pair = find_pair(static_cast<std::uint32_t>(value.code()),
                                     static_cast<std::uint32_t>(index.code()));
    if (pair != nullptr) made = &predefined_datatype(pair->pair);
    return {};
}

}  // namespace poe::mpi
