// Choice buffers of module mpi_f08: an argument of any type and rank, which may be a section of an
// array.
//
// gfortran passes such an argument by a descriptor. If the section is contiguous, the C function
// gets its address. Otherwise the C function gets a contiguous copy, as if the compiler had made
// one, so every datatype, operation and count works. The copy lives as long as MPI may use it:
//
//   function       copied in                 copied back                       freed
//   blocking       before the C function     after it                          after it
//   non-blocking   before the C function     when the request completes        then
//   persistent     at each MPI_Start         at each completion                with the request
//   one-sided      before the C function     when the window is synchronized   then
//   split I/O      before the C function     after the function MPI_File_*_end then
//
// kept_copies.hpp keeps the copies that live longer than a call. Copying back changes only the
// elements that MPI has changed in the copy: the others may belong to another operation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mpi.h>
#include <utility>

#include "mpi/fortran/convert.hpp"

namespace poe::mpi::fortran {

// The descriptor of gfortran from version 9 on. The distance of two elements in a dimension is
// stride * span bytes.
struct Descriptor {
    struct Dimension {
        std::ptrdiff_t stride;
        std::ptrdiff_t lower;
        std::ptrdiff_t upper;
    };
    void* base;  // the first element
    std::size_t offset;
    std::size_t element_size;
    int version;
    signed char rank;
    signed char type;
    std::int16_t attribute;
    std::ptrdiff_t span;
    Dimension dimensions[15];  // the first `rank` exist
};

// True if the elements follow each other in memory. A scalar and an empty section are contiguous,
// and so is an array of assumed size, which has no last extent.
bool is_contiguous(const Descriptor& descriptor) noexcept;

// A contiguous copy of a section. If MPI writes into it, a second copy tells what was there before.
class SectionCopy {
  public:
    SectionCopy(const Descriptor& section, bool written);
    void copy_in() noexcept;
    // Does nothing if the C function only reads.
    void copy_back() noexcept;
    void* data() const noexcept { return data_.get(); }
    bool is_of(const Descriptor& section) const noexcept { return section.base == section_.base; }

  private:
    template <typename Move>
    void each_row(Move&& move) noexcept;

    Descriptor section_;
    std::size_t size_;
    std::unique_ptr<char[]> data_;
    std::unique_ptr<char[]> before_;  // null if MPI only reads
};

// A choice buffer for one call. Throws std::bad_alloc if there is no memory for a copy.
class Section {
  public:
    Section(const Descriptor* descriptor, bool written);
    Section(const Section&) = delete;
    Section& operator=(const Section&) = delete;
    ~Section() {
        if (copy_ != nullptr) copy_->copy_back();
    }
    void* address() const noexcept { return address_; }
    // The copy, which then is the caller's; null if there is none.
    std::unique_ptr<SectionCopy> release() noexcept { return std::move(copy_); }

  private:
    void* address_;
    std::unique_ptr<SectionCopy> copy_;
};

// A choice buffer that must be contiguous, because MPI uses it until a call that is not of the same
// operation, such as that of MPI_Buffer_attach, or in parts, such as that of MPI_Psend_init.
class Whole {
  public:
    Whole(const Descriptor* descriptor, bool) noexcept
        : address_(as_buffer(descriptor->base)), usable_(is_contiguous(*descriptor)) {}
    bool usable() const noexcept { return usable_; }
    void* address() const noexcept { return address_; }

  private:
    void* address_;
    bool usable_;
};

// Refuses a buffer that is not contiguous: invokes an error handler and returns the error code.
int refuse_section(MPI_Comm comm);
int refuse_section(MPI_Win win);

// The address of a choice buffer of which MPI uses nothing else.
inline void* as_location(const Descriptor* descriptor) noexcept {
    return as_buffer(descriptor->base);
}

inline int sending(const Descriptor* sendbuf, const int* comm) {
    return sending(sendbuf->base, comm);
}

}  // namespace poe::mpi::fortran
