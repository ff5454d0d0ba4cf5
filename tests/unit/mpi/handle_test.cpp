// Pools, stale handles and handles as integers.
#include "mpi/object/handle.hpp"

#include <mpi.h>

#include <catch2/catch.hpp>

#include "tests/unit/mpi/process.hpp"

using namespace poe::mpi;

namespace {

struct Thing : Object {
    int content = 0;
    void reset() noexcept { content = 0; }
};

}  // namespace

TEST_CASE("A handle of a freed object is detected, also after its memory is used again") {
    Pool<Thing> pool(Kind::kGroup);
    Thing& first = pool.make();
    Thing& second = pool.make();
    const auto handle = handle_of<MPI_Group>(first);
    CHECK(find<Thing>(handle) == &first);
    CHECK(pool.in_use() == 2);

    pool.release(first);
    CHECK(find<Thing>(handle) == nullptr);
    CHECK(find<Thing>(handle_of<MPI_Group>(second)) == &second);
    CHECK(pool.at(first.integer) == nullptr);
    CHECK(pool.in_use() == 1);
}

TEST_CASE("An object lives until its last reference is released") {
    Pool<Thing> pool(Kind::kGroup);
    Thing& thing = pool.make();
    thing.content = 7;
    add_reference(thing);
    pool.release(thing);
    CHECK(find<Thing>(handle_of<MPI_Group>(thing)) == &thing);
    CHECK(thing.content == 7);
    pool.release(thing);
    CHECK(find<Thing>(handle_of<MPI_Group>(thing)) == nullptr);
    CHECK(thing.content == 0);
}

TEST_CASE("A handle of another kind, a predefined one and a crooked address name no object") {
    Pool<Thing> pool(Kind::kGroup);
    Thing& thing = pool.make();
    CHECK(find_object(Kind::kInfo, &thing) == nullptr);
    CHECK(find_object(Kind::kGroup, MPI_GROUP_EMPTY) == nullptr);
    CHECK(find_object(Kind::kGroup, nullptr) == nullptr);
    CHECK(find_object(Kind::kGroup, reinterpret_cast<char*>(&thing) + 1) == nullptr);
}

TEST_CASE("Objects keep their addresses and integers when a pool grows") {
    Pool<Thing> pool(Kind::kGroup);
    std::vector<Thing*> things;
    for (int i = 0; i < 1000; ++i) {
        things.push_back(&pool.make());
        things.back()->content = i;
    }
    for (int i = 0; i < 1000; ++i) {
        CHECK(things[static_cast<std::size_t>(i)]->content == i);
        CHECK(pool.at(4096 + i) == things[static_cast<std::size_t>(i)]);
    }
    CHECK(pool.at(4096 + 1000) == nullptr);
    CHECK(pool.at(4095) == nullptr);
    CHECK(pool.at(-1) == nullptr);
}

TEST_CASE("A predefined handle is its value as an integer") {
    CHECK(MPI_Comm_toint(MPI_COMM_WORLD) == 0x101);
    CHECK(MPI_Comm_fromint(0x101) == MPI_COMM_WORLD);
    CHECK(MPI_Type_toint(MPI_DOUBLE) == 0x214);
    CHECK(MPI_Type_fromint(0x214) == MPI_DOUBLE);
    CHECK(MPI_Request_fromint(MPI_Request_toint(MPI_REQUEST_NULL)) == MPI_REQUEST_NULL);
    CHECK(MPI_Message_fromint(MPI_Message_toint(MPI_MESSAGE_NO_PROC)) == MPI_MESSAGE_NO_PROC);
    CHECK(MPI_Errhandler_fromint(0x143) == MPI_ERRORS_RETURN);
    CHECK(MPI_File_fromint(MPI_File_toint(MPI_FILE_NULL)) == MPI_FILE_NULL);
    CHECK(MPI_Session_fromint(MPI_Session_toint(MPI_SESSION_NULL)) == MPI_SESSION_NULL);
    CHECK(MPI_Win_fromint(MPI_Win_toint(MPI_WIN_NULL)) == MPI_WIN_NULL);
}

TEST_CASE("A handle of an object is an integer from 4096 on, and back") {
    MPI_Info info = MPI_INFO_NULL;
    REQUIRE(MPI_Info_create(&info) == MPI_SUCCESS);
    const int integer = MPI_Info_toint(info);
    CHECK(integer >= 4096);
    CHECK(MPI_Info_fromint(integer) == info);
    const MPI_Info stale = info;
    REQUIRE(MPI_Info_free(&info) == MPI_SUCCESS);
    CHECK(MPI_Info_fromint(integer) == MPI_INFO_NULL);
    CHECK(MPI_Info_toint(stale) == MPI_Info_toint(MPI_INFO_NULL));
    CHECK(MPI_Info_fromint(-5) == MPI_INFO_NULL);
    CHECK(MPI_Info_fromint(2'000'000'000) == MPI_INFO_NULL);
    // There are no files, so no integer from 4096 on is one.
    CHECK(MPI_File_fromint(4096) == MPI_FILE_NULL);
}
