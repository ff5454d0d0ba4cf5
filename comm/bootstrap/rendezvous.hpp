// Rendezvous: how the tasks of a job that another launcher has started (mpirun, srun, mpiexec) find
// each other, through whatever service that launcher offers: small texts are put, a fence makes
// them visible to all. Apart from what is exchanged (foreign_launch.hpp); one implementation per
// protocol. Used at the first MPL call and at the end, never for messages.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/types.hpp"

namespace poe::comm {

// The value of an environment variable; null when it is not set.
using Variables = std::function<const char*(const char* name)>;

// For one thread. Calls block until the launcher answers, and throw Error naming the launcher's
// service and what it said.
class Rendezvous {
  public:
    virtual ~Rendezvous() = default;

    virtual TaskId rank() const noexcept = 0;
    virtual std::uint32_t size() const noexcept = 0;

    // `key` is [a-z-]{1,20}, `value` at most kLongestValue bytes of letters, digits and ".,:;/-_%".
    virtual void put(const std::string& key, const std::string& value) = 0;
    // Returns when all tasks have called it; what they had put before can then be got.
    virtual void fence() = 0;
    virtual std::string get(TaskId task, const std::string& key) = 0;

    // Whether the launcher is still there, as far as can be seen without asking it. Never blocks.
    virtual bool alive() noexcept = 0;
    // Asks the launcher to end the job with that exit code. The caller then ends this process, with
    // the same code, unless the launcher is faster.
    virtual void abort(int code, const std::string& why) noexcept = 0;
    // Says that this task ends in an orderly way. The last call; errors do not matter any more.
    virtual void finalize() noexcept = 0;

    static constexpr std::size_t kLongestValue = 1000;
};

// PMIx: mpirun of Open MPI, srun --mpi=pmix. PMI-1: mpiexec of MPICH, srun --mpi=pmi2. Null: the
// environment does not speak of such a service.
std::unique_ptr<Rendezvous> find_pmix(const Variables& variables);
std::unique_ptr<Rendezvous> find_pmi1(const Variables& variables);

// The service of the launcher that has started this process, or null. Throws Error when there
// should be one that cannot be reached.
inline std::unique_ptr<Rendezvous> find_rendezvous(const Variables& variables) {
    auto found = find_pmix(variables);
    return found ? std::move(found) : find_pmi1(variables);
}

}  // namespace poe::comm
