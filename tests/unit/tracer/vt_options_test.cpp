// What is said on vt's command line.
#include "tracer/vt_options.hpp"

#include <catch2/catch.hpp>

using namespace poe::trace;

TEST_CASE("a shell's pattern may name a trace and its index", "[vt_options]") {
    const auto options = read_vt_options({"run", "run.vtindex"});
    REQUIRE(options);
    CHECK(options.value().traces == std::vector<std::string>{"run"});
    CHECK_FALSE(read_vt_options({"run", "other"}));
    CHECK_FALSE(read_vt_options({"run.vtindex"}));
}
