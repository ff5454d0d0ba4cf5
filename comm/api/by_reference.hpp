// Helpers of the entry points with all arguments by reference: mp_x for C, mp_x_ for Fortran
// (gfortran's name for MP_X). generate_calls.py makes these entry points. A null pointer in place
// of a number is refused instead of causing a crash.
#pragma once

#include <cstddef>
#include <initializer_list>

namespace poe::comm {

// A number of the caller, and the name of its parameter.
struct ReferencedNumber {
    const int* address;
    const char* parameter;
};

// Reports that a parameter is a null pointer, or that MPL is not available.
void refuse_missing(const char* call, const char* parameter);

// True if no pointer is null; otherwise reports the first that is.
inline bool all_given(const char* call, std::initializer_list<ReferencedNumber> numbers) {
    for (const ReferencedNumber& number : numbers) {
        if (number.address != nullptr) [[likely]]
            continue;
        refuse_missing(call, number.parameter);
        return false;
    }
    return true;
}

// Converts a negative length to a huge one, which is refused with its own message. Bytes.
inline std::size_t length_of(const int* length) {
    return static_cast<std::size_t>(static_cast<std::ptrdiff_t>(*length));
}

// Stores the result of a function in the last argument of a Fortran subroutine.
inline void store(int result, int* answer) {
    if (answer != nullptr) *answer = result;
}

}  // namespace poe::comm
