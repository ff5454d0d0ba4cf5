// Place: where a program has called a function of MPI, in a form that other tasks understand: the
// name of the executable or library, and the address in it. Addresses in memory differ between
// tasks. Check mode keeps a place with each message, request and object, and makes words of it
// (place_words.hpp) only for a report.
#pragma once

#include <compare>
#include <cstdint>

#include "mpi/table/functions.hpp"

namespace poe::mpi::check {

// Plain data, which travels in messages.
struct Place {
    char object[32] = {};      // the end of the file's name, without its folder; empty if unknown
    std::uint64_t offset = 0;  // the address of the call in this file
    std::uint16_t function = 0;
    std::uint16_t unused[3] = {};

    Function called() const noexcept { return static_cast<Function>(function); }
    auto operator<=>(const Place&) const = default;
};
static_assert(sizeof(Place) == 48);

// The place of a call of `function` that returns to `site`. If the site is in the library of the
// Fortran interfaces, the place is that of its caller. Thread-safe; takes the loader's lock.
Place place_of(Function function, const void* site);

// The place of a function of the program: like that of a call. The function field has no meaning.
Place place_of_code(const void* address);

}  // namespace poe::mpi::check
