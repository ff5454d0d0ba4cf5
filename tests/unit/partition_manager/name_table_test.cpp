// Names of a whole job: published, looked up, waited for, taken back, and bounded.
#include "partition_manager/status/name_table.hpp"

#include <catch2/catch.hpp>

using namespace poe::pm;
using What = NameRequest::What;
using Status = NameReply::Status;

namespace {

NameRequest question(What what, std::uint32_t request, std::vector<NamedValue> names,
                     std::string by = "a") {
    NameRequest ask;
    ask.asker = {"job", 1, request};
    ask.what = what;
    ask.by = std::move(by);
    ask.names = std::move(names);
    return ask;
}

Status publish(NameTable& table, std::vector<NamedValue> names, const std::string& by = "a") {
    return table.ask(question(What::kPublish, 1, std::move(names), by)).at(0).status;
}

NameReply look_up(NameTable& table, std::vector<NamedValue> names) {
    return table.ask(question(What::kLookUp, 1, std::move(names))).at(0);
}

}  // namespace

TEST_CASE("names belong to who was first, until taken back", "[name_table]") {
    NameTable table;
    CHECK(publish(table, {{"x", "1", ""}, {"y", "2", ""}}) == Status::kDone);
    CHECK(publish(table, {{"z", "3", ""}, {"x", "4", ""}}, "b") == Status::kTaken);
    CHECK(publish(table, {{"z", "3", ""}, {"z", "4", ""}}, "b") == Status::kTaken);
    const NameReply found = look_up(table, {{"y", "", ""}, {"x", "", ""}});
    CHECK(found.status == Status::kDone);
    CHECK(found.asker.job == "job");
    CHECK(found.asker.node == 1);
    REQUIRE(found.names.size() == 2);
    CHECK(found.names[0].value == "2");
    CHECK(found.names[0].by == "a");
    CHECK(look_up(table, {{"x", "", ""}, {"z", "", ""}}).status == Status::kSome);
    CHECK(look_up(table, {{"z", "", ""}}).status == Status::kUnknown);
    CHECK(publish(table, {{"z", "3", ""}}, "b") == Status::kDone);
    const auto withdraw = [&](std::vector<NamedValue> names) {
        return table.ask(question(What::kWithdraw, 1, std::move(names))).at(0).status;
    };
    CHECK(withdraw({{"x", "", ""}}) == Status::kDone);
    CHECK(withdraw({{"x", "", ""}}) == Status::kUnknown);
    CHECK(withdraw({}) == Status::kDone);  // y; z is of another
    CHECK(look_up(table, {{"y", "", ""}, {"z", "", ""}}).names.size() == 1);
}

TEST_CASE("who waits is answered when all are there", "[name_table]") {
    NameTable table;
    NameRequest waits = question(What::kLookUp, 5, {{"x", "", ""}, {"y", "", ""}});
    waits.waits = true;
    CHECK(table.ask(waits).empty());
    CHECK(publish(table, {{"x", "1", ""}}) == Status::kDone);
    const auto answers = table.ask(question(What::kPublish, 6, {{"y", "2", ""}}));
    REQUIRE(answers.size() == 2);
    CHECK(answers[0].asker.request == 6);
    CHECK(answers[1].asker.request == 5);
    CHECK(answers[1].status == Status::kDone);
    CHECK(answers[1].names.size() == 2);
    CHECK(table.ask(waits).size() == 1);  // no waiting any more
}

TEST_CASE("what is published for one look-up goes to the first", "[name_table]") {
    NameTable table;
    NameRequest waits = question(What::kLookUp, 5, {{"x", "", ""}});
    waits.waits = true;
    CHECK(table.ask(waits).empty());
    waits.asker.request = 6;
    CHECK(table.ask(waits).empty());
    NameRequest once = question(What::kPublish, 1, {{"x", "1", ""}});
    once.once = true;
    CHECK(table.ask(once).size() == 2);
    const auto answers = table.ask(once);  // the name is free again
    REQUIRE(answers.size() == 2);
    CHECK(answers[1].asker.request == 6);
    CHECK(look_up(table, {{"x", "", ""}}).status == Status::kUnknown);
}

TEST_CASE("a table of names has an end", "[name_table]") {
    NameTable table;
    const std::string large(NameTable::kMostBytes / 4, 'x');
    int good = 0;
    for (int i = 0; i < 8; ++i)
        good += publish(table, {{std::to_string(i), large, ""}}) == Status::kDone ? 1 : 0;
    CHECK(good == 3);
    CHECK(table.ask(question(What::kWithdraw, 1, {})).at(0).status == Status::kDone);
    CHECK(publish(table, {{"again", large, ""}}) == Status::kDone);
}
