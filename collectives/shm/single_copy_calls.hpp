// Collective calls on much data within a node, without messages: members tell each other where
// their data lie (an exchange, see group_segment.hpp), and copy straight between their memories
// (process_vm_readv, process_vm_writev), each byte once. For calls in which that can cost less than
// two copies in shared memory (copy_in_out.hpp, pairwise_exchange.hpp): in an index, a shift, a gather
// and a scatter each byte goes to one member only, and all copy at the same time; of two members
// each does one half of what there is to do. In a reduction each adds up one slice of all vectors,
// out of the others' memories, and writes the sums there.
//
// A call has one arrival and one departure. A member reads what it needs of another one as soon as
// that has told.
//
// Invariant: a member's data are touched only between the time that it has told where they are and
// the time that it has seen everybody who touches them through; only then it returns.
#pragma once

#include <memory>
#include <vector>

#include "collectives/shm/shm_collectives.hpp"

namespace poe::collectives {

class SingleCopyCalls {
  public:
    // `local` must be available and outlive it.
    SingleCopyCalls(comm::Runtime& runtime, const Group& group, ShmCollectives& local);

    // Whether such a call can be made so, and is long enough that it could be worth it. Depends on
    // the shape only, so all members agree.
    static bool fits(const Shape& shape) noexcept;

    // Whether all members may read and write each other's memory. All members ask at the same call;
    // the first time they try, which blocks until all have.
    bool allowed();
    // Makes the call. Blocking. `barrier`: nobody is to get through before all have come. Throws
    // Error when a member's memory cannot be reached any more.
    void run(const Shape& shape, const Run& run, bool barrier);

  private:
    // What a member tells: addresses in its memory.
    struct Places {
        std::uint64_t given = 0;
        std::uint64_t result = 0;
    };

    bool may_reach_all();
    std::uint64_t tell(const void* what, Bytes bytes);
    const std::byte* told_by(std::uint32_t member, std::uint64_t call);
    Places places_of(std::uint32_t member);
    [[noreturn]] void fail_copy(const std::string& what, std::uint32_t member) const;
    void read(std::uint32_t member, std::uint64_t from, std::byte* to, Bytes bytes) const;
    void write(std::uint32_t member, const std::byte* from, std::uint64_t to, Bytes bytes) const;
    template <typename Work>
    void for_others(Work&& work) const;
    void move(const Shape& shape, const Run& run);
    void add_slice(const Shape& shape, const Run& run);
    void read_half(std::uint32_t member, std::uint64_t from, std::byte* to, Bytes bytes) const;
    void write_half(std::uint32_t member, const std::byte* from, std::uint64_t to,
                    Bytes bytes) const;
    bool touched_by(const Shape& shape, std::uint32_t member) const noexcept;

    comm::Runtime& runtime_;
    const Group& group_;
    ShmCollectives& local_;
    std::uint32_t n_;
    std::uint32_t me_;
    std::uint64_t call_ = 0;  // the exchange under way
    std::vector<pid_t> pids_;
    enum class Allowed { kNotTried, kYes, kNo } allowed_ = Allowed::kNotTried;
    std::vector<std::uint64_t> tried_;  // a word for each member to reach
    std::vector<std::byte> sums_;       // a piece of a sum, and one of what is added to it
};

}  // namespace poe::collectives
