// Info: limits, order, truncation, MPI_INFO_ENV.
#include <mpi.h>
#include <string>

#include <catch2/catch.hpp>

#include "tests/unit/mpi/process.hpp"

using namespace poe::mpi;

namespace {

struct OwnInfo {
    OwnInfo() { REQUIRE(MPI_Info_create(&info) == MPI_SUCCESS); }
    ~OwnInfo() { MPI_Info_free(&info); }
    MPI_Info info = MPI_INFO_NULL;
};

std::string get(MPI_Info info, const char* key) {
    char value[MPI_MAX_INFO_VAL];
    int length = sizeof value;
    int flag = 0;
    REQUIRE(MPI_Info_get_string(info, key, &length, value, &flag) == MPI_SUCCESS);
    return flag != 0 ? value : "(not set)";
}

}  // namespace

TEST_CASE("Keys keep their order, and a second value replaces the first") {
    const Process process;
    const OwnInfo own;
    for (const char* key : {"c", "a", "b"})
        REQUIRE(MPI_Info_set(own.info, key, "1") == MPI_SUCCESS);
    REQUIRE(MPI_Info_set(own.info, "a", "2") == MPI_SUCCESS);
    int keys = 0;
    REQUIRE(MPI_Info_get_nkeys(own.info, &keys) == MPI_SUCCESS);
    CHECK(keys == 3);
    std::string all;
    for (int i = 0; i < keys; ++i) {
        char key[MPI_MAX_INFO_KEY];
        REQUIRE(MPI_Info_get_nthkey(own.info, i, key) == MPI_SUCCESS);
        all += key;
    }
    CHECK(all == "cab");
    CHECK(get(own.info, "a") == "2");
    char key[MPI_MAX_INFO_KEY];
    CHECK(MPI_Info_get_nthkey(own.info, 3, key) == MPI_ERR_ARG);
    CHECK(MPI_Info_get_nthkey(own.info, -1, key) == MPI_ERR_ARG);
}

TEST_CASE("Keys and values have limits") {
    const Process process;
    const OwnInfo own;
    const std::string longest_key(MPI_MAX_INFO_KEY - 1, 'k');
    const std::string longest_value(MPI_MAX_INFO_VAL - 1, 'v');
    CHECK(MPI_Info_set(own.info, longest_key.c_str(), longest_value.c_str()) == MPI_SUCCESS);
    CHECK(get(own.info, longest_key.c_str()) == longest_value);
    CHECK(MPI_Info_set(own.info, (longest_key + "k").c_str(), "") == MPI_ERR_INFO_KEY);
    CHECK(MPI_Info_set(own.info, "key", (longest_value + "v").c_str()) == MPI_ERR_INFO_VALUE);
    CHECK(MPI_Info_set(own.info, "", "value") == MPI_ERR_INFO_KEY);
    CHECK(MPI_Info_set(own.info, nullptr, "value") == MPI_ERR_INFO_KEY);
    CHECK(MPI_Info_set(own.info, "key", nullptr) == MPI_ERR_ARG);
    CHECK(MPI_Info_set(own.info, "empty", "") == MPI_SUCCESS);
    CHECK(get(own.info, "empty").empty());
}

TEST_CASE("MPI_Info_get_string shortens, and says how much room the value needs") {
    const Process process;
    const OwnInfo own;
    REQUIRE(MPI_Info_set(own.info, "key", "12345") == MPI_SUCCESS);
    char value[8] = "unused!";
    int flag = 0;

    int length = 0;
    REQUIRE(MPI_Info_get_string(own.info, "key", &length, nullptr, &flag) == MPI_SUCCESS);
    CHECK(flag == 1);
    CHECK(length == 6);

    length = 4;
    REQUIRE(MPI_Info_get_string(own.info, "key", &length, value, &flag) == MPI_SUCCESS);
    CHECK(std::string(value) == "123");
    CHECK(length == 6);

    length = 1;
    REQUIRE(MPI_Info_get_string(own.info, "key", &length, value, &flag) == MPI_SUCCESS);
    CHECK(std::string(value).empty());

    length = 6;
    REQUIRE(MPI_Info_get_string(own.info, "key", &length, value, &flag) == MPI_SUCCESS);
    CHECK(std::string(value) == "12345");

    length = 3;
    value[0] = 'x';
    REQUIRE(MPI_Info_get_string(own.info, "none", &length, value, &flag) == MPI_SUCCESS);
    CHECK(flag == 0);
    CHECK(length == 3);
    CHECK(value[0] == 'x');

    length = -1;
    CHECK(MPI_Info_get_string(own.info, "key", &length, value, &flag) == MPI_ERR_ARG);
}

TEST_CASE("The old functions count without the terminating null character") {
    const Process process;
    const OwnInfo own;
    REQUIRE(MPI_Info_set(own.info, "key", "12345") == MPI_SUCCESS);
    int length = 0;
    int flag = 0;
    REQUIRE(MPI_Info_get_valuelen(own.info, "key", &length, &flag) == MPI_SUCCESS);
    CHECK(length == 5);
    char value[8] = "";
    REQUIRE(MPI_Info_get(own.info, "key", 3, value, &flag) == MPI_SUCCESS);
    CHECK(std::string(value) == "123");
    REQUIRE(MPI_Info_get(own.info, "key", 5, value, &flag) == MPI_SUCCESS);
    CHECK(std::string(value) == "12345");
    REQUIRE(MPI_Info_get(own.info, "none", 5, value, &flag) == MPI_SUCCESS);
    CHECK(flag == 0);
    CHECK(MPI_Info_get(own.info, "key", -1, value, &flag) == MPI_ERR_ARG);
}

TEST_CASE("A copy is independent, and freed handles are refused") {
    const Process process;
    OwnInfo own;
    REQUIRE(MPI_Info_set(own.info, "key", "old") == MPI_SUCCESS);
    MPI_Info copy = MPI_INFO_NULL;
    REQUIRE(MPI_Info_dup(own.info, &copy) == MPI_SUCCESS);
    REQUIRE(MPI_Info_set(own.info, "key", "new") == MPI_SUCCESS);
    CHECK(get(copy, "key") == "old");
    REQUIRE(MPI_Info_delete(own.info, "key") == MPI_SUCCESS);
    CHECK(MPI_Info_delete(own.info, "key") == MPI_ERR_INFO_NOKEY);

    MPI_Info stale = copy;
    REQUIRE(MPI_Info_free(&copy) == MPI_SUCCESS);
    CHECK(copy == MPI_INFO_NULL);
    CHECK(MPI_Info_free(&stale) == MPI_ERR_INFO);
    CHECK(MPI_Info_free(&copy) == MPI_ERR_INFO);
    CHECK(MPI_Info_set(stale, "key", "value") == MPI_ERR_INFO);
    CHECK(MPI_Info_set(MPI_INFO_NULL, "key", "value") == MPI_ERR_INFO);
    CHECK(MPI_Info_set(nullptr, "key", "value") == MPI_ERR_INFO);
    CHECK(MPI_Info_create(nullptr) == MPI_ERR_ARG);
}

TEST_CASE("MPI_INFO_ENV tells about the program and cannot be changed") {
    const Process process;
    MPI_Info env = MPI_INFO_ENV;
    CHECK(get(env, "command").find("unit_mpi") != std::string::npos);
    CHECK_FALSE(get(env, "wdir").empty());
    CHECK(MPI_Info_set(env, "key", "value") == MPI_ERR_INFO);
    CHECK(MPI_Info_delete(env, "command") == MPI_ERR_INFO);
    CHECK(MPI_Info_free(&env) == MPI_ERR_INFO);
    MPI_Info copy = MPI_INFO_NULL;
    REQUIRE(MPI_Info_dup(env, &copy) == MPI_SUCCESS);
    CHECK(MPI_Info_set(copy, "key", "value") == MPI_SUCCESS);
    REQUIRE(MPI_Info_free(&copy) == MPI_SUCCESS);
}

TEST_CASE("MPI_Info_create_env describes the arguments of the program, before MPI is initialized") {
    char program[] = "./solver";
    char first[] = "-n";
    char second[] = "5";
    char* arguments[] = {program, first, second, nullptr};
    MPI_Info info = MPI_INFO_NULL;
    REQUIRE(MPI_Info_create_env(3, arguments, &info) == MPI_SUCCESS);
    CHECK(get(info, "command") == "./solver");
    CHECK(get(info, "argv") == "-n 5");
    REQUIRE(MPI_Info_free(&info) == MPI_SUCCESS);
    REQUIRE(MPI_Info_create_env(0, nullptr, &info) == MPI_SUCCESS);
    CHECK(get(info, "command").find("unit_mpi") != std::string::npos);
    REQUIRE(MPI_Info_free(&info) == MPI_SUCCESS);
}

TEST_CASE("A value of MPI_INFO_ENV that is too long is shortened") {
    Info info;
    StartFacts facts;
    facts.command = "x";
    facts.arguments = {std::string(3000, 'a')};
    describe_start(facts, info);
    REQUIRE(info.find("argv") != nullptr);
    CHECK(info.find("argv")->size() == MPI_MAX_INFO_VAL - 1);
    CHECK(info.find("maxprocs") == nullptr);
}
