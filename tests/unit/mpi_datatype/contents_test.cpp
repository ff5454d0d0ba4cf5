// Envelopes and contents, lifetime of datatypes, names and handles.
#include <array>
#include <string>

#include "tests/unit/mpi_datatype/datatype_support.hpp"

using namespace datatype_tests;

namespace {

struct Decoded {
    Envelope envelope;
    std::vector<int> integers;
    Large addresses;
    Large large_counts;
    std::vector<MPI_Datatype> datatypes;
};

// Decodes as a program does: envelope, then contents. Releases the datatypes that it gets.
Decoded decode(Form form, const Datatype& type) {
    Decoded result;
    REQUIRE(!type_get_envelope(form, type, result.envelope));
    const Envelope& envelope = result.envelope;
    result.integers.resize(static_cast<std::size_t>(envelope.integers));
    result.addresses.resize(static_cast<std::size_t>(envelope.addresses));
    result.large_counts.resize(static_cast<std::size_t>(envelope.large_counts));
    result.datatypes.resize(static_cast<std::size_t>(envelope.datatypes));
    REQUIRE(!type_get_contents(form, type,
                               {envelope.integers, envelope.addresses, envelope.large_counts,
                                envelope.datatypes, result.integers.data(), result.addresses.data(),
                                result.large_counts.data(), result.datatypes.data()}));
    for (const MPI_Datatype handle : result.datatypes) find_datatype(handle)->release();
    return result;
}

using Ints = std::vector<int>;

MPI_Datatype handle(std::uintptr_t number) {
    return reinterpret_cast<MPI_Datatype>(number);
}

void check_contents(const Datatype& type, Combiner combiner, const Ints& integers,
                    const Large& addresses, const Large& large_counts,
                    const std::vector<MPI_Datatype>& datatypes) {
    const Decoded found = decode(Form::kLarge, type);
    CHECK(found.envelope.combiner == combiner);
    CHECK(found.integers == integers);
    CHECK(found.addresses == addresses);
    CHECK(found.large_counts == large_counts);
    CHECK(found.datatypes == datatypes);
    if (large_counts.empty()) CHECK(decode(Form::kInt, type).integers == integers);
}

}  // namespace

TEST_CASE("contents are the arguments of the constructor", "[datatype]") {
    Datatype& old = basic(code::kInt);
    const std::vector<MPI_Datatype> one = {handle_of(old)};
    check_contents(*made(type_dup, old), Combiner::kDup, {}, {}, {}, one);
    check_contents(*made(type_contiguous, Form::kInt, 5, old), Combiner::kContiguous, {5}, {}, {},
                   one);
    check_contents(*made(type_contiguous, Form::kLarge, 5, old), Combiner::kContiguous, {}, {}, {5},
                   one);
    check_contents(*made(type_vector, Form::kInt, 2, 3, 4, old), Combiner::kVector, {2, 3, 4}, {},
                   {}, one);
    check_contents(*made(type_create_hvector, Form::kInt, 2, 3, 40, old), Combiner::kHvector,
                   {2, 3}, {40}, {}, one);
    check_contents(*made(type_create_hvector, Form::kLarge, 2, 3, 40, old), Combiner::kHvector, {},
                   {}, {2, 3, 40}, one);
    check_contents(*made(type_indexed, Form::kInt, 2, counts({1, 2}), counts({5, 9}), old),
                   Combiner::kIndexed, {2, 1, 2, 5, 9}, {}, {}, one);
    check_contents(*made(type_create_hindexed, Form::kInt, 2, counts({1, 2}), counts({5, 9}), old),
                   Combiner::kHindexed, {2, 1, 2}, {5, 9}, {}, one);
    check_contents(
        *made(type_create_hindexed, Form::kLarge, 2, counts({1, 2}), counts({5, 9}), old),
        Combiner::kHindexed, {}, {}, {2, 1, 2, 5, 9}, one);
    check_contents(*made(type_create_indexed_block, Form::kInt, 2, 3, counts({5, 9}), old),
                   Combiner::kIndexedBlock, {2, 3, 5, 9}, {}, {}, one);
    check_contents(*made(type_create_hindexed_block, Form::kInt, 2, 3, counts({5, 9}), old),
                   Combiner::kHindexedBlock, {2, 3}, {5, 9}, {}, one);
    check_contents(*made(type_create_resized, Form::kInt, old, -1, 9), Combiner::kResized, {},
                   {-1, 9}, {}, one);
    check_contents(*made(type_create_resized, Form::kLarge, old, -1, 9), Combiner::kResized, {}, {},
                   {-1, 9}, one);
    check_contents(*made(type_create_subarray, Form::kInt, 2, counts({4, 6}), counts({2, 3}),
                         counts({1, 2}), kOrderC, old),
                   Combiner::kSubarray, {2, 4, 6, 2, 3, 1, 2, kOrderC}, {}, {}, one);
    check_contents(*made(type_create_subarray, Form::kLarge, 2, counts({4, 6}), counts({2, 3}),
                         counts({1, 2}), kOrderC, old),
                   Combiner::kSubarray, {2, kOrderC}, {}, {4, 6, 2, 3, 1, 2}, one);
    const int kind = kDistributeBlock;
    const int argument = 5;
    const int processes = 2;
    check_contents(*made(type_create_darray, Form::kInt, 2, 1, 1, counts({10}), &kind, &argument,
                         &processes, kOrderFortran, old),
                   Combiner::kDarray, {2, 1, 1, 10, kDistributeBlock, 5, 2, kOrderFortran}, {}, {},
                   one);
    check_contents(*made(type_create_darray, Form::kLarge, 2, 1, 1, counts({10}), &kind, &argument,
                         &processes, kOrderFortran, old),
                   Combiner::kDarray, {2, 1, 1, kDistributeBlock, 5, 2, kOrderFortran}, {}, {10},
                   one);
    Datatype* real = nullptr;
    CHECK(!type_create_f90_real(10, 100, real));
    check_contents(*real, Combiner::kF90Real, {10, 100}, {}, {}, {});
    Datatype* integer = nullptr;
    CHECK(!type_create_f90_integer(9, integer));
    check_contents(*integer, Combiner::kF90Integer, {9}, {}, {}, {});
}

TEST_CASE("contents of a structure are handles of its members", "[datatype]") {
    Type inner = made(type_contiguous, Form::kInt, 2, basic(code::kInt));
    const MPI_Datatype address = handle_of(*inner);
    Datatype* member = inner.get();
    Datatype* types[] = {inner.get(), &basic(code::kDouble)};
    const Type outer =
        made(type_create_struct, Form::kInt, 2, counts({1, 3}), counts({0, 8}), types);
    // The program frees its handle; the structure keeps the member.
    inner.reset();
    CHECK(find_datatype(address) == member);
    check_contents(*outer, Combiner::kStruct, {2, 1, 3}, {0, 8}, {},
                   {address, handle_of(basic(code::kDouble))});
    CHECK(find_datatype(address) == member);
}

TEST_CASE("envelopes of named types and of large types", "[datatype]") {
    Envelope envelope;
    CHECK(!type_get_envelope(Form::kInt, basic(code::kInt), envelope));
    CHECK(envelope.combiner == Combiner::kNamed);
    CHECK(envelope.integers + envelope.addresses + envelope.datatypes == 0);
    CHECK(type_get_contents(Form::kInt, basic(code::kInt), {}).error_class == kErrType);
    const Type large = made(type_contiguous, Form::kLarge, 5, basic(code::kInt));
    CHECK(type_get_envelope(Form::kInt, *large, envelope).error_class == kErrType);
    CHECK(type_get_contents(Form::kInt, *large, {}).error_class == kErrType);
    // Too little room.
    const Type type = made(type_contiguous, Form::kInt, 5, basic(code::kInt));
    int integer = 0;
    ContentsArrays arrays;
    arrays.integers = &integer;
    arrays.max_integers = 1;
    CHECK(type_get_contents(Form::kInt, *type, arrays).error_class == kErrArg);
}

TEST_CASE("handles", "[datatype]") {
    CHECK(find_datatype(nullptr) == nullptr);
    CHECK(find_datatype(handle(code::kDatatypeNull)) == nullptr);
    CHECK(find_datatype(handle(0x204)) == nullptr);
    CHECK(find_datatype(handle(0x101)) == nullptr);
    Datatype& old = basic(code::kInt);
    CHECK(find_datatype(handle_of(old)) == &old);
    CHECK(handle_of(old) == handle(code::kInt));
    Datatype* type = nullptr;
    CHECK(!type_contiguous(Form::kInt, 3, old, type));
    const MPI_Datatype user = handle_of(*type);
    CHECK(find_datatype(user) == type);
    {
        // A request in progress.
        const TypeReference use(*type);
        CHECK(!type_free(*type));
        CHECK(find_datatype(user) == type);
    }
    CHECK(find_datatype(user) == nullptr);
}

TEST_CASE("commit and dup", "[datatype]") {
    const Type type = made(type_vector, Form::kInt, 2, 1, 2, basic(code::kInt));
    CHECK_FALSE(type->committed());
    CHECK_FALSE(made(type_dup, *type)->committed());
    type->commit();
    type->commit();
    CHECK(type->committed());
    const Type copy = made(type_dup, *type);
    CHECK(copy->committed());
    CHECK(addresses(*copy, 2) == addresses(*type, 2));
    CHECK(made(type_dup, basic(code::kInt))->committed());
}

TEST_CASE("a long chain of copies is released", "[datatype]") {
    const std::size_t before = datatype_pool().in_use();
    Type type = made(type_contiguous, Form::kInt, 2, basic(code::kInt));
    for (int i = 0; i < 200'000; ++i) {
        Datatype* copy = nullptr;
        if (type_dup(*type, copy)) FAIL();
        type.reset(copy);
    }
    CHECK(datatype_pool().in_use() == before + 200'001);
    type.reset();
    CHECK(datatype_pool().in_use() == before);
}

TEST_CASE("names", "[datatype]") {
    const Type type = made(type_dup, basic(code::kInt));
    CHECK(type->name().empty());
    CHECK(!type_set_name(*type, "row"));
    CHECK(type->name() == "row");
    CHECK(!type_set_name(*type, std::string(200, 'x').c_str()));
    CHECK(type->name() == std::string(127, 'x'));
    CHECK(type_set_name(*type, nullptr).error_class == kErrArg);
}

TEST_CASE("signatures", "[datatype]") {
    const Type five = made(type_contiguous, Form::kInt, 5, basic(code::kInt));
    const Type spread = made(type_vector, Form::kInt, 5, 2, 7, basic(code::kInt));
    CHECK(signatures_match(*five, 4, *spread, 2));
    CHECK(signatures_match(*five, 1'000'000'000'000, basic(code::kInt), 5'000'000'000'000));
    CHECK_FALSE(signatures_match(*five, 4, *spread, 3));
    CHECK_FALSE(signatures_match(basic(code::kInt), 1, basic(code::kFloat), 1));
    CHECK(signatures_match(basic(code::kPacked), 20, *five, 1));
    CHECK_FALSE(signatures_match(basic(code::kPacked), 21, *five, 1));
    // A pair is two types, and their order counts.
    Datatype* there[] = {&basic(code::kDouble), &basic(code::kInt)};
    Datatype* back[] = {&basic(code::kInt), &basic(code::kDouble)};
    const Type a = made(type_create_struct, Form::kInt, 2, counts({1, 1}), counts({0, 8}), there);
    const Type b = made(type_create_struct, Form::kInt, 2, counts({1, 1}), counts({0, 8}), back);
    CHECK(signatures_match(*a, 7, basic(code::kDoubleInt), 7));
    CHECK_FALSE(signatures_match(*a, 1, *b, 1));
    CHECK(signature_of(*a, 2).hash() != signature_of(*b, 2).hash());
    CHECK(signature_of_prefix(*spread, 12) == signature_of(basic(code::kInt), 3));
}

TEST_CASE("numbers of elements", "[datatype]") {
    Datatype* types[] = {&basic(code::kDouble), &basic(code::kInt)};
    const Type type =
        made(type_create_struct, Form::kInt, 2, counts({1, 2}), counts({0, 8}), types);
    CHECK(get_count(*type, 32) == 2);
    CHECK(get_count(*type, 24) == kUndefined);
    CHECK(get_elements(*type, 24) == 4);
    CHECK(get_elements(*type, 28) == 5);
    CHECK(get_elements(*type, 30) == kUndefined);
    CHECK(get_elements(basic(code::kDoubleInt), 8) == 1);
    const Type none = made(type_contiguous, Form::kInt, 0, basic(code::kInt));
    CHECK(get_count(*none, 4) == kUndefined);
    CHECK(get_elements(*none, 4) == kUndefined);
    std::int64_t bytes = 0;
    CHECK(bytes_of_elements(*type, -1, bytes).error_class == kErrCount);
}
