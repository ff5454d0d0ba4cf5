// Ledger: which objects the program has to free, and where it got them. For check mode: what is
// still there at MPI_Finalize was never freed (MPI 5.0, section 11.2.2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "mpi/check/place.hpp"
#include "mpi/object/handle.hpp"

namespace poe::mpi::check {

// Objects of one kind from one place.
struct Source {
    Place place;
    std::uint32_t kind = 0;
    std::uint32_t unused = 0;

    Kind its_kind() const noexcept { return static_cast<Kind>(kind); }
    auto operator<=>(const Source&) const = default;
};

// Thread-safe. The entry points say which functions give and take references
// (mpi/table/generate.py).
class Ledger {
  public:
    // The program has got one more reference to the object.
    void acquire(const void* handle, const Source& source);
    // The program has given a reference back.
    void release(const void* handle) noexcept;
    // The number of references that the program still has, by source. Requests that it has freed
    // while they were active do not count.
    std::map<Source, std::int64_t> rest();

  private:
    std::mutex lock_;
    std::unordered_map<const void*, std::vector<Source>> sources_;
};

Ledger& ledger() noexcept;

// Notes the reference that a function has stored in `*handle`, if it is that of an object which the
// program must free.
template <typename Handle>
void note_acquired(const Handle* handle, Function function, const void* site) {
    if (handle == nullptr || is_predefined(*handle)) return;
    ledger().acquire(*handle,
                     {place_of(function, site), static_cast<std::uint32_t>(kKindOf<Handle>)});
}

}  // namespace poe::mpi::check
