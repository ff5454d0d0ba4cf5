// Host files: what they may hold, and where exactly a mistake is.
#include "partition_manager/job/host_file.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

#include <catch2/catch.hpp>

using namespace poe;
using namespace poe::pm;

namespace {

// "name" or "@name" with "/adapter/cpu" of each line, blank-separated.
std::string read(std::string_view text) {
    const auto file = parse_host_file(text, "h");
    if (!file) return "error " + file.error().str();
    std::string out;
    for (const HostLine& line : file.value().lines) {
        if (!out.empty()) out += " ";
        out += std::to_string(line.line) + ":" + std::to_string(line.column) + ":";
        out += (line.is_pool ? "@" : "") + line.name;
        if (line.adapter_use == AdapterUse::kShared) out += "/shared";
        if (line.adapter_use == AdapterUse::kDedicated) out += "/dedicated";
        if (line.cpu_use == CpuUse::kMultiple) out += "/multiple";
        if (line.cpu_use == CpuUse::kUnique) out += "/unique";
    }
    return out;
}

// A directory of this test's own that is also the current one, gone afterwards.
class TemporaryDirectory {
  public:
    TemporaryDirectory() : before_(std::filesystem::current_path()) {
        std::string name = (std::filesystem::temp_directory_path() / "poe-test-XXXXXX").string();
        REQUIRE(::mkdtemp(name.data()) != nullptr);
        path_ = name;
        std::filesystem::current_path(path_);
    }
    ~TemporaryDirectory() {
        std::filesystem::current_path(before_);
        std::filesystem::remove_all(path_);
    }

  private:
    std::filesystem::path before_;
    std::filesystem::path path_;
};

void write_file(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
}

}  // namespace

TEST_CASE("right host files", "[host_file]") {
    const std::pair<std::string, std::string> cases[] = {
        {"", ""},
        {"\n\n", ""},
        {"n1", "1:1:n1"},  // no last newline
        {"n1\n", "1:1:n1"},
        {"n1\nn2\nn1\n", "1:1:n1 2:1:n2 3:1:n1"},
        {"n1\r\nn2\r\n", "1:1:n1 2:1:n2"},
        {"\xef\xbb\xbfn1\n", "1:1:n1"},
        {"\xef\xbb\xbf", ""},
        {"! comment\n* comment\n\n  \t\n  ! indented\nn1\n", "6:1:n1"},
        {"! caf\xe9 \xff\n*\nn1", "3:1:n1"},
        {"  n1\n\tn2  \n", "1:3:n1 2:2:n2"},
        {"n1 shared\nn1 dedicated\nn1 multiple\nn1 unique\n",
         "1:1:n1/shared 2:1:n1/dedicated 3:1:n1/multiple 4:1:n1/unique"},
        {"n1 SHARED Multiple\nn1\tunique\tdedicated",
         "1:1:n1/shared/multiple 2:1:n1/dedicated/unique"},
        {"n-1.example_2.org\n10.0.0.1\nfe80::1%eth0\n::1",
         "1:1:n-1.example_2.org 2:1:10.0.0.1 3:1:fe80::1%eth0 4:1:::1"},
        {"@0\n@big shared\n", "1:1:@0 2:1:@big/shared"},
        {std::string(255, 'a'), "1:1:" + std::string(255, 'a')},
        {"n1" + std::string(1000, ' ') + "\n", "1:1:n1"},
        {"!" + std::string(5000, 'x') + "\nn1", "2:1:n1"},
    };
    for (const auto& [text, expected] : cases) {
        INFO(text);
        CHECK(read(text) == expected);
    }
}

TEST_CASE("mistakes in host files", "[host_file]") {
    const std::string usage = "expected shared or dedicated, multiple or unique";
    const std::pair<std::string, std::string> cases[] = {
        {"n1 n2\n", "h:1:4: \"n2\" after the name is not known; " + usage +
                        "; each task's node has a line of its own"},
        {"n1\nn2 shraed\n",
         "h:2:4: \"shraed\" after the name is not known; " + usage + "; did you mean shared?"},
        {"n1 slots=4", "h:1:4: \"slots=4\" after the name is not known; " + usage +
                           "; each task's node has a line of its own"},
        {"n1 ! comment", "h:1:4: \"!\" after the name is not known; " + usage +
                             "; a comment needs a line of its own, beginning with !"},
        {"n1 shared dedicated",
         "h:1:11: \"dedicated\" says a second time how the adapter is used; "
         "expected at most one of each kind"},
        {"n1 unique shared unique",
         "h:1:18: \"unique\" says a second time how the processor is used; "
         "expected at most one of each kind"},
        {"n1\n -V\n", "h:2:2: \"-V\" cannot be a name; expected one that does not begin with -"},
        {"@-p", "h:1:1: \"@-p\" cannot be a name; expected one that does not begin with -"},
        {"# comment", "h:1:1: \"#\" is not a node; comments begin with !"},
        {"n1\n@2\n",
         "h:2:1: pool \"2\" is mixed with node \"n1\" of line 1; expected only nodes or only "
         "pools"},
        {"! x\n@2\n n1\n",
         "h:3:2: node \"n1\" is mixed with pool \"2\" of line 2; expected only nodes or only "
         "pools"},
        {"@", "h:1:1: \"@\" without the name of a pool; expected @name or @number"},
        {"n1:4",
         "h:1:3: \"n1:4\" is not a node; expected the name alone, on a line of its own for each "
         "of its tasks"},
        {"n1,n2",
         "h:1:3: \",\" cannot be part of a name in \"n1,n2\"; expected one node, or one @pool, "
         "on each line"},
        {"n\xff\x80",
         "h:1:2: \"\\xff\" cannot be part of a name in \"n\\xff\\x80\"; expected one node, "
         "or one @pool, on each line"},
        {"@a@b",
         "h:1:3: \"@\" cannot be part of a name in \"@a@b\"; expected one node, or one @pool, on "
         "each line"},
        {std::string("n1\nn\0x", 6), "h:2:2: a NUL byte; expected a text file"},
        {std::string("! \0", 3), "h:1:3: a NUL byte; expected a text file"},
        {"n1\n" + std::string(256, 'a'), "h:2:1: the name \"" + std::string(80, 'a') +
                                             "...\" is too long; expected at most 255 bytes"},
        {"n1" + std::string(1023, ' '),
         "h:1:1025: the line is 1025 bytes long; expected at most 1024"},
        {"n1\rn2",
         "h:1:3: \"\\x0d\" cannot be part of a name in \"n1\\x0dn2\"; expected one node, or one "
         "@pool, on each line"},
    };
    for (const auto& [text, expected] : cases) CHECK(read(text) == "error " + expected);
}

TEST_CASE("which host file is read", "[host_file]") {
    const TemporaryDirectory directory;
    const auto none = load_host_file(HostFileUse::kDefault, "");
    REQUIRE(none.ok());
    CHECK_FALSE(none.value().has_value());

    write_file("host.list", "a\n");
    write_file("other", "b\n");
    CHECK(load_host_file(HostFileUse::kDefault, "").value()->lines.at(0).name == "a");
    CHECK(load_host_file(HostFileUse::kDefault, "").value()->path == "host.list");
    CHECK(load_host_file(HostFileUse::kGiven, "other").value()->lines.at(0).name == "b");
    CHECK_FALSE(load_host_file(HostFileUse::kNone, "").value().has_value());
}

TEST_CASE("host files that cannot be read", "[host_file]") {
    const TemporaryDirectory directory;
    const std::string way_out =
        "; -hostfile names the file; -hostfile NULL runs all tasks on this node";
    CHECK(load_host_file(HostFileUse::kGiven, "absent").error().str() ==
          "absent: cannot read the host file: No such file or directory" + way_out);
    std::filesystem::create_directory("host.list");
    CHECK(load_host_file(HostFileUse::kDefault, "").error().str() ==
          "host.list: cannot read the host file: Is a directory" + way_out);
    CHECK(load_host_file(HostFileUse::kGiven, "/dev/zero").error().str() ==
          "/dev/zero: cannot read the host file: File too large" + way_out);
}
