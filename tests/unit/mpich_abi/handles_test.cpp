// Handles of MPICH's binary interface: predefined ones against the table of facts, and those of
// objects.
#include "interface/handles.hpp"

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

using namespace poe::mpi;
using namespace poe::mpi::foreign;

namespace {

std::map<std::string, std::uint32_t> facts() {
    std::ifstream file(POE_SOURCE "/mpi/foreign_abi/mpich/constants.tsv");
    std::map<std::string, std::uint32_t> values;
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string name;
        std::string value;
        if (words >> name >> value && name[0] != '#')
            values[name] = static_cast<std::uint32_t>(std::stoll(value, nullptr, 0));
    }
    return values;
}

struct FakeComm : Object {
    void reset() {}
};

}  // namespace

TEST_CASE("predefined handles keep their identity in both directions", "[mpich_handles]") {
    const auto values = facts();
    REQUIRE(values.size() > 250);
#define SAME(type, name)                                                \
    CHECK(handle_in<type>(static_cast<int>(values.at(#name))) == name); \
    CHECK(static_cast<std::uint32_t>(handle_out(name)) == values.at(#name));
    SAME(MPI_Comm, MPI_COMM_NULL)
    SAME(MPI_Comm, MPI_COMM_WORLD)
    SAME(MPI_Comm, MPI_COMM_SELF)
    SAME(MPI_Datatype, MPI_DATATYPE_NULL)
    SAME(MPI_Datatype, MPI_DOUBLE)
    SAME(MPI_Datatype, MPI_BYTE)
    SAME(MPI_Datatype, MPI_LONG_DOUBLE_INT)
    SAME(MPI_Datatype, MPI_2INT)
    SAME(MPI_Op, MPI_OP_NULL)
    SAME(MPI_Op, MPI_MAXLOC)
    SAME(MPI_Group, MPI_GROUP_EMPTY)
    SAME(MPI_Info, MPI_INFO_ENV)
    SAME(MPI_Errhandler, MPI_ERRORS_ABORT)
    SAME(MPI_Request, MPI_REQUEST_NULL)
    SAME(MPI_Message, MPI_MESSAGE_NULL)
    SAME(MPI_Message, MPI_MESSAGE_NO_PROC)
    SAME(MPI_Win, MPI_WIN_NULL)
    SAME(MPI_Session, MPI_SESSION_NULL)
#undef SAME
    // What MPICH does not have becomes the null handle.
    CHECK(handle_out(MPI_LOGICAL16) == static_cast<int>(values.at("MPI_DATATYPE_NULL")));
    CHECK(handle_in<MPI_File>(nullptr) == MPI_FILE_NULL);
    CHECK(handle_out(MPI_FILE_NULL) == nullptr);
}

TEST_CASE("a number that is no handle of the kind becomes the null pointer", "[mpich_handles]") {
    const auto values = facts();
    for (const int wrong : {0, 1, -1, 12345, 0x7fffffff, static_cast<int>(0x84000000),
                            static_cast<int>(0x84000fff), static_cast<int>(0x87ffffff)}) {
        CHECK(handle_in<MPI_Comm>(wrong) == nullptr);
        CHECK(handle_in<MPI_Request>(wrong) == nullptr);
    }
    CHECK(handle_in<MPI_Comm>(static_cast<int>(values.at("MPI_INT"))) == nullptr);
    CHECK(handle_in<MPI_Datatype>(static_cast<int>(values.at("MPI_COMM_WORLD"))) == nullptr);
    CHECK(handle_in<MPI_Op>(static_cast<int>(values.at("MPI_COMM_WORLD"))) == nullptr);
}

TEST_CASE("objects have numbers of their kind, from several threads", "[mpich_handles]") {
    Pool<FakeComm> pool(Kind::kComm);
    constexpr int kObjects = 20000;  // several chunks
    std::vector<FakeComm*> objects;
    for (int i = 0; i < kObjects; ++i) objects.push_back(&pool.make());
    std::vector<std::vector<int>> integers(4, std::vector<int>(kObjects));
    std::vector<std::thread> threads;
    for (auto& own : integers)
        threads.emplace_back([&] {
            for (int i = 0; i < kObjects; ++i) {
                own[i] = handle_out(handle_of<MPI_Comm>(*objects[i]));
                // A thread finds what it has stored itself.
                if (handle_in<MPI_Comm>(own[i]) != handle_of<MPI_Comm>(*objects[i])) own[i] = 0;
            }
        });
    for (std::thread& thread : threads) thread.join();
    for (int i = 0; i < kObjects; ++i) {
        CHECK(integers[0][i] != 0);
        for (const auto& own : integers) CHECK(own[i] == integers[0][i]);
        CHECK((static_cast<std::uint32_t>(integers[0][i]) >> 26) == 0x84000000u >> 26);
        // The same number is no handle of another kind.
        CHECK(handle_in<MPI_Group>(integers[0][i]) == nullptr);
    }
    // An object that was freed and made again has the same number.
    const int before = integers[0][7];
    pool.release(*objects[7]);
    CHECK(&pool.make() == objects[7]);
    CHECK(handle_out(handle_of<MPI_Comm>(*objects[7])) == before);
}
