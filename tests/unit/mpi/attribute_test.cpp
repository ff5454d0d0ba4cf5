// Attributes: callbacks, their order, sentinels, and keys that are freed while attributes exist.
#include <mpi.h>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/unit/mpi/process.hpp"

using namespace poe::mpi;

namespace {

// What the callbacks were called with, in order.
std::vector<std::string> calls;
int delete_code = MPI_SUCCESS;

int note_delete(MPI_Comm, int, void* value, void* extra) {
    calls.push_back(std::string("delete ") + static_cast<char*>(extra) + " " +
                    static_cast<char*>(value));
    return delete_code;
}
int note_copy(MPI_Comm, int, void* extra, void* value, void* out, int* flag) {
    calls.push_back(std::string("copy ") + static_cast<char*>(extra) + " " +
                    static_cast<char*>(value));
    static char copied[] = "copied";
    *static_cast<void**>(out) = copied;
    *flag = 1;
    return MPI_SUCCESS;
}
int do_not_copy(MPI_Comm, int, void*, void*, void*, int* flag) {
    *flag = 0;
    return MPI_SUCCESS;
}
int fail_to_copy(MPI_Comm, int, void*, void*, void*, int* flag) {
    *flag = 1;
    return MPI_ERR_OTHER;
}

char* text(const char* constant) {
    return const_cast<char*>(constant);
}

std::string get(MPI_Comm comm, int keyval) {
    void* value = nullptr;
    int flag = -1;
    REQUIRE(MPI_Comm_get_attr(comm, keyval, &value, &flag) == MPI_SUCCESS);
    return flag == 0 ? "(not set)" : static_cast<char*>(value);
}

int make_key(MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* remove,
             const char* extra) {
    int keyval = MPI_KEYVAL_INVALID;
    REQUIRE(MPI_Comm_create_keyval(copy, remove, &keyval, text(extra)) == MPI_SUCCESS);
    REQUIRE(keyval != MPI_KEYVAL_INVALID);
    return keyval;
}

}  // namespace

TEST_CASE("An attribute is set, replaced and deleted, and the old value goes to the callback") {
    const Process process;
    calls.clear();
    int key = make_key(MPI_COMM_NULL_COPY_FN, note_delete, "k");
    CHECK(get(MPI_COMM_SELF, key) == "(not set)");
    CHECK(MPI_Comm_delete_attr(MPI_COMM_SELF, key) == MPI_ERR_KEYVAL);
    REQUIRE(MPI_Comm_set_attr(MPI_COMM_SELF, key, text("one")) == MPI_SUCCESS);
    CHECK(get(MPI_COMM_SELF, key) == "one");
    CHECK(get(MPI_COMM_WORLD, key) == "(not set)");
    REQUIRE(MPI_Comm_set_attr(MPI_COMM_SELF, key, text("two")) == MPI_SUCCESS);
    CHECK(calls == std::vector<std::string>{"delete k one"});
    REQUIRE(MPI_Comm_delete_attr(MPI_COMM_SELF, key) == MPI_SUCCESS);
    CHECK(calls.back() == "delete k two");
    CHECK(get(MPI_COMM_SELF, key) == "(not set)");
    REQUIRE(MPI_Comm_free_keyval(&key) == MPI_SUCCESS);
    CHECK(key == MPI_KEYVAL_INVALID);
    CHECK(MPI_Comm_free_keyval(&key) == MPI_ERR_KEYVAL);
}

TEST_CASE("If a delete function fails, its code is returned and the old value stays") {
    const Process process;
    int key = make_key(MPI_COMM_NULL_COPY_FN, note_delete, "k");
    REQUIRE(MPI_Comm_set_attr(MPI_COMM_SELF, key, text("one")) == MPI_SUCCESS);
    delete_code = MPI_ERR_IO;
    CHECK(MPI_Comm_delete_attr(MPI_COMM_SELF, key) == MPI_ERR_IO);
    CHECK(MPI_Comm_set_attr(MPI_COMM_SELF, key, text("two")) == MPI_ERR_IO);
    CHECK(get(MPI_COMM_SELF, key) == "one");
    delete_code = MPI_SUCCESS;
    REQUIRE(MPI_Comm_delete_attr(MPI_COMM_SELF, key) == MPI_SUCCESS);
    MPI_Comm_free_keyval(&key);
}

TEST_CASE("Attributes are copied as their copy functions say") {
    Process process;
    calls.clear();
    int noted = make_key(note_copy, MPI_COMM_NULL_DELETE_FN, "noted");
    int dup = make_key(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, "dup");
    int null = make_key(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, "null");
    int refuses = make_key(do_not_copy, MPI_COMM_NULL_DELETE_FN, "refuses");
    for (const int key : {noted, dup, null, refuses}) {
        REQUIRE(MPI_Comm_set_attr(MPI_COMM_WORLD, key, text("value")) == MPI_SUCCESS);
    }
    CommBase& copy = process.self();
    CHECK_FALSE(process.world().attributes.copy_to(copy.attributes, MPI_COMM_WORLD));
    CHECK(calls == std::vector<std::string>{"copy noted value"});
    CHECK(get(MPI_COMM_SELF, noted) == "copied");
    CHECK(get(MPI_COMM_SELF, dup) == "value");
    CHECK(get(MPI_COMM_SELF, null) == "(not set)");
    CHECK(get(MPI_COMM_SELF, refuses) == "(not set)");

    int fails = make_key(fail_to_copy, MPI_COMM_NULL_DELETE_FN, "fails");
    REQUIRE(MPI_Comm_set_attr(MPI_COMM_WORLD, fails, text("value")) == MPI_SUCCESS);
    CommBase third;
    CHECK(process.world().attributes.copy_to(third.attributes, MPI_COMM_WORLD).code ==
          MPI_ERR_OTHER);
    CHECK(process.world().attributes.remove_all(MPI_COMM_WORLD).code == MPI_SUCCESS);
    for (int key : {noted, dup, null, refuses, fails}) MPI_Comm_free_keyval(&key);
}

TEST_CASE("All attributes are deleted in the reverse of the order in which they were set") {
    Process process;
    calls.clear();
    int keys[3];
    for (int i = 0; i < 3; ++i) {
        keys[i] = make_key(MPI_COMM_NULL_COPY_FN, note_delete, i == 0 ? "a" : i == 1 ? "b" : "c");
    }
    for (const int i : {1, 0, 2}) {
        REQUIRE(MPI_Comm_set_attr(MPI_COMM_SELF, keys[i], text("x")) == MPI_SUCCESS);
    }
    // The keys live on until their attributes are gone.
    for (int key : keys) REQUIRE(MPI_Comm_free_keyval(&key) == MPI_SUCCESS);
    CHECK_FALSE(process.self().attributes.remove_all(MPI_COMM_SELF));
    CHECK(calls == std::vector<std::string>{"delete c x", "delete a x", "delete b x"});
    CHECK(process.self().attributes.empty());
    for (const int key : keys) {
        CHECK(MPI_Comm_set_attr(MPI_COMM_SELF, key, text("x")) == MPI_ERR_KEYVAL);
    }
}

TEST_CASE("A failing delete function does not keep the others from being called") {
    Process process;
    calls.clear();
    int one = make_key(MPI_COMM_NULL_COPY_FN, note_delete, "a");
    int two = make_key(MPI_COMM_NULL_COPY_FN, note_delete, "b");
    MPI_Comm_set_attr(MPI_COMM_SELF, one, text("x"));
    MPI_Comm_set_attr(MPI_COMM_SELF, two, text("x"));
    delete_code = MPI_ERR_IO;
    CHECK(process.self().attributes.remove_all(MPI_COMM_SELF).code == MPI_ERR_IO);
    delete_code = MPI_SUCCESS;
    CHECK(calls.size() == 2);
    CHECK(process.self().attributes.empty());
    MPI_Comm_free_keyval(&one);
    MPI_Comm_free_keyval(&two);
}

TEST_CASE("A key can be freed by two copies of its number while an attribute has it") {
    const Process process;
    int key = make_key(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, "k");
    int copy = key;
    REQUIRE(MPI_Comm_set_attr(MPI_COMM_SELF, key, text("x")) == MPI_SUCCESS);
    const int number = key;
    CHECK(MPI_Comm_free_keyval(&key) == MPI_SUCCESS);
    CHECK(MPI_Comm_free_keyval(&copy) == MPI_SUCCESS);
    CHECK(get(MPI_COMM_SELF, number) == "x");
    CHECK(MPI_Comm_delete_attr(MPI_COMM_SELF, number) == MPI_SUCCESS);
    CHECK(MPI_Comm_delete_attr(MPI_COMM_SELF, number) == MPI_ERR_KEYVAL);
}

TEST_CASE("Datatypes have attributes, also predefined ones") {
    const Process process;
    int key = MPI_KEYVAL_INVALID;
    REQUIRE(MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &key, nullptr) ==
            MPI_SUCCESS);
    int value = 0;
    int* found = nullptr;
    int flag = -1;
    REQUIRE(MPI_Type_get_attr(MPI_INT, key, &found, &flag) == MPI_SUCCESS);
    CHECK(flag == 0);
    REQUIRE(MPI_Type_set_attr(MPI_INT, key, &value) == MPI_SUCCESS);
    REQUIRE(MPI_Type_get_attr(MPI_INT, key, &found, &flag) == MPI_SUCCESS);
    CHECK(flag == 1);
    CHECK(found == &value);
    REQUIRE(MPI_Type_get_attr(MPI_DOUBLE, key, &found, &flag) == MPI_SUCCESS);
    CHECK(flag == 0);
    REQUIRE(MPI_Type_delete_attr(MPI_INT, key) == MPI_SUCCESS);
    // A key of datatypes is none of communicators.
    CHECK(MPI_Comm_set_attr(MPI_COMM_SELF, key, &value) == MPI_ERR_KEYVAL);
    CHECK(MPI_Comm_free_keyval(&key) == MPI_ERR_KEYVAL);
    CHECK(MPI_Type_set_attr(MPI_DATATYPE_NULL, key, &value) == MPI_ERR_TYPE);
    REQUIRE(MPI_Type_free_keyval(&key) == MPI_SUCCESS);
}

TEST_CASE("The predefined attributes can be read and not changed") {
    const Process process;
    int* value = nullptr;
    int flag = 0;
    REQUIRE(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag) == MPI_SUCCESS);
    CHECK(flag == 1);
    CHECK(*value >= 32767);
    REQUIRE(MPI_Attr_get(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &value, &flag) == MPI_SUCCESS);
    CHECK(*value == 0);
    environment().predefined.appnum.reset();
    REQUIRE(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &value, &flag) == MPI_SUCCESS);
    CHECK(flag == 0);
    environment().predefined.appnum = 3;
    REQUIRE(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &value, &flag) == MPI_SUCCESS);
    CHECK(flag == 1);
    CHECK(*value == 3);
    environment().predefined.appnum.reset();
    int other = 0;
    CHECK(MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_TAG_UB, &other) == MPI_ERR_KEYVAL);
    CHECK(MPI_Comm_delete_attr(MPI_COMM_WORLD, MPI_TAG_UB) == MPI_ERR_KEYVAL);
    int key = MPI_TAG_UB;
    CHECK(MPI_Comm_free_keyval(&key) == MPI_ERR_KEYVAL);
    CHECK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_KEYVAL_INVALID, &value, &flag) == MPI_ERR_KEYVAL);
}

TEST_CASE("The functions of MPI-1 work on the same keys") {
    const Process process;
    calls.clear();
    int key = MPI_KEYVAL_INVALID;
    REQUIRE(MPI_Keyval_create(MPI_NULL_COPY_FN, note_delete, &key, text("old")) == MPI_SUCCESS);
    REQUIRE(MPI_Attr_put(MPI_COMM_SELF, key, text("x")) == MPI_SUCCESS);
    CHECK(get(MPI_COMM_SELF, key) == "x");
    REQUIRE(MPI_Attr_delete(MPI_COMM_SELF, key) == MPI_SUCCESS);
    CHECK(calls == std::vector<std::string>{"delete old x"});
    REQUIRE(MPI_Keyval_free(&key) == MPI_SUCCESS);
    CHECK(key == MPI_KEYVAL_INVALID);
}
