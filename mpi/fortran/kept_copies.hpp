// Copies of sections (section.hpp) that live longer than the call that made them.
//
// They belong to the operation of a request, to the operations on a window with one target, or to
// the split operation on a file. The Fortran function that completes the operation copies back what
// MPI has written. If C code completes it, received data stay in the copy.
//
// Each function of this file does nothing, at the cost of one load, unless copies are kept.
#pragma once

#include <initializer_list>
#include <limits>
#include <memory>
#include <mpi.h>
#include <vector>

#include "mpi/fortran/section.hpp"

namespace poe::mpi::fortran {

inline constexpr int kEveryTarget = std::numeric_limits<int>::min();

// What the completion of an operation belongs to. The integers of different kinds of handles may
// be equal.
struct Owner {
    enum class Kind { kRequest, kWindow, kFile };
    Kind kind;
    int handle;
    int target = 0;  // the rank of the target in the group of a window
    auto operator<=>(const Owner&) const = default;
};

inline Owner window(const int* win, const int* target) noexcept {
    return {Owner::Kind::kWindow, *win, *target};
}
inline Owner window(const int* win) noexcept {
    return {Owner::Kind::kWindow, *win, kEveryTarget};
}
inline Owner file(const int* fh) noexcept {
    return {Owner::Kind::kFile, *fh};
}

// Keep the copies of these sections after a call with the result `code`. If the call has failed or
// the operation is complete, the sections free them.
void keep_copies(int code, const HandleOut<MPI_Request>& request, bool persistent,
                 std::initializer_list<Section*> sections);
void keep_copies(int code, const Owner& owner, std::initializer_list<Section*> sections);

void copies_started(const int* requests, int count);  // before MPI_Start
void copies_freed(const int* request);                // before MPI_Request_free

// The copies of the operations that a function may complete. It is made before the function is
// called: when a request has completed, another thread may get its integer for a new request, and
// another thread may start an operation on a window while the function completes the earlier ones.
class CopiesToComplete {
  public:
    CopiesToComplete(const int* requests, int count);
    explicit CopiesToComplete(const Owner& owner);
    ~CopiesToComplete();
    CopiesToComplete(const CopiesToComplete&) = delete;
    CopiesToComplete& operator=(const CopiesToComplete&) = delete;
    // What the call that started the operation got for this buffer: its copy, if there is one.
    void* address_of(const Descriptor* buffer) const noexcept;
    // To be called after the function. All have completed.
    void completed();
    // The first `count` requests have completed.
    void completed(int count);
    // The requests at `count` indices have completed.
    void completed(const int* indices, int count);

    struct Kept;

  private:
    struct Found {
        Owner owner;
        std::shared_ptr<Kept> kept;  // null: a request without copies
    };
    void complete(std::size_t i);

    std::vector<Found> found_;
};

// True if a function with this result has completed requests.
inline bool completes(int code) noexcept {
    return code == MPI_SUCCESS || code == MPI_ERR_IN_STATUS;
}

}  // namespace poe::mpi::fortran
