// How fast datatypes are packed and unpacked, beside loops written by hand for the same data.
// Prints a line per case: microseconds of both, medians of rounds in turns, and their ratio.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <vector>

#include "mpi/datatype/constructors.hpp"

using namespace poe::mpi;

namespace {

using Clock = std::chrono::steady_clock;
using Loop = std::function<void(double* array, double* packed)>;

constexpr int kRounds = 41;

double microseconds(const std::function<void()>& call, int repetitions) {
    const auto start = Clock::now();
    for (int i = 0; i < repetitions; ++i) call();
    const std::chrono::duration<double, std::micro> taken = Clock::now() - start;
    return taken.count() / repetitions;
}

double median(std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
    return values[values.size() / 2];
}

void compare(const char* name, const std::function<void()>& ours,
             const std::function<void()>& hand) {
    const int repetitions = std::max(1, static_cast<int>(4000.0 / microseconds(hand, 3)));
    std::vector<double> first, second;
    for (int round = 0; round < kRounds; ++round) {
        first.push_back(microseconds(ours, repetitions));
        second.push_back(microseconds(hand, repetitions));
    }
    std::printf("%-36s %10.3f %10.3f %7.2f\n", name, median(first), median(second),
                median(first) / median(second));
}

// Packs and unpacks one element of `type` in `array`.
void measure(const char* name, Datatype* type, std::vector<double>& array, const Loop& pack,
             const Loop& unpack) {
    type->commit();
    const auto bytes = static_cast<poe::Bytes>(type->size());
    std::vector<double> packed(bytes / 8 + 8);
    auto* memory = reinterpret_cast<std::byte*>(array.data());
    auto* stream = reinterpret_cast<std::byte*>(packed.data());
    char title[80];
    std::snprintf(title, sizeof title, "%s, pack", name);
    compare(
        title, [&] { type->layout(1).copy_out(memory, 0, stream, bytes); },
        [&] { pack(array.data(), packed.data()); });
    std::snprintf(title, sizeof title, "%s, unpack", name);
    compare(
        title, [&] { type->layout(1).copy_in(memory, 0, stream, bytes); },
        [&] { unpack(array.data(), packed.data()); });
    type->release();
}

Datatype& number() {
    return predefined_datatype(code::kDouble);
}

void vectors(std::vector<double>& array, std::int64_t total) {
    for (const std::int64_t length : {1, 2, 8, 64}) {
        const std::int64_t count = total / length;
        Datatype* type = nullptr;
        type_vector(Form::kInt, count, length, 2 * length, number(), type);
        char name[40];
        std::snprintf(name, sizeof name, "%ld x %ld doubles", static_cast<long>(count),
                      static_cast<long>(length));
        measure(
            name, type, array,
            [=](double* from, double* to) {
                for (std::int64_t i = 0; i < count; ++i) {
                    for (std::int64_t k = 0; k < length; ++k) *to++ = from[i * 2 * length + k];
                }
            },
            [=](double* to, double* from) {
                for (std::int64_t i = 0; i < count; ++i) {
                    for (std::int64_t k = 0; k < length; ++k) to[i * 2 * length + k] = *from++;
                }
            });
    }
}

// Faces of the inner part of an array with one layer of neighbours' data around it.
void faces(std::vector<double>& array, std::int64_t n) {
    const std::int64_t side = n + 2;
    const std::int64_t sizes[] = {side, side, side};
    const char* const names[] = {"face of rows", "face of row parts", "face of single elements"};
    for (int direction = 0; direction < 3; ++direction) {
        std::int64_t parts[] = {n, n, n};
        const std::int64_t starts[] = {1, 1, 1};
        parts[direction] = 1;
        Datatype* type = nullptr;
        type_create_subarray(Form::kInt, 3, Counts(sizes), Counts(parts), Counts(starts), kOrderC,
                             number(), type);
        const auto face = [=](double* cube, auto call) {
            for (std::int64_t i = 1; i <= parts[0]; ++i) {
                for (std::int64_t j = 1; j <= parts[1]; ++j) {
                    double* row = cube + (i * side + j) * side + 1;
                    for (std::int64_t k = 0; k < parts[2]; ++k) call(row[k]);
                }
            }
        };
        char name[40];
        std::snprintf(name, sizeof name, "%s, n=%ld", names[direction], static_cast<long>(n));
        measure(
            name, type, array,
            [=](double* cube, double* to) { face(cube, [&](double& x) { *to++ = x; }); },
            [=](double* cube, double* from) { face(cube, [&](double& x) { x = *from++; }); });
    }
}

struct Particle {
    int cell;
    double place[3];
    char kind;
};

void structures(std::vector<double>& array, std::int64_t count) {
    const std::int64_t lengths[] = {1, 3, 1};
    const std::int64_t places[] = {offsetof(Particle, cell), offsetof(Particle, place),
                                   offsetof(Particle, kind)};
    Datatype* types[] = {&predefined_datatype(code::kInt), &number(), &predefined_datatype(0x243)};
    Datatype* one = nullptr;
    Datatype* type = nullptr;
    type_create_struct(Form::kInt, 3, Counts(lengths), Counts(places), types, one);
    type_contiguous(Form::kInt, count, *one, type);
    one->release();
    const auto each = [=](double* from, double* stream, auto copy) {
        auto* at = reinterpret_cast<char*>(stream);
        auto* particles = reinterpret_cast<Particle*>(from);
        for (std::int64_t i = 0; i < count; ++i) {
            copy(&particles[i].cell, at, 4);
            copy(particles[i].place, at + 4, 24);
            copy(&particles[i].kind, at + 28, 1);
            at += 29;
        }
    };
    measure(
        "1000 structures of 4, 24, 1 bytes", type, array,
        [=](double* from, double* to) {
            each(from, to, [](void* a, void* b, std::size_t n) { std::memcpy(b, a, n); });
        },
        [=](double* to, double* from) {
            each(to, from, [](void* a, void* b, std::size_t n) { std::memcpy(a, b, n); });
        });
}

void indexed(std::vector<double>& array, std::int64_t count) {
    std::vector<std::int64_t> places;
    std::uint64_t state = 1;
    for (std::int64_t i = 0; i < count; ++i) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        places.push_back(4 * i + static_cast<std::int64_t>(state >> 62));
    }
    Datatype* type = nullptr;
    type_create_indexed_block(Form::kInt, count, 1, Counts(places.data()), number(), type);
    measure(
        "1000 doubles at irregular places", type, array,
        [&](double* from, double* to) {
            for (const std::int64_t place : places) *to++ = from[place];
        },
        [&](double* to, double* from) {
            for (const std::int64_t place : places) to[place] = *from++;
        });
}

}  // namespace

int main() {
    std::vector<double> array(130 * 130 * 130);
    for (std::size_t i = 0; i < array.size(); ++i) array[i] = static_cast<double>(i);
    std::printf("%-36s %10s %10s %7s\n", "", "ours us", "loop us", "ratio");
    vectors(array, 64);
    vectors(array, 4096);
    vectors(array, 1 << 20);
    faces(array, 8);
    faces(array, 32);
    faces(array, 128);
    structures(array, 1000);
    indexed(array, 1000);
    return 0;
}
