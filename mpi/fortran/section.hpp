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
//
// A request is completed by the Fortran functions that wait, test or ask for its status. If C code
// completes the request of a section that is not contiguous, received data stay in the copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <mpi.h>
#include <vector>

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

// A contiguous copy of a section.
class SectionCopy {
  public:
    SectionCopy(const Descriptor& section, bool written);
    void copy_in() noexcept;
    // Does nothing if the C function only reads.
    void copy_back() noexcept;
    void* data() noexcept { return data_.get(); }

  private:
    template <typename Move>
    void each_row(Move&& move) noexcept;

    Descriptor section_;
    bool written_;
    std::unique_ptr<char[]> data_;
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

// A choice buffer that MPI uses after the call without a request, such as that of
// MPI_Buffer_attach. It must be contiguous.
class Whole {
  public:
    Whole(const Descriptor* descriptor, bool) noexcept
        : address_(as_buffer(descriptor->base)), usable_(is_contiguous(*descriptor)) {}
    bool usable() const noexcept { return usable_; }
    // Invokes the error handler of MPI_COMM_SELF and returns the error code.
    static int refuse();
    void* address() const noexcept { return address_; }

  private:
    void* address_;
    bool usable_;
};

// The address of a choice buffer of which MPI uses nothing else.
inline void* as_location(const Descriptor* descriptor) noexcept {
    return as_buffer(descriptor->base);
}

inline int sending(const Descriptor* sendbuf, const int* comm) {
    return sending(sendbuf->base, comm);
}

// Keeps the copies of these sections until the request completes. If the call has failed, the
// sections free them.
void keep_until_complete(int code, const HandleOut<MPI_Request>& request, bool persistent,
                         std::initializer_list<Section*> sections);

// To be called with the integers of requests. Each does nothing, at the cost of one load, unless a
// copy of a section is kept.
void copies_started(const int* requests, int count);  // before MPI_Start
void copies_freed(const int* request);                // before MPI_Request_free

// The copies of the requests that a function may complete. It is made before the function is
// called: when a request has completed, another thread may get its integer for a new request. Does
// nothing, at the cost of one load, unless a copy of a section is kept.
class CopiesOfRequests {
  public:
    CopiesOfRequests(const int* requests, int count);
    ~CopiesOfRequests();
    CopiesOfRequests(const CopiesOfRequests&) = delete;
    CopiesOfRequests& operator=(const CopiesOfRequests&) = delete;
    // To be called after the function: the first `count` requests have completed.
    void completed(int count);
    // The same for those at `count` indices.
    void completed(const int* indices, int count);

    struct Kept;

  private:
    struct OfRequest {
        int request;
        std::shared_ptr<Kept> kept;  // null: no copies
    };
    void complete(std::size_t i);

    std::vector<OfRequest> found_;
};

// True if a function with this result has completed requests.
inline bool completes(int code) noexcept {
    return code == MPI_SUCCESS || code == MPI_ERR_IN_STATUS;
}

}  // namespace poe::mpi::fortran
