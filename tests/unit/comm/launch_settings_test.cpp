// MP_ variables as a task reads them that another launcher has started.
#include "comm/bootstrap/launch_settings.hpp"

#include <map>

#include <catch2/catch.hpp>

using poe::Bytes;
using poe::comm::LaunchSettings;
using poe::comm::read_launch_settings;

namespace {

poe::Result<LaunchSettings> read(const std::map<std::string, std::string>& environment) {
    return read_launch_settings([&](const char* name) -> const char* {
        const auto found = environment.find(name);
        return found == environment.end() ? nullptr : found->second.c_str();
    });
}

Bytes buffer_mem(const std::string& text) {
    return read({{"MP_BUFFER_MEM", text}}).value().buffer_mem;
}

std::string complaint(const std::string& name, const std::string& text) {
    const auto settings = read({{name, text}});
    REQUIRE_FALSE(settings.ok());
    return settings.error().str();
}

}  // namespace

TEST_CASE("what is not set keeps its default") {
    CHECK(read({}).value() == LaunchSettings{});
    CHECK(read({{"MP_WAIT_MODE", ""}, {"MP_BUFFER_MEM", ""}, {"MP_EUILIB", ""}}).value() ==
          LaunchSettings{});
}

TEST_CASE("settings are read") {
    const auto settings = read({{"MP_WAIT_MODE", "Yield"},
                                {"MP_BUFFER_MEM", "64k"},
                                {"MP_EAGER_LIMIT", "1000"},
                                {"MP_EUILIB", "ip"},
                                {"MP_SINGLE_COPY", "NO"}})
                              .value();
    CHECK(settings.wait_mode == poe::WaitMode::kYield);
    CHECK(settings.buffer_mem == 65536);
    CHECK(settings.eager_limit == 1000);
    CHECK(settings.euilib == poe::Euilib::kIp);
    CHECK_FALSE(settings.single_copy);
    CHECK(read({{"MP_WAIT_MODE", "nopoll"}}).value().wait_mode == poe::WaitMode::kSleep);
}

TEST_CASE("sizes") {
    CHECK(buffer_mem("4096") == 4096);
    CHECK(buffer_mem("4K") == 4096);
    CHECK(buffer_mem("5kb") == 5120);
    CHECK(buffer_mem("2MiB") == Bytes{2} << 20);
    CHECK(buffer_mem("1024g") == Bytes{1} << 40);
}

TEST_CASE("wrong values are refused with what is allowed") {
    for (const char* text : {"abc", "4095", "1025g", "-5", "0x1000", "04096", "8192 ", " 8192",
                             "5q", "5kk", "99999999999999999999", "18014398509481985k", "k"})
        CHECK(complaint("MP_BUFFER_MEM", text) ==
              "MP_BUFFER_MEM: \"" + std::string(text) +
                  "\" is not allowed; expected a number of bytes from 4096 to 1099511627776, "
                  "optionally followed by "
                  "k, m or g for powers of 1024");
    CHECK(complaint("MP_EAGER_LIMIT", "2g").find("from 1 to 1073741824") != std::string::npos);
    CHECK(complaint("MP_WAIT_MODE", "pol") ==
          "MP_WAIT_MODE: \"pol\" is not allowed; expected adaptive, poll, yield, sleep or nopoll");
    CHECK(complaint("MP_EUILIB", "IP").find("expected us or ip") != std::string::npos);
    CHECK(complaint("MP_SINGLE_COPY", "1").find("expected yes or no") != std::string::npos);
}

TEST_CASE("settings survive the way to other tasks, other texts do not") {
    const auto settings =
        read({{"MP_WAIT_MODE", "poll"}, {"MP_EAGER_LIMIT", "7"}, {"MP_SINGLE_COPY", "no"}}).value();
    CHECK(LaunchSettings::parse(settings.text()) == settings);
    for (const char* text : {"", "1,2,3,1", "1,2,3,1,1,", "4,2,3,1,1", "1,2,3,2,1", "1,2,3,1,2",
                             "a,2,3,1,1", "1,2,3,1,1x", "1;2,3,1,1"})
        CHECK_FALSE(LaunchSettings::parse(text).has_value());
}
