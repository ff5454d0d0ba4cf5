// The hash against the published values of FNV-1a.
#include "base/hash.hpp"

#include <catch2/catch.hpp>

using namespace poe;

TEST_CASE("texts have the published hashes", "[hash]") {
    CHECK(Hash32().value() == 0x811c9dc5u);
    CHECK(Hash32().add("a").value() == 0xe40c292cu);
    CHECK(Hash32().add("foobar").value() == 0xbf9cf968u);
    CHECK(Hash64().value() == 0xcbf29ce484222325u);
    CHECK(Hash64().add("a").value() == 0xaf63dc4c8601ec8cu);
    CHECK(Hash64().add("foobar").value() == 0x85944171f73967e8u);
}

TEST_CASE("bytes above 127 are not negative", "[hash]") {
    CHECK(Hash64().add("\xff").value() == Hash64().add(std::uint64_t{255}).value());
}
