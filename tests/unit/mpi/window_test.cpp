// The parts of windows that need no messages: the description of datatypes, the order of locks, and
// the execution of operations on memory.
#include <array>
#include <cstring>
#include <mpi.h>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include "mpi/datatype/constructors.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/object/handle.hpp"
#include "mpi/window/access.hpp"
#include "mpi/window/lock_queue.hpp"
#include "mpi/window/shared_lock.hpp"
#include "mpi/window/target_type.hpp"

using namespace poe;
using namespace poe::mpi;

namespace {

Datatype& basic(MPI_Datatype handle) {
    return *find_predefined_datatype(value_of(handle));
}

// The bytes of the memory that a layout names, in its order.
std::vector<std::byte> packed(const TypedLayout& layout, std::vector<std::byte>& memory) {
    std::vector<std::byte> bytes(layout.size());
    layout.copy_out(memory.data() + memory.size() / 2, 0, bytes.data(), bytes.size());
    return bytes;
}

// A datatype of random constructors, whose data stay within 20000 bytes of its address.
Datatype& random_type(std::mt19937& random, int depth) {
    const auto draw = [&](int below) {
        return static_cast<std::int64_t>(random() % static_cast<unsigned>(below));
    };
    if (depth == 0) return basic(draw(2) == 0 ? MPI_INT : MPI_SHORT);
    Datatype& old = random_type(random, depth - 1);
    Datatype* made = nullptr;
    const std::int64_t lengths[3] = {draw(3), 1, draw(2)};
    const std::int64_t places[3] = {draw(5), 6 + draw(3), 12 - draw(3)};
    switch (draw(4)) {
        case 0:
            type_vector(Form::kInt, 1 + draw(3), 1 + draw(2), 1 + draw(4) - 2, old, made);
            break;
        case 1:
            type_indexed(Form::kInt, 3, lengths, places, old, made);
            break;
        case 2:
            type_create_resized(Form::kInt, old, 0, 40 + draw(8), made);
            break;
        default: {
            Datatype* types[3] = {&old, &basic(MPI_DOUBLE), &old};
            const std::int64_t bytes[3] = {places[0] * 32, places[1] * 32, places[2] * 32};
            type_create_struct(Form::kInt, 3, lengths, bytes, types, made);
        }
    }
    REQUIRE(made != nullptr);
    return *made;
}

}  // namespace

TEST_CASE("a datatype that was described to another task has the same layout") {
    std::mt19937 random(5);
    std::vector<std::byte> memory(1 << 20);
    for (std::byte& each : memory) each = static_cast<std::byte>(random());
    for (int i = 0; i < 300; ++i) {
        Datatype& type = random_type(random, 1 + i % 3);
        type.commit();
        const TypeNumbers numbers = describe_type(type);
        const TargetType copy(numbers);
        for (const int count : {0, 1, 3})
            CHECK(packed(copy.layout(count), memory) == packed(type.layout(count), memory));
    }
}

TEST_CASE("a damaged description of a datatype is refused") {
    const std::vector<TypeNumbers> damaged{{},
                                           {4},
                                           {4, 0, 0},
                                           {4, 0, 0, -1},
                                           {4, 0, 9, 1},
                                           {4, 0, 2, 4, 1000, 1},
                                           {4, 0, 1, 0, 4, 0, 4},
                                           {4, 0, 3, 2, 0, 0, 4}};
    for (const TypeNumbers& each : damaged) CHECK_THROWS_AS(TargetType(each), std::runtime_error);
}

TEST_CASE("the elements of a datatype are of one predefined datatype or of several") {
    Datatype* made = nullptr;
    const auto code = [](MPI_Datatype type) { return static_cast<std::uint16_t>(value_of(type)); };
    CHECK(element_of(basic(MPI_DOUBLE_INT)) == code(MPI_DOUBLE_INT));
    type_contiguous(Form::kInt, 3, basic(MPI_DOUBLE_INT), made);
    CHECK(element_of(*made) == code(MPI_DOUBLE_INT));
    const std::int64_t lengths[2] = {1, 1};
    const std::int64_t places[2] = {0, 8};
    Datatype* types[2] = {&basic(MPI_INT), &basic(MPI_FLOAT)};
    type_create_struct(Form::kInt, 2, lengths, places, types, made);
    CHECK(element_of(*made) == 0);
    types[1] = &basic(MPI_INT);
    type_create_struct(Form::kInt, 2, lengths, places, types, made);
    CHECK(element_of(*made) == code(MPI_INT));
}

TEST_CASE("locks are granted in the order of the requests") {
    LockQueue locks;
    locks.request({0, false, 10});
    locks.request({1, false, 11});
    locks.request({2, true, 12});
    locks.request({3, false, 13});
    CHECK(locks.grant()->rank == 0);
    CHECK(locks.grant()->rank == 1);
    CHECK_FALSE(locks.grant().has_value());
    locks.release(0);
    CHECK_FALSE(locks.grant().has_value());
    locks.release(1);
    const auto exclusive = locks.grant();
    REQUIRE(exclusive.has_value());
    CHECK(exclusive->number == 12);
    CHECK(locks.holder() == 2);
    CHECK_FALSE(locks.grant().has_value());
    locks.release(2);
    CHECK(locks.grant()->rank == 3);
    locks.release(3);
    CHECK(locks.idle());
}

TEST_CASE("a lock in shared memory is held by one exclusively or by several") {
    MemberControl control;
    const Fences fences(false);
    CHECK(try_lock(control, false, 3));
    CHECK(try_lock(control, false, 3));
    CHECK_FALSE(try_lock(control, true, 3));
    CHECK_FALSE(release_lock(control, false, fences));
    CHECK_FALSE(try_lock(control, true, 3));
    CHECK_FALSE(release_lock(control, false, fences));
    CHECK(try_lock(control, true, 3));
    CHECK_FALSE(try_lock(control, true, 3));
    CHECK_FALSE(try_lock(control, false, 3));
    CHECK_FALSE(release_lock(control, true, fences));
    // Shared locks wait behind an origin that waits for an exclusive one.
    ++control.writers;
    CHECK_FALSE(try_lock(control, false, 3));
    // Those of a task that holds other locks do not.
    CHECK(try_lock(control, false, 3, true));
    CHECK_FALSE(release_lock(control, false, fences));
    CHECK(try_lock(control, true, 3));
    CHECK_FALSE(try_lock(control, false, 3, true));
    --control.writers;
    CHECK_FALSE(release_lock(control, true, fences));
    CHECK(try_lock(control, false, 3));
    // The one that releases the lock learns that somebody waits for it.
    ++control.waiting;
    CHECK(release_lock(control, false, fences));
}

TEST_CASE("accumulates change the elements and only these") {
    struct DoubleInt {
        double value;
        int index;
    };
    Datatype& pair = basic(MPI_DOUBLE_INT);
    Datatype* spread = nullptr;
    type_create_resized(Form::kInt, pair, 0, 48, spread);
    spread->commit();
    std::array<DoubleInt, 9> memory;
    std::memset(static_cast<void*>(memory.data()), 0x77, sizeof memory);
    for (int i = 0; i < 3; ++i) memory[static_cast<std::size_t>(3 * i)] = {10.0 + i, i};
    const auto before = memory;
    std::array<DoubleInt, 3> given{{{10.5, 7}, {10.5, 8}, {12, 1}}};
    std::array<std::byte, 36> data{};
    std::array<std::byte, 36> fetched{};
    pair.layout(3).copy_out(reinterpret_cast<std::byte*>(given.data()), 0, data.data(), 36);
    Access access;
    access.kind = AccessKind::kGetAccumulate;
    access.element = static_cast<std::uint16_t>(value_of(MPI_DOUBLE_INT));
    access.operation = static_cast<std::uint16_t>(value_of(MPI_MAXLOC));
    carry_out(access, reinterpret_cast<std::byte*>(memory.data()), spread->layout(3), data.data(),
              fetched.data());
    CHECK(memory[0].value == 10.5);
    CHECK(memory[0].index == 7);
    CHECK(memory[3].value == 11);
    CHECK(memory[3].index == 1);
    CHECK(memory[6].value == 12);
    CHECK(memory[6].index == 1);
    CHECK(std::memcmp(&memory[1], &before[1], 2 * sizeof(DoubleInt)) == 0);
    double old = 0;
    std::memcpy(&old, fetched.data() + 12, sizeof old);
    CHECK(old == 11);
}
