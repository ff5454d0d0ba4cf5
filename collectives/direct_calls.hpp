// Long collective calls within a node, without messages: members tell each other where their data
// lie, and each copies what it needs straight out of the others' memory (process_vm_readv), once.
// Reductions go by parts: each member reduces one part of the vector of all members, in rank order,
// and the others fetch the result. Apart from LocalCalls, which it uses to tell and to wait, since
// that knows only shared memory.
//
// Nobody's data are touched after its call. Between two calls no member may write its work memory
// before all have begun the second one; so results of parts can be fetched after the call of who
// made them has ended.
#pragma once

#include <memory>
#include <vector>

#include "collectives/local_calls.hpp"

namespace poe::collectives {

struct Parts;  // of a vector, algorithms/blocks.hpp

class DirectCalls {
  public:
    // `local` must be available and outlive it.
    DirectCalls(comm::Runtime& runtime, const Group& group, LocalCalls& local);

    // Whether such calls are worth it. Depends on the shape only, so all members agree.
    static bool fits(const Shape& shape, bool barrier) noexcept;

    // Whether all members may read and write each other's memory. All members ask at the same call;
    // the first time they try, which blocks until all have.
    bool allowed();
    // Makes the call. Blocking. Throws Error when a member's memory cannot be read any more.
    void run(const Shape& shape, const Run& run);

  private:
    struct Addresses {
        std::uint64_t given = 0;
        std::uint64_t result = 0;
        std::uint64_t work = 0;
    };

    bool may_reach_all();
    void tell_all(Bytes work);
    std::uint64_t tell_from(std::uint32_t root, std::uint64_t own);
    void await_all(std::uint32_t root);
    void meet();
    void read(std::uint32_t member, std::uint64_t from, std::byte* to, Bytes bytes) const;
    void write(std::uint32_t member, const std::byte* from, std::uint64_t to, Bytes bytes) const;
    template <typename Work>
    void for_others(Work&& work) const;
    void add(std::uint32_t member, std::uint64_t from, std::byte* to, Bytes bytes);

    void concat(const Shape& shape);
    void index(const Shape& shape);
    void reduce_part(const Parts& parts);
    void reduce(const Shape& shape);
    void combine(const Shape& shape);
    void prefix(const Shape& shape);

    comm::Runtime& runtime_;
    const Group& group_;
    LocalCalls& local_;
    std::uint32_t n_;
    std::uint32_t me_;
    std::vector<pid_t> pids_;
    enum class Allowed { kNotTried, kYes, kNo } allowed_ = Allowed::kNotTried;
    Run run_;
    std::vector<Addresses> all_;
    std::vector<std::byte> work_;
    std::vector<std::byte> piece_;
};

}  // namespace poe::collectives
