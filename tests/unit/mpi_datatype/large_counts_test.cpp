// Sizes, extents and layouts above 2^31 and up to the limit of 64-bit numbers. No data is moved.
#include "mpi/datatype/packing.hpp"
#include "tests/unit/mpi_datatype/datatype_support.hpp"

using namespace datatype_tests;

namespace {

constexpr std::int64_t kMany = 5'000'000'000;

std::int64_t displacement(const TypedLayout& layout, poe::Bytes offset, poe::Bytes& length) {
    auto* base = reinterpret_cast<std::byte*>(std::uintptr_t{1} << 60);
    const std::byte* at = layout.piece(base, offset, length);
    return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(at) -
                                     reinterpret_cast<std::uintptr_t>(base));
}

}  // namespace

TEST_CASE("counts above 2^31", "[datatype]") {
    const Type row = made(type_contiguous, Form::kLarge, kMany, basic(code::kDouble));
    CHECK(row->size() == 8 * kMany);
    CHECK(bounds(*row) == Bounds{0, 8 * kMany, 0, 8 * kMany});
    CHECK(row->map().elements == kMany);

    const Type column = made(type_vector, Form::kLarge, kMany, 1, 3, basic(code::kInt));
    CHECK(column->size() == 4 * kMany);
    CHECK(column->extent() == 12 * (kMany - 1) + 4);
    column->commit();
    const TypedLayout layout = column->layout(2);
    CHECK(layout.size() == static_cast<poe::Bytes>(8 * kMany));
    poe::Bytes length = 0;
    CHECK(displacement(layout, 4 * static_cast<poe::Bytes>(kMany) - 3, length) ==
          12 * (kMany - 1) + 1);
    CHECK(length == 3);
    CHECK(displacement(layout, 4 * static_cast<poe::Bytes>(kMany) + 8, length) ==
          column->extent() + 24);
    CHECK(get_elements(*column, 8 * kMany) == 2 * kMany);

    const Type blocks = made(type_create_hindexed, Form::kLarge, 2, counts({kMany, 1}),
                             counts({-4 * kMany, 40}), basic(code::kInt));
    CHECK(bounds(*blocks) == Bounds{-4 * kMany, 4 * kMany + 44, -4 * kMany, 4 * kMany + 44});
    CHECK(blocks->size() == 4 * (kMany + 1));

    const Type part = made(type_create_subarray, Form::kLarge, 2, counts({kMany, kMany / 10}),
                           counts({3, 4}), counts({kMany - 3, 7}), kOrderC, basic(0x243));
    CHECK(part->extent() == kMany * (kMany / 10));
    CHECK(part->map().true_lower_bound() == (kMany - 3) * (kMany / 10) + 7);
}

TEST_CASE("a deep tree of large types stays small", "[datatype]") {
    Type type = made(type_contiguous, Form::kLarge, 1 << 20, basic(code::kDouble));
    Type spread = made(type_vector, Form::kLarge, 1 << 20, 1, 2, basic(code::kDouble));
    CHECK(signatures_match(*type, 1, *spread, 1));
    type = made(type_contiguous, Form::kLarge, 1 << 20, *type);
    spread = made(type_create_hvector, Form::kLarge, 1 << 20, 1, std::int64_t{1} << 25, *spread);
    CHECK(signatures_match(*type, 1, *spread, 1));
    CHECK(type->size() == std::int64_t{1} << 43);
}

TEST_CASE("a type that does not fit 64-bit numbers is refused", "[datatype]") {
    constexpr std::int64_t kHuge = std::int64_t{1} << 62;
    CHECK(error_of(type_contiguous, Form::kLarge, kHuge, basic(code::kInt)) == kErrValueTooLarge);
    CHECK(error_of(type_vector, Form::kLarge, 2, 1, kHuge, basic(code::kInt)) == kErrValueTooLarge);
    CHECK(error_of(type_create_hvector, Form::kLarge, 3, 1, kHuge, basic(code::kInt)) ==
          kErrValueTooLarge);
    CHECK(error_of(type_create_subarray, Form::kLarge, 2, counts({kHuge, kHuge}), counts({1, 1}),
                   counts({0, 0}), kOrderC, basic(code::kInt)) == kErrValueTooLarge);
    CHECK(error_of(type_create_resized, Form::kLarge, basic(code::kInt), kHuge, kHuge) ==
          kErrValueTooLarge);
    CHECK(error_of(type_create_hindexed, Form::kLarge, 2, counts({1, 1}),
                   counts({-kHuge, kHuge + 8}), basic(code::kInt)) == kErrValueTooLarge);
    const Large ends = {-kHuge - kHuge, kHuge};
    CHECK(error_of(type_create_hindexed_block, Form::kLarge, 2, 1, counts(ends),
                   basic(code::kInt)) == kErrValueTooLarge);
    std::int64_t size = 0;
    CHECK(pack_size(kHuge, basic(code::kInt), size).error_class == kErrValueTooLarge);
    CHECK(pack_external_size("external32", kHuge, basic(code::kInt), size).error_class ==
          kErrValueTooLarge);
    CHECK(!pack_size(kMany, basic(code::kInt), size));
    CHECK(size == 4 * kMany);
}
