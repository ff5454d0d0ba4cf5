// Arguments of Fortran as arguments of the C functions. An entry point has a variable of one of
// these classes for each argument that must be converted. The constructor takes the argument of
// Fortran; the destructor, which runs after the C function, gives the result back. A result that
// the C function has not set, because it failed, leaves the variable of the program as it was.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <mpi.h>
#include <string>
#include <vector>

#include "mpi/fortran/handles.hpp"
#include "mpi/fortran/sentinels.hpp"

namespace poe::mpi::fortran {

// A function of the program, of whatever type.
using Procedure = void();

// Stores the error code, if the program wants it: in module mpi_f08 the argument is optional.
inline void finish(int* ierror, int code) noexcept {
    if (ierror != nullptr) *ierror = code;
}

// A handle that the function sets. No handle of C is null, so null means that it was not set.
template <typename Handle>
class HandleOut {
  public:
    explicit HandleOut(int* integer) noexcept : integer_(integer) {}
    HandleOut(const HandleOut&) = delete;
    HandleOut& operator=(const HandleOut&) = delete;
    ~HandleOut() {
        if (handle_ != nullptr) *integer_ = to_fortran(handle_);
    }
    operator Handle*() noexcept { return &handle_; }
    Handle handle() const noexcept { return handle_; }

  protected:
    int* integer_;
    Handle handle_ = nullptr;
};

// A handle that the function reads and may change.
template <typename Handle>
class HandleInOut : public HandleOut<Handle> {
  public:
    explicit HandleInOut(int* integer) : HandleOut<Handle>(integer) {
        this->handle_ = from_fortran<Handle>(*integer);
    }
};

// An array of handles; a short one needs no memory of its own.
template <typename Handle>
class Handles {
  public:
    explicit Handles(int count) : count_(count > 0 ? static_cast<std::size_t>(count) : 0) {
        if (count_ <= few_.size()) return;
        many_.resize(count_);
        first_ = many_.data();
    }
    Handles(const Handles&) = delete;
    Handles& operator=(const Handles&) = delete;
    operator Handle*() noexcept { return first_; }

  protected:
    std::size_t count_;
    std::array<Handle, 16> few_{};
    std::vector<Handle> many_;
    Handle* first_ = few_.data();
};

template <typename Handle>
class HandlesIn : public Handles<Handle> {
  public:
    HandlesIn(const int* integers, int count) : Handles<Handle>(count) {
        for (std::size_t i = 0; i < this->count_; ++i)
            this->first_[i] = from_fortran<Handle>(integers[i]);
    }
};

template <typename Handle>
class HandlesOut : public Handles<Handle> {
  public:
    HandlesOut(int* integers, int count) : Handles<Handle>(count), integers_(integers) {}
    ~HandlesOut() {
        for (std::size_t i = 0; i < this->count_; ++i)
            if (this->first_[i] != nullptr) integers_[i] = to_fortran(this->first_[i]);
    }

  protected:
    int* integers_;
};

template <typename Handle>
class HandlesInOut : public HandlesOut<Handle> {
  public:
    HandlesInOut(int* integers, int count) : HandlesOut<Handle>(integers, count) {
        for (std::size_t i = 0; i < this->count_; ++i)
            this->first_[i] = from_fortran<Handle>(integers[i]);
    }
};

// A position in an array, which Fortran counts from 1.
class Index {
  public:
    explicit Index(int* index) noexcept : index_(index) {}
    Index(const Index&) = delete;
    Index& operator=(const Index&) = delete;
    ~Index() { *index_ = value_ == MPI_UNDEFINED ? value_ : value_ + 1; }
    operator int*() noexcept { return &value_; }
    int is_set() const noexcept { return value_ == MPI_UNDEFINED ? 0 : 1; }

  private:
    int* index_;
    int value_ = MPI_UNDEFINED;
};

// An array of positions, of which the function sets `count`.
class Indices {
  public:
    Indices(int* indices, int* count) noexcept : indices_(indices), count_(count) {
        *count = MPI_UNDEFINED;
    }
    Indices(const Indices&) = delete;
    Indices& operator=(const Indices&) = delete;
    ~Indices() {
        for (int i = 0; i < *count_; ++i) ++indices_[i];
    }

  private:
    int* indices_;
    const int* count_;
};

// A string without the blanks at its end.
std::string text(const char* first, std::size_t length);
// The same without those at its beginning.
std::string trimmed(const char* first, std::size_t length);
// Copies a string of C to one of Fortran: cuts it, or appends blanks.
void copy_text(const char* from, char* to, std::size_t length) noexcept;

// A string that the function sets.
class TextOut {
  public:
    TextOut(char* to, std::size_t length) noexcept : to_(to), length_(length) { text_[0] = '\0'; }
    TextOut(const TextOut&) = delete;
    TextOut& operator=(const TextOut&) = delete;
    ~TextOut() { copy_text(text_.data(), to_, length_); }
    operator char*() noexcept { return text_.data(); }

  private:
    char* to_;
    std::size_t length_;
    // The longest string that a function returns.
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING + 1> text_;
};

// An array of strings: `count` of them, or those before the first that is blank (section 11.8.2).
inline constexpr int kUntilBlank = -1;
class Texts {
  public:
    Texts(const char* first, std::size_t length, int count) : Texts(first, length, count, length) {}
    // The strings are `step` bytes apart.
    Texts(const char* first, std::size_t length, int count, std::size_t step);
    // Null for MPI_ARGV_NULL.
    operator char**() noexcept { return is_null_ ? nullptr : pointers_.data(); }

  private:
    bool is_null_;
    std::vector<std::string> texts_;
    std::vector<char*> pointers_;
};

// The arguments of several commands: a matrix of strings with a row for each command.
class TextRows {
  public:
    TextRows(const char* first, std::size_t length, int count);
    // Null for MPI_ARGVS_NULL.
    operator char***() noexcept { return is_null_ ? nullptr : pointers_.data(); }

  private:
    bool is_null_;
    std::vector<Texts> rows_;
    std::vector<char**> pointers_;
};

// The numbers of datatypes that MPI_Alltoallw and its neighbourhood forms read. The first is 0 if
// the data to send are in place.
int remote_size(const int* comm);
int sending(const void* sendbuf, const int* comm);
int in_neighbors(const int* comm);
int out_neighbors(const int* comm);

}  // namespace poe::mpi::fortran
