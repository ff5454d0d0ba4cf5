// The option table: that its rows agree with each other, with Options' defaults, and with the words
// that are made of them.
#include "poe/option_table.hpp"

#include <set>
#include <string>

#include <catch2/catch.hpp>

#include "poe/option_words.hpp"
#include "poe/options.hpp"
#include "poe/read_options.hpp"
#include "poe/values.hpp"

using namespace poe;
using namespace poe::cli;

TEST_CASE("every flag and every variable belongs to one row", "[option_table]") {
    std::set<std::string> seen;
    for (const OptionRow& row : option_table()) {
        std::string_view names = row.names;
        for (auto name = next_word(names); !name.empty(); name = next_word(names)) {
            INFO(name);
            CHECK(seen.insert(std::string(name)).second);
            CHECK(find_flag(name) == &row);
        }
        if (row.variable.empty()) continue;
        INFO(row.variable);
        CHECK(row.variable.substr(0, 3) == "MP_");
        CHECK(seen.insert(std::string(row.variable)).second);
        CHECK(find_variable(row.variable) == &row);
    }
    CHECK(find_flag("np") == nullptr);
    CHECK(find_early_flag("np") == find_flag("procs"));
    CHECK(find_early_flag("labelio") == find_flag("labelio"));
    CHECK(find_early_flag("") == nullptr);
    for (const OptionRow& row : later_options()) {
        INFO(row.names);
        CHECK(seen.insert(std::string(row.names)).second);
        CHECK(seen.insert(std::string(row.variable)).second);
        CHECK(find_flag(row.names) == &row);
    }
    CHECK(find_flag("proc") == nullptr);
    CHECK(find_flag("") == nullptr);
    CHECK(find_variable("") == nullptr);
    CHECK(find_variable("PROCS") == nullptr);
}

TEST_CASE("every row can be reached, is explained, and has a default that it allows",
          "[option_table]") {
    for (const OptionRow& row : option_table()) {
        INFO(display_name(row));
        CHECK((!row.names.empty() || !row.variable.empty()));
        CHECK_FALSE(row.help.empty());
        CHECK(row.low <= row.high);
        if (row.default_value.empty()) continue;
        const auto value = read_value(row, "default", std::string(row.default_value));
        REQUIRE(value.ok());
        CHECK(value.value().text == row.default_value);
    }
}

TEST_CASE("the table's defaults are those of Options", "[option_table]") {
    Environment environment;
    for (const OptionRow& row : option_table())
        // A host file that is named must exist; one that is only the default need not.
        if (!row.variable.empty() && !row.default_value.empty() && !row.is("hostfile"))
            environment[std::string(row.variable)] = row.default_value;
    const auto read = read_options({}, environment);
    REQUIRE(read.ok());
    const Options& set = read.value();
    const Options unset;
    CHECK(set.notices.empty());
    CHECK(set.procs == unset.procs);
    CHECK(set.program_model == unset.program_model);
    CHECK(set.newjob == unset.newjob);
    CHECK(set.noarglist == unset.noarglist);
    CHECK(set.euilib == unset.euilib);
    CHECK(set.bind == unset.bind);
    CHECK(set.single_copy == unset.single_copy);
    CHECK(set.retry == unset.retry);
    CHECK(set.retry_until_ready == unset.retry_until_ready);
    CHECK(set.retry_count == unset.retry_count);
    CHECK(set.timeout == unset.timeout);
    CHECK(set.pulse == unset.pulse);
    CHECK(set.labelio == unset.labelio);
    CHECK(set.stdin_mode.kind == unset.stdin_mode.kind);
    CHECK(set.stdout_mode.kind == unset.stdout_mode.kind);
    CHECK(set.hold_stdin == unset.hold_stdin);
    CHECK(set.infolevel == unset.infolevel);
    CHECK(set.maxtime == unset.maxtime);
    CHECK(set.kill_grace == unset.kill_grace);
    CHECK(set.wait_mode == unset.wait_mode);
    CHECK(set.pmix == unset.pmix);
    CHECK(option_row("hostfile").default_value == pm::kDefaultHostFile);
}

TEST_CASE("rows in words", "[option_table]") {
    struct Case {
        std::string_view id;
        const char* synopsis;
        const char* allowed;
    };
    const Case cases[] = {
        {"procs", "-procs, -n, -np NUMBER", "a number of tasks from 1 to 1048576"},
        {"hostfile", "-hostfile, -hfile FILE", "the name of a file"},
        {"labelio", "-labelio yes|no", "yes or no"},
        {"stdinmode", "-stdinmode all|none|TASK", "all, none or a task id from 0 to 1048575"},
        {"retry", "-retry wait|SECONDS",
         "wait or a number of seconds from 0 to 100000000, or a time such as 10:00 or 1h30m"},
        {"MP_TIMEOUT", "SECONDS",
         "a number of seconds from 1 to 100000000, or a time such as 10:00 or 1h30m"},
        {"infolevel", "-infolevel, -ilevel NUMBER", "a number from 0 to 6"},
        {"printenv", "-printenv yes|no|SCRIPT", "yes, no or a script"},
        {"eager_limit", "-eager_limit SIZE",
         "a number of bytes from 0 to 1073741824, optionally followed by k, m or g for powers of "
         "1024"},
        {"statistics", "-statistics yes|no|print", "yes, no or print"},
        {"h", "-h, --help", "no value"},
        {"dry-run", "--dry-run", "no value"},
    };
    for (const Case& one : cases) {
        CHECK(flag_synopsis(option_row(one.id)) == one.synopsis);
        CHECK(allowed_values(option_row(one.id)) == one.allowed);
    }
    CHECK(display_name(option_row("hostfile")) == "-hostfile");
    CHECK(display_name(option_row("MP_TIMEOUT")) == "MP_TIMEOUT");
}

TEST_CASE("words of a list", "[option_table]") {
    std::string_view list = "  one two   three ";
    CHECK(next_word(list) == "one");
    CHECK(next_word(list) == "two");
    CHECK(next_word(list) == "three");
    CHECK(next_word(list).empty());
    CHECK(next_word(list).empty());
}
