// Rendezvous: how the tasks of a job that another launcher has started (mpirun, srun, mpiexec) find
// each other, through whatever service the launcher offers. A task puts small texts; a fence makes
// them visible to all tasks. What is exchanged is defined separately (foreign_launch.hpp), because
// there is one implementation per protocol. Used at the first MPL call and at the end, never for
// messages.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/types.hpp"

namespace poe::comm {

// Returns the value of an environment variable; null if it is not set.
using Variables = std::function<const char*(const char* name)>;

// For one thread. Functions block until the launcher answers, unless stated otherwise, and throw
// Error that names the launcher's service and its answer.
class Rendezvous {
  public:
    virtual ~Rendezvous() = default;

    virtual TaskId rank() const noexcept = 0;
    virtual std::uint32_t size() const noexcept = 0;

    // `key` is [a-z-]{1,20}; `value` has at most kLongestValue bytes, of letters, digits and
    // ".,:;/-_%".
    virtual void put(const std::string& key, const std::string& value) = 0;
    // Blocks until all tasks have called it. Everything that they put before the call can then be
    // read with get().
    virtual void fence() = 0;
    virtual std::string get(TaskId task, const std::string& key) = 0;

    // True if the launcher is still there, without asking it. Never blocks.
    virtual bool alive() noexcept = 0;
    // Asks the launcher to end the job with exit code `code`. The caller must then exit with the
    // same code, unless the launcher ends it first.
    virtual void abort(int code, const std::string& why) noexcept = 0;
    // Reports that this task ends normally. The last call; errors are ignored.
    virtual void finalize() noexcept = 0;

    static constexpr std::size_t kLongestValue = 1000;
};

// PMIx: mpirun of Open MPI, srun --mpi=pmix. PMI-1: mpiexec of MPICH, srun --mpi=pmi2. Null if the
// environment names no such service.
std::unique_ptr<Rendezvous> find_pmix(const Variables& variables);
std::unique_ptr<Rendezvous> find_pmi1(const Variables& variables);

// Returns the service of the launcher that has started this process, or null. Throws Error if the
// service cannot be reached.
inline std::unique_ptr<Rendezvous> find_rendezvous(const Variables& variables) {
    auto found = find_pmix(variables);
    return found ? std::move(found) : find_pmi1(variables);
}

}  // namespace poe::comm
