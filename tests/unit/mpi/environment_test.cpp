// Versions, names, clocks, memory, addresses, statuses, grids and the binary interface.
#include <cstdint>
#include <cstring>
#include <limits>
#include <mpi.h>
#include <set>
#include <string>
#include <utility>

#include <catch2/catch.hpp>

#include "mpi/api/counts.hpp"
#include "mpi/datatype/predefined.hpp"
#include "mpi/object/dims.hpp"
#include "mpi/object/status.hpp"
#include "mpi/table/functions.hpp"
#include "tests/unit/mpi/process.hpp"

using namespace poe::mpi;

namespace {

std::vector<int> dims(int nodes, std::vector<int> given) {
    const Process process;
    REQUIRE(MPI_Dims_create(nodes, static_cast<int>(given.size()), given.data()) == MPI_SUCCESS);
    return given;
}
int dims_code(int nodes, std::vector<int> given) {
    const Process process;
    return MPI_Dims_create(nodes, static_cast<int>(given.size()), given.data());
}

// The smallest possible difference of the largest and the smallest factor, by trying all products.
int best_difference(int nodes, int factors, int least, int most) {
    constexpr int kNone = 1 << 30;
    if (factors == 0) return nodes == 1 ? most - least : kNone;
    int best = kNone;
    for (int d = 1; d <= nodes; ++d) {
        if (nodes % d == 0)
            best = std::min(best, best_difference(nodes / d, factors - 1, std::min(least, d),
                                                  std::max(most, d)));
    }
    return best;
}

std::string value_of_key(MPI_Info info, const std::string& key) {
    char value[MPI_MAX_INFO_VAL];
    int length = sizeof value;
    int flag = 0;
    REQUIRE(MPI_Info_get_string(info, key.c_str(), &length, value, &flag) == MPI_SUCCESS);
    return flag != 0 ? value : "(not set)";
}

}  // namespace

TEST_CASE("The examples of MPI_Dims_create in the standard") {
    CHECK(dims(6, {0, 0}) == std::vector{3, 2});
    CHECK(dims(7, {0, 0}) == std::vector{7, 1});
    CHECK(dims(6, {0, 3, 0}) == std::vector{2, 3, 1});
    CHECK(dims_code(7, {0, 3, 0}) == MPI_ERR_DIMS);
}

TEST_CASE("Dimensions are balanced, do not increase, and keep what was given") {
    CHECK(dims(16, {0, 0, 0}) == std::vector{4, 2, 2});
    CHECK(dims(7488, {0, 0, 0}) == std::vector{26, 18, 16});
    CHECK(dims(5040, {0, 0, 0}) == std::vector{21, 16, 15});
    CHECK(dims(1, {0, 0, 0}) == std::vector{1, 1, 1});
    CHECK(dims(64, {0, 0, 0}) == std::vector{4, 4, 4});
    CHECK(dims(12, {4, 3}) == std::vector{4, 3});
    CHECK(dims(2147483647, {0, 0}) == std::vector{2147483647, 1});
    CHECK(dims(1 << 30, {0, 0, 0}) == std::vector{1024, 1024, 1024});
    CHECK(dims(2'095'133'040, {0, 0, 0, 0, 0}).size() == 5);  // 1600 divisors
    CHECK(dims_code(12, {4, 2}) == MPI_ERR_DIMS);
    CHECK(dims_code(12, {-1, 0}) == MPI_ERR_DIMS);
    CHECK(dims_code(12, {24, 0}) == MPI_ERR_DIMS);
    CHECK(dims_code(12, {65536, 65536, 65536, 65536, 0}) == MPI_ERR_DIMS);
    CHECK(dims_code(0, {0, 0}) == MPI_ERR_ARG);
    const Process process;
    CHECK(MPI_Dims_create(5, 0, nullptr) == MPI_SUCCESS);
    CHECK(MPI_Dims_create(5, -1, nullptr) == MPI_ERR_DIMS);
    for (int nodes = 1; nodes <= 128; ++nodes) {
        for (int factors = 1; factors <= 4; ++factors) {
            std::vector<int> made(static_cast<std::size_t>(factors), 0);
            REQUIRE_FALSE(create_dims(nodes, made));
            int product = 1;
            for (const int dim : made) product *= dim;
            REQUIRE(product == nodes);
            REQUIRE(std::is_sorted(made.rbegin(), made.rend()));
            REQUIRE(made.front() - made.back() == best_difference(nodes, factors, nodes, 1));
        }
    }
}

TEST_CASE("Names and versions") {
    const Process process;
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    REQUIRE(MPI_Get_library_version(text, &length) == MPI_SUCCESS);
    CHECK(std::string(text).starts_with("POE "));
    CHECK(std::strlen(text) == static_cast<std::size_t>(length));
    REQUIRE(MPI_Get_processor_name(text, &length) == MPI_SUCCESS);
    CHECK(std::strlen(text) == static_cast<std::size_t>(length));
    CHECK(length > 0);
    int major = 0;
    int minor = -1;
    REQUIRE(MPI_Abi_get_version(&major, &minor) == MPI_SUCCESS);
    CHECK(major == 1);
    CHECK(minor == 0);
    CHECK(function_name(Function::kSendC) == "MPI_Send_c");
    CHECK(function_name(Function::kTInitThread) == "MPI_T_init_thread");
    CHECK(function_name(static_cast<Function>(60000)) == "?");
}

TEST_CASE("Time does not go back") {
    CHECK(MPI_Wtick() > 0);
    CHECK(MPI_Wtick() < 1e-3);
    double before = MPI_Wtime();
    for (int i = 0; i < 1000; ++i) {
        const double now = MPI_Wtime();
        REQUIRE(now >= before);
        before = now;
    }
}

TEST_CASE("A program that is not traced may control its recording") {
    const Process process;
    for (const int level : {0, 1, 2, -5}) CHECK(MPI_Pcontrol(level, "phase", 3.5) == MPI_SUCCESS);
}

TEST_CASE("Memory is aligned as the program wants") {
    const Process process;
    MPI_Info info = MPI_INFO_NULL;
    REQUIRE(MPI_Info_create(&info) == MPI_SUCCESS);
    REQUIRE(MPI_Info_set(info, "mpi_minimum_memory_alignment", "4096") == MPI_SUCCESS);
    void* memory = nullptr;
    REQUIRE(MPI_Alloc_mem(100, info, &memory) == MPI_SUCCESS);
    CHECK(reinterpret_cast<std::uintptr_t>(memory) % 4096 == 0);
    std::memset(memory, 1, 100);
    CHECK(MPI_Free_mem(memory) == MPI_SUCCESS);
    // A value that is no power of 2 is only a hint that cannot be followed.
    REQUIRE(MPI_Info_set(info, "mpi_minimum_memory_alignment", "100") == MPI_SUCCESS);
    REQUIRE(MPI_Alloc_mem(0, info, &memory) == MPI_SUCCESS);
    CHECK(memory != nullptr);
    CHECK(MPI_Free_mem(memory) == MPI_SUCCESS);
    REQUIRE(MPI_Info_free(&info) == MPI_SUCCESS);
    CHECK(MPI_Alloc_mem(-1, MPI_INFO_NULL, &memory) == MPI_ERR_ARG);
// Sanitizers end the program instead.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    CHECK(MPI_Alloc_mem(std::int64_t{1} << 60, MPI_INFO_NULL, &memory) == MPI_ERR_NO_MEM);
#endif
    CHECK(MPI_Alloc_mem(1, reinterpret_cast<MPI_Info>(8), &memory) == MPI_ERR_INFO);
}

TEST_CASE("Addresses are added and subtracted") {
    const Process process;
    int array[10];
    MPI_Aint first = 0;
    MPI_Aint last = 0;
    REQUIRE(MPI_Get_address(&array[0], &first) == MPI_SUCCESS);
    REQUIRE(MPI_Get_address(&array[9], &last) == MPI_SUCCESS);
    CHECK(MPI_Aint_diff(last, first) == 36);
    CHECK(MPI_Aint_add(first, 36) == last);
    CHECK(MPI_Aint_diff(std::numeric_limits<MPI_Aint>::min(),
                        std::numeric_limits<MPI_Aint>::max()) == 1);
    CHECK(MPI_Get_address(nullptr, &first) == MPI_SUCCESS);
    CHECK(first == 0);
}

TEST_CASE("A status keeps 63 bits of length and whether it was cancelled") {
    MPI_Status status;
    set_status(status, 3, 7, (std::int64_t{1} << 62) + 5);
    CHECK(received_bytes(status) == (std::int64_t{1} << 62) + 5);
    int value = 0;
    REQUIRE(MPI_Status_get_source(&status, &value) == MPI_SUCCESS);
    CHECK(value == 3);
    REQUIRE(MPI_Status_get_tag(&status, &value) == MPI_SUCCESS);
    CHECK(value == 7);
    REQUIRE(MPI_Status_set_source(&status, 4) == MPI_SUCCESS);
    REQUIRE(MPI_Status_set_tag(&status, 8) == MPI_SUCCESS);
    REQUIRE(MPI_Status_set_error(&status, 9) == MPI_SUCCESS);
    REQUIRE(MPI_Status_get_error(&status, &value) == MPI_SUCCESS);
    CHECK(value == 9);
    CHECK(status.MPI_SOURCE == 4);
    CHECK(status.MPI_TAG == 8);
    int flag = -1;
    REQUIRE(MPI_Test_cancelled(&status, &flag) == MPI_SUCCESS);
    CHECK(flag == 0);
    REQUIRE(MPI_Status_set_cancelled(&status, 5) == MPI_SUCCESS);
    REQUIRE(MPI_Test_cancelled(&status, &flag) == MPI_SUCCESS);
    CHECK(flag == 1);
    CHECK(received_bytes(status) == (std::int64_t{1} << 62) + 5);
    set_empty(status);
    CHECK(status.MPI_SOURCE == MPI_ANY_SOURCE);
    CHECK(status.MPI_ERROR == MPI_SUCCESS);
    CHECK_FALSE(is_cancelled(status));
    set_from_nobody(status);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL);
    CHECK(status.MPI_TAG == MPI_ANY_TAG);
    CHECK(count_of(24, 8) == 3);
    CHECK(count_of(20, 8) == MPI_UNDEFINED);
    CHECK(count_of(0, 0) == 0);
}

TEST_CASE("Fortran's sizes and logical values are known and cannot be set") {
    const Process process;
    MPI_Info info = MPI_INFO_NULL;
    REQUIRE(MPI_Abi_get_fortran_info(&info) == MPI_SUCCESS);
    CHECK(value_of_key(info, "mpi_integer_size") == "4");
    CHECK(value_of_key(info, "mpi_double_precision_size") == "8");
    // A type without support has the size MPI_UNDEFINED.
    const std::pair<const char*, MPI_Datatype> optional_types[] = {
        {"logical1", MPI_LOGICAL1},
        {"logical2", MPI_LOGICAL2},
        {"logical4", MPI_LOGICAL4},
        {"logical8", MPI_LOGICAL8},
        {"logical16", MPI_LOGICAL16},
        {"integer1", MPI_INTEGER1},
        {"integer2", MPI_INTEGER2},
        {"integer4", MPI_INTEGER4},
        {"integer8", MPI_INTEGER8},
        {"integer16", MPI_INTEGER16},
        {"real2", MPI_REAL2},
        {"real4", MPI_REAL4},
        {"real8", MPI_REAL8},
        {"real16", MPI_REAL16},
        {"complex4", MPI_COMPLEX4},
        {"complex8", MPI_COMPLEX8},
        {"complex16", MPI_COMPLEX16},
        {"complex32", MPI_COMPLEX32},
        {"double_complex", MPI_DOUBLE_COMPLEX},
    };
    for (const auto& [name, type] : optional_types) {
        INFO(name);
        int size = 0;
        REQUIRE(MPI_Type_size(type, &size) == MPI_SUCCESS);
        CHECK(value_of_key(info, "mpi_" + std::string(name) + "_supported") ==
              (size == MPI_UNDEFINED ? "false" : "true"));
    }
    CHECK(MPI_Abi_set_fortran_info(info) == MPI_ERR_ABI);
    REQUIRE(MPI_Info_free(&info) == MPI_SUCCESS);
    REQUIRE(MPI_Abi_get_info(&info) == MPI_SUCCESS);
    CHECK(value_of_key(info, "mpi_aint_size") == "8");
    REQUIRE(MPI_Info_free(&info) == MPI_SUCCESS);
    CHECK(environment().infos.in_use() == 0);

    std::int32_t yes = -1;
    std::int32_t no = -1;
    int is_set = 0;
    REQUIRE(MPI_Abi_get_fortran_booleans(4, &yes, &no, &is_set) == MPI_SUCCESS);
    CHECK(is_set == 1);
    CHECK(yes == 1);
    CHECK(no == 0);
    CHECK(MPI_Abi_get_fortran_booleans(3, &yes, &no, &is_set) == MPI_ERR_ARG);
    REQUIRE(MPI_Abi_get_fortran_booleans(32, &yes, &no, &is_set) == MPI_SUCCESS);
    CHECK(is_set == 0);
    CHECK(MPI_Abi_set_fortran_booleans(4, &yes, &no) == MPI_ERR_ABI);
    CHECK(MPI_Abi_set_fortran_booleans(0, &yes, &no) == MPI_ERR_ARG);
}

TEST_CASE("Counts of either width look alike to bodies") {
    const int narrow[] = {1, -2, 3};
    const MPI_Count wide[] = {1, -2, MPI_Count{1} << 40};
    CHECK(Counts(narrow)[1] == -2);
    CHECK(Counts(wide)[2] == MPI_Count{1} << 40);
    CHECK(Counts(nullptr).is_null());
    int small = 0;
    CHECK(CountOut(&small).set(7));
    CHECK(small == 7);
    CHECK_FALSE(CountOut(&small).set(MPI_Count{1} << 31));
    CHECK(small == MPI_UNDEFINED);
    CHECK(CountOut(&small).set((MPI_Count{1} << 31) - 1));
    MPI_Count large = 0;
    CHECK(CountOut(&large).set(MPI_Count{1} << 31));
    CHECK(large == MPI_Count{1} << 31);
    CHECK(CountOut(&large).get() == MPI_Count{1} << 31);
    CHECK(CountOut().is_null());
    CHECK(CountOut().set(1));
}

TEST_CASE("Codes of predefined datatypes carry their sizes where the ABI says so") {
    std::set<std::uint32_t> codes;
    for (const PredefinedType& type : predefined_types()) {
        INFO(type.name);
        CHECK(codes.insert(type.code).second);
        CHECK(find_predefined_type(type.code) == &type);
        CHECK(type.extent >= type.size);
        CHECK(type.extent % type.alignment == 0);
        // Bits 5 to 3 of the codes of types with fixed sizes are the logarithm of the size.
        if (type.code >= 0x240) CHECK(type.size == 1u << (type.code >> 3 & 7u));
    }
    CHECK(codes.size() == 70);
    CHECK(find_predefined_type(value_of(MPI_DATATYPE_NULL)) == nullptr);
    CHECK(find_predefined_type(0) == nullptr);
    CHECK(find_predefined_type(0x2ff) == nullptr);
    const PredefinedType* pair = find_predefined_type(value_of(MPI_SHORT_INT));
    REQUIRE(pair != nullptr);
    CHECK(pair->size == 6);
    CHECK(pair->extent == 8);
    CHECK(pair->second_offset == 4);
}
