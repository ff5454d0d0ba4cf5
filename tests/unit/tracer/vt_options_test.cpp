// What is said on vt's command line, and how its help is laid out.
#include "tracer/playback/vt_options.hpp"

#include <sstream>

#include <catch2/catch.hpp>

#include "base/fold.hpp"

using namespace poe::trace;

namespace {

std::string error_of(const std::vector<std::string>& arguments) {
    const auto options = read_vt_options(arguments);
    return options ? "" : options.error().str();
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a shell's pattern may name a trace and its index", "[vt_options]") {
    const auto options = read_vt_options({"run", "run.vtindex"});
    REQUIRE(options);
    CHECK(options.value().traces == std::vector<std::string>{"run"});
    CHECK_FALSE(read_vt_options({"run", "other"}));
    CHECK_FALSE(read_vt_options({"run.vtindex"}));
}

TEST_CASE("-version and --version", "[vt_options]") {
    for (const char* word : {"-version", "--version"})
        CHECK(read_vt_options({word}).value().request == VtOptions::Request::kShowVersion);
}

TEST_CASE("what was probably meant is named", "[vt_options]") {
    CHECK(contains(error_of({"-view", "timelin", "run"}), "did you mean timeline?"));
    CHECK(contains(error_of({"-view", "conections", "run"}), "did you mean connections?"));
    CHECK(contains(error_of({"-view", "qqq", "run"}), "balance"));
    CHECK(contains(error_of({"-export", "perfeto", "run"}), "did you mean perfetto?"));
    CHECK(contains(error_of({"-sumary", "run"}), "did you mean -summary?"));
    CHECK(contains(error_of({"-norepare", "run"}), "did you mean -norepair?"));
}

TEST_CASE("a view is written as text or as a figure, as nothing else", "[vt_options]") {
    for (const char* file : {"x.svg", "x.png", "x.pdf", "x.txt", "x", "a.b/x"})
        CHECK(read_vt_options({"-view", "matrix", "-o", file, "run"}));
    for (const char* file : {"x.html", "x.jpg", "a/x.PDF"}) {
        const std::string error = error_of({"-view", "matrix", "-o", file, "run"});
        CHECK(contains(error, ".svg, .png and .pdf"));
    }
    CHECK(read_vt_options({"-export", "csv", "-o", "x.html", "run"}));
}

TEST_CASE("the help of vt fits terminals of any width", "[fold]") {
    for (const std::size_t columns : {40, 60, 80, 120}) {
        std::istringstream lines(poe::fold(vt_help_text(), columns));
        for (std::string line; std::getline(lines, line);) {
            INFO(line);
            CHECK(line.size() <= columns);
        }
    }
}
