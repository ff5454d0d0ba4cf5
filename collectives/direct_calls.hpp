// An index of much data within a node, without messages: members tell each other where their data
// lie, and each copies what it needs straight out of the others' memory (process_vm_readv), once.
// Apart from LocalCalls, which it uses to tell and to wait, since that knows only shared memory.
// Concat and reductions were tried the same way, each member reducing one part of all vectors;
// messages were as fast or faster.
//
// Nobody's data are touched after its call.
#pragma once

#include <memory>
#include <vector>

#include "collectives/local_calls.hpp"

namespace poe::collectives {

class DirectCalls {
  public:
    // `local` must be available and outlive it.
    DirectCalls(comm::Runtime& runtime, const Group& group, LocalCalls& local);

    // Whether such calls are worth it. Depends on the shape only, so all members agree.
    static bool fits(const Shape& shape) noexcept;

    // Whether all members may read each other's memory. All members ask at the same call;
    // the first time they try, which blocks until all have.
    bool allowed();
    // Makes the call. Blocking. Throws Error when a member's memory cannot be read any more.
    void run(const Shape& shape, const Run& run);

  private:
    bool may_reach_all();
    void tell_all(const void* memory);
    void meet();
    void read(std::uint32_t member, std::uint64_t from, std::byte* to, Bytes bytes) const;
    template <typename Work>
    void for_others(Work&& work) const;

    comm::Runtime& runtime_;
    const Group& group_;
    LocalCalls& local_;
    std::uint32_t n_;
    std::uint32_t me_;
    std::vector<pid_t> pids_;
    enum class Allowed { kNotTried, kYes, kNo } allowed_ = Allowed::kNotTried;
    std::vector<std::uint64_t> all_;  // addresses of all members
};

}  // namespace poe::collectives
