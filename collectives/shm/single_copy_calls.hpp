// SingleCopyCalls: collective calls on long data within a node, without messages. Members publish
// the addresses of their data in a slot (group_segment.hpp) and copy directly between their
// memories (process_vm_readv, process_vm_writev), each byte once. It is for calls in which that can
// cost less than two copies in shared memory (staged_call.hpp):
//   - In an index, shift, gather or scatter each byte goes to one member only, and all members copy
//     at the same time.
//   - Between two members, each does half of the copying.
//   - In a reduction, each member reduces one slice of all vectors, which it reads from the others'
//     memories, and writes the result there.
//
// A call has one arrival and one departure. A member reads another member's data as soon as that
// member has published its addresses.
//
// Invariant: a member's data are accessed only after it has published its addresses and before it
// has seen that every member that accesses them has finished. Only then does it return.
#pragma once

#include <optional>
#include <vector>

#include "base/process_copy.hpp"
#include "collectives/shm/copy_costs.hpp"
#include "collectives/shm/movement.hpp"
#include "collectives/shm/shm_group.hpp"

namespace poe::collectives {

class SingleCopyCalls {
  public:
    // All references must outlive this object, and local.available() must be true. `costs`: what
    // rank 0 has measured; ignored at other members. For one thread at a time.
    SingleCopyCalls(comm::Runtime& runtime, const Group& group, ShmGroup& local,
                    const CopyCosts& costs);

    // True if single copy supports the call and the call is long enough to profit. Depends on the
    // shape only, so all members decide alike.
    static bool fits(const Shape& shape) noexcept;

    // True if all members may read and write each other's memory. All members call this at the same
    // call. The first time they try it, which blocks until all have tried.
    bool allowed();
    // What rank 0 has measured; the same at all members. Precondition: allowed().
    const CopyCosts& costs() const noexcept { return costs_; }
    // Makes the call; blocks. `barrier`: no member finishes before all have begun. Precondition:
    // allowed(). Throws Error if a member's memory cannot be accessed any more.
    void run(const Shape& shape, const Run& run, bool barrier);

  private:
    // What a member publishes: addresses in its own memory, and its costs_.
    struct Published {
        std::uint64_t given = 0;
        std::uint64_t result = 0;
        CopyCosts costs;
    };

    bool may_reach_all();
    // Begins the next call, call_.
    void publish(const std::byte* given, const std::byte* result);
    Published published_by(std::uint32_t member) const;
    // Copies between the own memory and that of a member. Throws Error.
    void copy(CopyDirection direction, std::uint32_t member, const std::byte* own,
              std::uint64_t other, Bytes bytes) const;
    std::uint32_t after(std::uint32_t distance) const noexcept { return (me_ + distance) % n_; }
    void move(const Shape& shape, const Run& run);
    void add_slice(const Shape& shape, const Run& run);

    comm::Runtime& runtime_;
    const Group& group_;
    ShmGroup& local_;
    GroupSegment& segment_;
    std::uint32_t n_;
    std::uint32_t me_;
    CopyCosts costs_;
    std::uint64_t call_ = 0;  // the call of the segment that is under way
    std::vector<pid_t> pids_;
    std::optional<bool> allowed_;   // empty: not tried yet
    std::vector<std::byte> tried_;  // one byte for each member to access
    std::vector<std::byte> sums_;   // a piece of a sum, and the next piece to add to it
};

}  // namespace poe::collectives
