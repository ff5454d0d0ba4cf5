// Into which programs a library can be preloaded, and what is said to them.
#include "partition_manager/stdio/line_buffering.hpp"

#include <fstream>
#include <map>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "partition_manager/launch/preload.hpp"

using namespace poe::pm;

namespace {

std::map<std::string, std::string> variables(Unbuffered mode, const std::string& library,
                                             const std::vector<std::string>& environment,
                                             const std::string& preload = "") {
    std::map<std::string, std::string> result;
    for (const auto& [name, value] :
         line_buffering_variables(mode, library, 77, environment, preload))
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
    CHECK(look_at_program("/bin/sh").accepts_preload);
    CHECK_FALSE(look_at_program("/nowhere").accepts_preload);
    CHECK_FALSE(look_at_program("/").accepts_preload);
    const std::string script = file_with("#! /bin/sh -e\necho\n");
    const std::string lost = file_with("#!/nowhere/sh\n");
    const std::string text = file_with("echo\n");
    const std::string broken = file_with(
        "\x7f"
        "ELF and nothing more");
    CHECK(look_at_program(script).accepts_preload);
    CHECK_FALSE(look_at_program(lost).accepts_preload);
    CHECK_FALSE(look_at_program(text).accepts_preload);
    CHECK_FALSE(look_at_program(broken).accepts_preload);
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
                    {"PYTHONUNBUFFERED=x", "GFORTRAN_UNBUFFERED_PRECONNECTED=n"}, "/mine.so") ==
          Map{{"LD_PRELOAD", "/mine.so:/l.so"}, {"MP_UNBUFFERED_PIPE", "77"}});
    CHECK(variables(Unbuffered::kPrograms, "/l.so", {}, "/mine.so").at("MP_UNBUFFERED_PRELOAD") ==
          "/mine.so");
    CHECK(variables(Unbuffered::kPrograms, "", {}).count("LD_PRELOAD") == 0);
}
