// The table of call_shape.hpp.
#include "mpi/observe/call_shape.hpp"

#include <array>

#include "base/calls.hpp"

namespace poe::observe {
namespace {

struct Row {
    std::uint32_t number;
    CallShape shape;
};
constexpr Row kRows[] = {
#include "mpi/observe/shapes.inc"
};

constexpr std::size_t kPlaces = kLastCall - kFirstMpiCall + 1;

constexpr std::array<std::int16_t, kPlaces> make_places() {
    std::array<std::int16_t, kPlaces> places{};
    for (std::int16_t& place : places) place = -1;
    std::int16_t at = 0;
    for (const Row& row : kRows) places[row.number - kFirstMpiCall] = at++;
    return places;
}
constexpr std::array<std::int16_t, kPlaces> kPlace = make_places();

}  // namespace

const CallShape* shape_of(std::uint32_t number) noexcept {
    if (number < kFirstMpiCall || number > kLastCall) return nullptr;
    const std::int16_t place = kPlace[number - kFirstMpiCall];
    return place < 0 ? nullptr : &kRows[place].shape;
}

}  // namespace poe::observe
