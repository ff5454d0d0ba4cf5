// Source lines of this program's own code.
#include "base/source_lines.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>

using poe::SourceLine;

TEST_CASE("a place is a line, a function or an address") {
    CHECK(SourceLine{}.place().empty());
    CHECK(SourceLine{"", "", 0, "/bin/ring", 0x1189}.place() == "ring+0x1189");
    CHECK(SourceLine{"main", "", 0, "/bin/ring", 0x1189}.place() == "main (ring+0x1189)");
    CHECK(SourceLine{"_ZN4grid4loadEi", "", 0, "/bin/ring", 0x1189}.place() ==
          "grid::load(int) (ring+0x1189)");
    CHECK(SourceLine{"main", "/src/ring.c", 42, "/bin/ring", 0x1189}.place() == "ring.c:42");
}

TEST_CASE("an address in a process has a function and an object") {
    const poe::ProcessLines own(::getpid());
    const SourceLine line = own.line_of(reinterpret_cast<std::uintptr_t>(&::getpid));
    CHECK(line.function.find("getpid") != line.function.npos);
    CHECK(line.object.find("libc") != line.object.npos);
    CHECK(line.offset != 0);
    // The same by the object alone.
    const SourceLine same = poe::line_in_object(line.object, line.offset);
    CHECK(same.function == line.function);
}

TEST_CASE("nothing is known of other addresses, files and processes") {
    CHECK(poe::ProcessLines(::getpid()).line_of(8).place().empty());
    CHECK(poe::ProcessLines(1 << 30).line_of(0x401000).place().empty());
    const SourceLine line = poe::line_in_object("/nowhere/a.out", 0x1000);
    CHECK(line.place() == "a.out+0x1000");
}
