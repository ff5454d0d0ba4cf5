// The objects of the tools interface: handles of control variables, sessions with their handles of
// performance variables, and how often the interface has been initialized. Thread-safe: callers
// hold lock(). Functions of the tools interface invoke no error handlers; they return codes of
// MPI_T.
#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "mpi/tool/variables.hpp"

namespace poe::mpi::tool {

struct CvarHandle {
    const ControlVariable* variable;
};

struct PvarHandle {
    const PerformanceVariable* variable;
};

struct PvarSession {
    std::set<std::unique_ptr<PvarHandle>> handles;
};

struct Tools {
    std::mutex lock;
    int initialized = 0;
    std::set<std::unique_ptr<CvarHandle>> handles;
    std::set<std::unique_ptr<PvarSession>> sessions;
};
Tools& tools();

// Returns the object in the set to which the handle points; null if it is none of them.
template <typename Object>
Object* find(const std::set<std::unique_ptr<Object>>& all, const void* handle) {
    for (const auto& each : all)
        if (each.get() == handle) return each.get();
    return nullptr;
}
template <typename Object>
void remove(std::set<std::unique_ptr<Object>>& all, const Object* object) {
    std::erase_if(all, [object](const auto& each) { return each.get() == object; });
}

// Makes the turn of the message layer the caller's for as long as it exists. No runtime before MPI
// is initialized.
class RuntimeTurn {
  public:
    RuntimeTurn() noexcept;
    ~RuntimeTurn();
    RuntimeTurn(const RuntimeTurn&) = delete;
    RuntimeTurn& operator=(const RuntimeTurn&) = delete;

    // Null: MPI is not initialized, or another thread uses it in a program without
    // MPI_THREAD_MULTIPLE.
    comm::Runtime* runtime() const noexcept { return runtime_; }

  private:
    comm::Runtime* runtime_ = nullptr;
    bool entered_ = false;
};

}  // namespace poe::mpi::tool
