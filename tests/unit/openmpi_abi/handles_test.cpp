// Handles of Open MPI's binary interface: predefined ones, and those of objects.
#include "interface/handles.hpp"

#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "interface/layout.hpp"

using namespace poe::mpi;
using namespace poe::mpi::foreign;

namespace {

template <typename Handle>
struct Fake : poe::mpi::Object {
    void reset() {}
};

}  // namespace

TEST_CASE("predefined handles keep their identity in both directions", "[openmpi_handles]") {
#define SAME(type, name, object, fortran)                   \
    CHECK(handle_in<type>(&object) == name);                \
    CHECK(handle_out(name) == static_cast<void*>(&object)); \
    CHECK(to_fortran(&object) == (fortran));                \
    CHECK(from_fortran<type>(fortran) == static_cast<void*>(&object));
    SAME(MPI_Comm, MPI_COMM_NULL, ompi_mpi_comm_null, 2)
    SAME(MPI_Comm, MPI_COMM_WORLD, ompi_mpi_comm_world, 0)
    SAME(MPI_Datatype, MPI_DATATYPE_NULL, ompi_mpi_datatype_null, 0)
    SAME(MPI_Datatype, MPI_DOUBLE, ompi_mpi_double, 46)
    SAME(MPI_Datatype, MPI_INTEGER, ompi_mpi_integer, 7)
    SAME(MPI_Op, MPI_MAXLOC, ompi_mpi_op_maxloc, 11)
    SAME(MPI_Group, MPI_GROUP_EMPTY, ompi_mpi_group_empty, 1)
    SAME(MPI_Info, MPI_INFO_ENV, ompi_mpi_info_env, 1)
    SAME(MPI_Errhandler, MPI_ERRORS_RETURN, ompi_mpi_errors_return, 2)
    SAME(MPI_Request, MPI_REQUEST_NULL, ompi_request_null, 0)
    SAME(MPI_Message, MPI_MESSAGE_NO_PROC, ompi_message_no_proc, 1)
    SAME(MPI_Win, MPI_WIN_NULL, ompi_mpi_win_null, 0)
    SAME(MPI_File, MPI_FILE_NULL, ompi_mpi_file_null, 0)
#undef SAME
    // What Open MPI does not have becomes the null handle, and its markers are no datatypes of
    // ours.
    CHECK(handle_out(MPI_LOGICAL16) == static_cast<void*>(&ompi_mpi_datatype_null));
    CHECK(handle_out(MPI_ERRORS_ABORT) == static_cast<void*>(&ompi_mpi_errhandler_null));
    CHECK(handle_in<MPI_Datatype>(&ompi_mpi_ub) == MPI_DATATYPE_NULL);
    CHECK(handle_in<MPI_Session>(handle_out(MPI_SESSION_NULL)) == MPI_SESSION_NULL);
}

TEST_CASE("a number is no handle", "[openmpi_handles]") {
    for (const std::uintptr_t wrong : {0, 1, 12345, 65535})
        CHECK(handle_in<MPI_Comm>(reinterpret_cast<void*>(wrong)) == nullptr);
    for (const int wrong : {-1, 3, 1000, 0x7fffffff})
        CHECK(from_fortran<MPI_Comm>(wrong) == nullptr);
}

TEST_CASE("an object has one address forever, from several threads", "[openmpi_handles]") {
    Pool<Fake<MPI_Comm>> pool(Kind::kComm);
    constexpr int kObjects = 20000;  // several chunks
    std::vector<Fake<MPI_Comm>*> objects;
    for (int i = 0; i < kObjects; ++i) objects.push_back(&pool.make());
    std::vector<std::vector<void*>> addresses(4, std::vector<void*>(kObjects));
    std::vector<std::thread> threads;
    for (auto& own : addresses)
        threads.emplace_back([&] {
            for (int i = 0; i < kObjects; ++i) {
                own[i] = handle_out(handle_of<MPI_Comm>(*objects[i]));
                if (handle_in<MPI_Comm>(own[i]) != handle_of<MPI_Comm>(*objects[i]))
                    own[i] = nullptr;
            }
        });
    for (std::thread& thread : threads) thread.join();
    for (int i = 0; i < kObjects; ++i) {
        REQUIRE(addresses[0][i] != nullptr);
        for (const auto& own : addresses) CHECK(own[i] == addresses[0][i]);
        CHECK(to_fortran(addresses[0][i]) == objects[i]->integer);
        CHECK(from_fortran<MPI_Comm>(objects[i]->integer) == addresses[0][i]);
    }
    void* const before = addresses[0][7];
    pool.release(*objects[7]);
    CHECK(&pool.make() == objects[7]);
    CHECK(handle_out(handle_of<MPI_Comm>(*objects[7])) == before);
}

TEST_CASE("Open MPI's library for Fortran finds what it reads in an object", "[openmpi_handles]") {
    Pool<Fake<MPI_Comm>> comms(Kind::kComm);
    Pool<Fake<MPI_Request>> requests(Kind::kRequest);
    void* const comm = handle_out(handle_of<MPI_Comm>(comms.make()));
    CHECK(layout::get<void*>(comm, layout::kCommKeys) == comm);
    CHECK_FALSE(layout::has_sizes(comm));
    auto* const group = layout::get<char*>(comm, layout::kCommLocal);
    layout::put(group, layout::kGroupSize, 5);
    CHECK(layout::has_sizes(comm));
    // The next communicator with this number may have another size.
    handle_out(handle_in<MPI_Comm>(comm));
    CHECK_FALSE(layout::has_sizes(comm));
    auto& made = requests.make();
    void* const request = handle_out(handle_of<MPI_Request>(made));
    CHECK(layout::get<int>(request, layout::kRequestNumber) == made.integer);
    CHECK(layout::get<char>(request, layout::kGrequestOfC) != 0);
    CHECK(layout::get<int>(&ompi_request_null, layout::kRequestNumber) == 0);
    CHECK(layout::get<void*>(&ompi_mpi_comm_world, layout::kCommKeys) == &ompi_mpi_comm_world);
}
