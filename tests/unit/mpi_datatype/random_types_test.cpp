// Random nested datatypes against the oracle: bounds, signature, packing of any part, pieces,
// numbers of elements. POE_DATATYPE_SEEDS sets how many datatypes are tried, POE_DATATYPE_SEED the
// first.
#include "tests/unit/mpi_datatype/random_types.hpp"

#include <cstdlib>
#include <cstring>
#include <set>

#include "mpi/datatype/external32.hpp"
#include "mpi/datatype/packing.hpp"

using namespace datatype_tests;

namespace {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
    const char* value = std::getenv(name);
    return value != nullptr ? std::strtoull(value, nullptr, 10) : otherwise;
}

using Memory = std::vector<std::byte>;

Memory random_bytes(std::size_t n, RandomTypes& random) {
    Memory memory(n);
    for (std::byte& byte : memory) byte = static_cast<std::byte>(random.number(0, 255));
    return memory;
}

// Memory for `count` elements: `base` is the address that a program passes as the buffer.
struct Buffer {
    Buffer(const std::vector<std::int64_t>& where, RandomTypes& random) {
        const auto [low, high] = std::minmax_element(where.begin(), where.end());
        lowest = where.empty() ? 0 : *low;
        memory =
            random_bytes(where.empty() ? 0 : static_cast<std::size_t>(*high - *low + 1), random);
    }
    std::byte* base() {
        return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(memory.data()) -
                                            static_cast<std::uintptr_t>(lowest));
    }
    std::byte& at(std::int64_t displacement) {
        return memory[static_cast<std::size_t>(displacement - lowest)];
    }
    Memory memory;
    std::int64_t lowest = 0;
};

void check_packing(Datatype& type, const OracleType& oracle, RandomTypes& random) {
    const std::int64_t count = random.number(1, 4);
    const std::vector<std::int64_t> where = oracle.addresses(count);
    const TypedLayout layout = type.layout(count);
    REQUIRE(layout.size() == where.size());
    Buffer buffer(where, random);
    Memory expected;
    for (const std::int64_t at : where) expected.push_back(buffer.at(at));

    Memory packed(where.size());
    layout.copy_out(buffer.base(), 0, packed.data(), packed.size());
    CHECK(packed == expected);

    // Two writes to one place have no defined order, so only other layouts are unpacked.
    const bool overlaps = std::set(where.begin(), where.end()).size() != where.size();
    for (int i = 0; i < 12 && !where.empty(); ++i) {
        const auto offset =
            static_cast<std::size_t>(random.number(0, static_cast<std::int64_t>(where.size())));
        const auto n = static_cast<std::size_t>(
            random.number(0, static_cast<std::int64_t>(where.size() - offset)));
        INFO("bytes " << offset << " to " << offset + n);
        Memory part(n + 1, std::byte{0x5a});
        layout.copy_out(buffer.base(), offset, part.data(), n);
        CHECK(std::equal(part.begin(), part.end() - 1,
                         expected.begin() + static_cast<std::ptrdiff_t>(offset)));
        CHECK(part.back() == std::byte{0x5a});
        if (overlaps) continue;
        const Memory news = random_bytes(n, random);
        Buffer after = buffer;
        for (std::size_t k = 0; k < n; ++k) after.at(where[offset + k]) = news[k];
        layout.copy_in(buffer.base(), offset, news.data(), n);
        CHECK(buffer.memory == after.memory);
        std::copy(news.begin(), news.end(), expected.begin() + static_cast<std::ptrdiff_t>(offset));
    }
}

void check_pieces(Datatype& type, const OracleType& oracle, RandomTypes& random) {
    const std::int64_t count = random.number(1, 3);
    const std::vector<std::int64_t> where = oracle.addresses(count);
    const TypedLayout layout = type.layout(count);
    auto* base = reinterpret_cast<std::byte*>(std::uintptr_t{1} << 40);
    const auto displacement = [&](const void* at) {
        return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(at) -
                                         reinterpret_cast<std::uintptr_t>(base));
    };
    std::vector<std::int64_t> found;
    const auto room = static_cast<std::size_t>(random.number(1, 5));
    while (found.size() < where.size()) {
        std::vector<iovec> pieces(room);
        poe::Bytes bytes = 0;
        const std::size_t n = layout.pieces(base, found.size(), pieces, bytes);
        REQUIRE(n > 0);
        const std::size_t before = found.size();
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t k = 0; k < pieces[i].iov_len; ++k) {
                found.push_back(displacement(pieces[i].iov_base) + static_cast<std::int64_t>(k));
            }
        }
        CHECK(found.size() - before == bytes);
    }
    CHECK(found == where);
    TypedLayout::Strided form;
    if (layout.strided(form)) {
        std::vector<std::int64_t> strided;
        for (std::int64_t i = 0; i < form.blocks; ++i) {
            for (poe::Bytes k = 0; k < form.block; ++k) {
                strided.push_back(form.displacement + i * form.stride +
                                  static_cast<std::int64_t>(k));
            }
        }
        CHECK(strided == where);
    }
}

void check_elements(const Datatype& type, const OracleType& oracle, RandomTypes& random) {
    const std::int64_t total = 3 * oracle.size();
    for (int i = 0; i < 10; ++i) {
        const std::int64_t bytes = random.number(0, total);
        std::int64_t left = bytes;
        std::int64_t elements = 0;
        Signature signature;
        while (left > 0) {
            const auto& entry =
                oracle.entries[static_cast<std::size_t>(elements) % oracle.entries.size()];
            if (entry.size > left) break;
            left -= entry.size;
            ++elements;
            signature = signature.then(Signature::of(static_cast<std::uint64_t>(entry.code)));
        }
        CHECK(get_elements(type, bytes) == (left == 0 ? elements : kUndefined));
        CHECK(signature_of_prefix(type, bytes) == signature);
        std::int64_t back = -1;
        CHECK(!bytes_of_elements(type, elements, back));
        CHECK(back == bytes - left);
    }
}

void check_external(Datatype& type, const OracleType& oracle, RandomTypes& random) {
    const std::int64_t count = random.number(0, 3);
    Buffer buffer(oracle.addresses(count), random);
    std::int64_t size = -1;
    REQUIRE(!pack_external_size("external32", count, type, size));
    // Byte by byte, for the types that have the same size in both forms.
    Memory expected;
    bool plain = true;
    const std::int64_t distance = oracle.extent();
    for (std::int64_t i = 0; i < count; ++i) {
        for (const auto& entry : oracle.entries) {
            plain = plain && entry.code != code::kLong && entry.code != code::kWchar &&
                    entry.code != code::kLongDouble;
            const std::int64_t number = entry.code == 0x216 ? 8 : entry.size;  // double complex
            for (std::int64_t part = 0; part < entry.size; part += number) {
                for (std::int64_t b = number - 1; b >= 0; --b) {
                    expected.push_back(buffer.at(i * distance + entry.at + part + b));
                }
            }
        }
    }
    if (!plain) return;
    REQUIRE(size == static_cast<std::int64_t>(expected.size()));
    Memory external(expected.size());
    std::int64_t position = 0;
    CHECK(
        !pack_external("external32", buffer.base(), count, type, external.data(), size, position));
    CHECK(position == size);
    CHECK(external == expected);
    const Memory before = buffer.memory;
    for (const std::int64_t at : oracle.addresses(count)) buffer.at(at) = std::byte{0x77};
    from_external32(external.data(), buffer.base(), count, type);
    CHECK(buffer.memory == before);
}

}  // namespace

TEST_CASE("random datatypes are what the standard defines", "[datatype][random]") {
    const std::uint64_t first = from_environment("POE_DATATYPE_SEED", 1);
    const std::uint64_t seeds = from_environment("POE_DATATYPE_SEEDS", 1000);
    std::uint64_t with_data = 0;
    for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
        INFO("POE_DATATYPE_SEED=" << seed);
        RandomTypes random(seed);
        const RandomType made = random.make(static_cast<int>(random.number(1, 4)));
        with_data += made.oracle.size() != 0 ? 1 : 0;
        check_same(*made.type, made.oracle);
        check_packing(*made.type, made.oracle, random);
        check_pieces(*made.type, made.oracle, random);
        check_elements(*made.type, made.oracle, random);
        check_external(*made.type, made.oracle, random);
    }
    // Constructors with zero counts are frequent, but must not be all that is tried.
    if (seeds >= 100) CHECK(with_data > seeds / 3);
}
