#include "mpi/datatype/basic_type.hpp"

#include "base/check.hpp"
#include "mpi/datatype/abi_constants.hpp"

namespace poe::mpi {

namespace {

constexpr PairType kPairs[] = {
    {code::kFloatInt, code::kFloat, code::kInt},
    {code::kDoubleInt, code::kDouble, code::kInt},
    {code::kLongInt, code::kLong, code::kInt},
    {code::k2Int, code::kInt, code::kInt},
    {code::kShortInt, code::kShort, code::kInt},
    {code::kLongDoubleInt, code::kLongDouble, code::kInt},
    {code::k2Real, code::kReal, code::kReal},
    {code::k2DoublePrecision, code::kDoublePrecision, code::kDoublePrecision},
    {code::k2Integer, code::kInteger, code::kInteger},
};

Unit unit_of(const PredefinedType& type) {
    return {static_cast<std::uint16_t>(type.code), type.size};
}

}  // namespace

const PairType* find_pair(std::uint32_t code) noexcept {
    for (const PairType& pair : kPairs) {
        if (pair.pair == code) return &pair;
    }
    return nullptr;
}

const PairType* find_pair(std::uint32_t value, std::uint32_t index) noexcept {
    for (const PairType& pair : kPairs) {
        if (pair.value == value && pair.index == index) return &pair;
    }
    return nullptr;
}

BasicParts basic_parts(const PredefinedType& type) {
    const PairType* pair = find_pair(type.code);
    if (pair == nullptr) return {{unit_of(type), {}}, 1};
    const PredefinedType* value = find_predefined_type(pair->value);
    const PredefinedType* index = find_predefined_type(pair->index);
    POE_CHECK(value != nullptr && index != nullptr, type.code);
    return {{unit_of(*value), unit_of(*index)}, 2};
}

}  // namespace poe::mpi
