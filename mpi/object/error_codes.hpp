// ErrorCodes: the error classes and codes of the standard and those that the program has added,
// with their texts (MPI 5.0, sections 9.4 and 9.5). Pure; a caller that shares it with other
// threads locks it.
#pragma once

#include <map>
#include <mpi.h>
#include <optional>
#include <string>
#include <string_view>

#include "mpi/object/fault.hpp"

namespace poe::mpi {

// The name of a class of the standard, for example "MPI_ERR_RANK"; empty if the number is none.
std::string_view error_class_name(int error_class) noexcept;

class ErrorCodes {
  public:
    // The class of a code; no value if the code does not exist. Every class is also a code.
    std::optional<int> class_of(int code) const;
    // The text of a code; no value if the code does not exist. Empty if the program has not given a
    // text to its code.
    std::optional<std::string> text_of(int code) const;

    // New numbers are above MPI_ERR_LASTCODE and above all numbers in use.
    int add_class();
    // Refuses a class that does not exist.
    Fault add_code(int error_class, int& code);
    // Refuses codes that the program has not added, and texts longer than MPI_MAX_ERROR_STRING - 1
    // characters. An empty text removes the text.
    Fault add_text(int code, std::string_view text);

    // A class can be removed after its codes, and both after their texts; only what was added can.
    Fault remove_class(int error_class);
    Fault remove_code(int code);
    Fault remove_text(int code);

    // The value of the attribute MPI_LASTUSEDCODE, whose address programs keep.
    const int& last_used() const noexcept { return last_used_; }

  private:
    struct Added {
        int error_class;  // itself for a class
        std::optional<std::string> text;
    };

    int next_number() const noexcept;
    Fault find_added(int code, const char* argument, bool is_class) const;
    void remove(int number);

    std::map<int, Added> added_;
    int last_used_ = MPI_ERR_LASTCODE;
};

}  // namespace poe::mpi
