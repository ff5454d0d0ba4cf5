// Where a trace comes to be, for the flags that say so.
#include "poe/trace_job.hpp"

#include <catch2/catch.hpp>

using namespace poe;
using namespace poe::cli;

TEST_CASE("a trace is called after the program", "[trace_job]") {
    const Options plain;
    CHECK(trace_path(plain, "./heat2d", "/home/me", 0) == "/home/me/heat2d.trc");
    CHECK(trace_path(plain, "/usr/bin/heat2d", "/home/me", 0) == "/home/me/heat2d.trc");
    CHECK(trace_path(plain, "heat2d", "/home/me", 2) == "/home/me/heat2d-2.trc");
    Options named;
    named.trace_directory = "traces";
    CHECK(trace_path(named, "heat2d", "/home/me", 0) == "/home/me/traces/heat2d.trc");
    named.trace_file = "run.7";
    CHECK(trace_path(named, "heat2d", "/home/me", 2) == "/home/me/traces/run.7");
    named.trace_directory = "/scratch";
    CHECK(trace_path(named, "heat2d", "/home/me", 0) == "/scratch/run.7");
}

TEST_CASE("the parts of a trace are beside it, or where -tmpdir says", "[trace_job]") {
    Options options;
    options.trace_level = 3;
    options.trace_wraps = true;
    const pm::TraceSpec beside = make_trace(options, "/home/me/heat2d.trc", "abc-1-0", "/var/tmp");
    CHECK(beside.level == 3);
    CHECK(beside.wraps);
    CHECK(beside.directory == "/home/me/heat2d.trc.abc-1-0.parts");
    CHECK(beside.temporary == "/var/tmp");
    options.trace_temporary = "/local";
    const pm::TraceSpec apart = make_trace(options, "/home/me/heat2d.trc", "abc-1-0", "/var/tmp");
    CHECK(apart.directory == "/local/heat2d.trc.abc-1-0.parts");
    CHECK(apart.temporary == "/local");
}
