// The help text, as a golden file and by its rules.
#include "poe/help.hpp"

#include <algorithm>
#include <sstream>
#include <string>

#include <catch2/catch.hpp>

#include "poe/option_words.hpp"
#include "tests/unit/poe/golden.hpp"

using namespace poe::cli;

TEST_CASE("poe -h all is what somebody looked at", "[help]") {
    const std::string text = help_text();
    CHECK(text == poe::test::golden_text("poe_help.txt", text));
}

TEST_CASE("poe -h all fits a terminal and names every flag and variable", "[help]") {
    const std::string text = help_text();
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        INFO(line);
        CHECK(line.size() <= 80);
        CHECK((line.empty() || line.back() != ' '));
        for (const char c : line) CHECK((c >= ' ' && c <= '~'));
    }
    CHECK(text.back() == '\n');
    for (const OptionRow& row : option_table()) {
        INFO(display_name(row));
        CHECK((text.find(flag_synopsis(row)) != std::string::npos) == row.implemented());
        if (row.implemented()) CHECK(text.find(row.variable) != std::string::npos);
    }
}

TEST_CASE("poe -h is short and leads on", "[help]") {
    const std::string text = short_help_text();
    CHECK(text == poe::test::golden_text("poe_help_short.txt", text));
    CHECK(text.find("poe -h all") != std::string::npos);
    CHECK(std::count(text.begin(), text.end(), '\n') < 45);
    std::istringstream narrow(short_help_text(60));
    for (std::string line; std::getline(narrow, line);)
        if (!line.starts_with("  poe ") && !line.starts_with("Usage")) CHECK(line.size() <= 60);
    CHECK(short_help_text(200).find("exit status carried to this terminal.\n") !=
          std::string::npos);
}

TEST_CASE("the version is one line", "[help]") {
    CHECK(version_text("1.2.3") == "poe 1.2.3\n");
}
