// Ordered output against a model that keeps all in memory.
#include "partition_manager/stdio/ordered_output.hpp"

#include <map>
#include <random>

#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "tests/unit/partition_manager/support.hpp"

using namespace poe::pm;
using namespace poe::pm::test;
using poe::TaskId;

namespace {

std::map<TaskId, std::string> given(OrderedOutput& output) {
    std::map<TaskId, std::string> result;
    TaskId last = -1;
    output.give_out([&](TaskId task, std::string_view data) {
        CHECK(task >= last);
        CHECK_FALSE(data.empty());
        last = task;
        result[task] += data;
        return true;
    });
    return result;
}

// Different at every place, so that nothing can be mistaken for something else.
std::string numbers(const std::string& name, std::size_t size) {
    std::string text;
    for (int i = 0; text.size() < size; ++i) text += name + std::to_string(i) + ",";
    text.resize(size);
    return text;
}

// Files may only be so long while it lives.
struct FileSizeLimit {
    explicit FileSizeLimit(rlim_t bytes) {
        ::signal(SIGXFSZ, SIG_IGN);
        ::getrlimit(RLIMIT_FSIZE, &before);
        const rlimit smaller = {bytes, before.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &smaller);
    }
    ~FileSizeLimit() {
        ::setrlimit(RLIMIT_FSIZE, &before);
        ::signal(SIGXFSZ, SIG_DFL);
    }
    rlimit before = {};
};

}  // namespace

TEST_CASE("output by task, with any memory", "[ordered_output]") {
    const TempDirectory directory;
    for (const std::size_t limit : {0u, 1u, 100u, 5000u, 1000000000u}) {
        INFO("limit " << limit);
        std::mt19937 random(static_cast<unsigned>(limit));
        OrderedOutput output(5, directory.path(), limit);
        for (int again = 0; again < 3; ++again) {
            std::map<TaskId, std::string> model;
            for (int i = 0; i < 400; ++i) {
                const auto task = static_cast<TaskId>(random() % 5);
                if (task == 3) continue;  // says nothing
                std::string data(random() % 500, '\0');
                for (char& c : data) c = static_cast<char>(random());
                output.append(task, data);
                if (!data.empty()) model[task] += data;
            }
            REQUIRE((given(output) == model));
            CHECK(given(output).empty());
        }
        CHECK(std::filesystem::is_empty(directory.path()));
    }
}

TEST_CASE("large output comes in pieces", "[ordered_output]") {
    const TempDirectory directory;
    for (const std::size_t limit : {std::size_t{1} << 20, std::size_t{1} << 30}) {
        OrderedOutput output(2, directory.path(), limit);
        const std::string large = numbers("n", 5 << 20);
        output.append(1, large);
        output.append(0, "first\n");
        std::string all;
        std::size_t longest = 0;
        output.give_out([&](TaskId, std::string_view data) {
            longest = std::max(longest, data.size());
            all += data;
            return true;
        });
        CHECK((all == "first\n" + large));
        CHECK(longest <= 1 << 20);
    }
}

TEST_CASE("who takes the output may stop", "[ordered_output]") {
    const TempDirectory directory;
    for (const std::size_t limit : {std::size_t{10}, std::size_t{1} << 30}) {
        OrderedOutput output(3, directory.path(), limit);
        for (TaskId task = 0; task < 3; ++task) output.append(task, std::string(1 << 20, 'x'));
        int calls = 0;
        output.give_out([&](TaskId, std::string_view) { return ++calls < 2; });
        CHECK(calls == 2);
    }
}

TEST_CASE("no place for a temporary file", "[ordered_output]") {
    OrderedOutput output(2, "/nonexistent/place", 100);
    output.append(1, std::string(60, 'b'));
    try {
        output.append(0, std::string(60, 'a'));
        FAIL("nothing was thrown");
    } catch (const poe::Error& error) {
        CHECK(error.system_errno() == ENOENT);
        CHECK(std::string(error.what()).find("/nonexistent/place") != std::string::npos);
        CHECK(std::string(error.what()).find("TMPDIR") != std::string::npos);
    }
    // What memory holds is not lost.
    const auto text = given(output);
    CHECK(text.at(1) == std::string(60, 'b'));
}

TEST_CASE("a full disk does not mix up what is kept", "[ordered_output]") {
    const TempDirectory directory;
    OrderedOutput output(3, directory.path(), 12000);
    const std::string a = numbers("a", 8000);
    const std::string b = numbers("b", 8000);
    const std::string c = numbers("c", 20000);
    {
        const FileSizeLimit limit(10000);
        output.append(0, a);
        CHECK_THROWS_AS(output.append(1, b), poe::Error);
    }
    output.append(2, c);  // there is space again
    const auto text = given(output);
    CHECK((text.at(0) == a));
    CHECK((text.at(1) == b));
    CHECK((text.at(2) == c));
}

TEST_CASE("giving out goes on where it stopped", "[ordered_output]") {
    const TempDirectory directory;
    for (const std::size_t limit :
         {std::size_t{1000}, std::size_t{1} << 20, std::size_t{1} << 30}) {
        OrderedOutput output(4, directory.path(), limit);
        std::string expected;
        for (TaskId task = 0; task < 4; ++task) {
            if (task == 2) continue;
            const std::string text = numbers("t" + std::to_string(task) + "-", 700'000);
            output.append(task, text);
            expected += text;
        }
        std::string all;
        int calls = 1;
        for (; !output.give_out([&](TaskId, std::string_view data) {
                 all += data;
                 return false;
             });
             ++calls) {
        }
        CHECK((all == expected));
        CHECK(calls > 6);
        CHECK(output.give_out([&](TaskId, std::string_view) { return false; }));
        output.append(2, "again");
        CHECK((given(output) == std::map<TaskId, std::string>{{2, "again"}}));
    }
}
