// Implementation of program_output.hpp.
#include "comm/api/program_output.hpp"

#include <cstdio>

// gfortran's FLUSH; a null pointer means all units. Weak, because only Fortran programs contain it.
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming): gfortran's name
extern "C" __attribute__((weak)) void _gfortran_flush_i4(const int* unit);

namespace poe::comm {

void flush_program_output(bool everything) {
    std::fflush(everything ? nullptr : stdout);
    if (_gfortran_flush_i4 != nullptr) _gfortran_flush_i4(nullptr);
}

}  // namespace poe::comm
