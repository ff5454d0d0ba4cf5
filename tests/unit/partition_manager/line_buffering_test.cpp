// Into which programs a library can be preloaded, and what is said to them.
#include "partition_manager/stdio/line_buffering.hpp"

#include <fstream>
#include <map>
#include <unistd.h>

#include <catch2/catch.hpp>

using namespace poe::pm;

namespace {

std::map<std::string, std::string> variables(Unbuffered mode, const std::string& library,
                                             const std::vector<std::string>& environment) {
    std::map<std::string, std::string> result;
    for (const auto& [name, value] : line_buffering_variables(mode, library, 77, environment))
        result[name] = value;
    return result;
}

std::string file_with(const std::string& content) {
    char path[] = "/tmp/poe-preload-XXXXXX";
    ::close(::mkstemp(path));
    std::ofstream(path) << content;
    return path;
}

}  // namespace

TEST_CASE("programs that take a preloaded library", "[line_buffering]") {
    CHECK(accepts_preload("/bin/sh"));
    CHECK_FALSE(accepts_preload("/nowhere"));
    CHECK_FALSE(accepts_preload("/"));
    const std::string script = file_with("#! /bin/sh -e\necho\n");
    const std::string lost = file_with("#!/nowhere/sh\n");
    const std::string text = file_with("echo\n");
    const std::string broken = file_with(
        "\x7f"
        "ELF and nothing more");
    CHECK(accepts_preload(script));
    CHECK_FALSE(accepts_preload(lost));
    CHECK_FALSE(accepts_preload(text));
    CHECK_FALSE(accepts_preload(broken));
    for (const std::string& path : {script, lost, text, broken}) ::unlink(path.c_str());
}

TEST_CASE("variables for lines at once", "[line_buffering]") {
    using Map = std::map<std::string, std::string>;
    CHECK(variables(Unbuffered::kPrograms, "/l.so", {}) ==
          Map{{"PYTHONUNBUFFERED", "1"},
              {"GFORTRAN_UNBUFFERED_PRECONNECTED", "y"},
              {"LD_PRELOAD", "/l.so"},
              {"MP_UNBUFFERED_PIPE", "77"},
              {"MP_UNBUFFERED_PRELOAD", ""}});
    CHECK(variables(Unbuffered::kAllProcesses, "/l.so",
                    {"LD_PRELOAD=/mine.so", "PYTHONUNBUFFERED=x",
                     "GFORTRAN_UNBUFFERED_PRECONNECTED=n"}) ==
          Map{{"LD_PRELOAD", "/mine.so:/l.so"}, {"MP_UNBUFFERED_PIPE", "77"}});
    CHECK(variables(Unbuffered::kPrograms, "/l.so", {"LD_PRELOAD=/mine.so"})
              .at("MP_UNBUFFERED_PRELOAD") == "/mine.so");
    CHECK(variables(Unbuffered::kPrograms, "", {}).count("LD_PRELOAD") == 0);
}
