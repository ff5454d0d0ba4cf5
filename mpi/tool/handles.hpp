// The objects of the tools interface: handles of control variables, sessions with their handles of
// performance variables, registration handles of events, and how often the interface has been
// initialized. Thread-safe: callers hold the lock. Functions of the tools interface invoke no error
// handlers; they return codes of MPI_T.
//
// A thread that needs both the turn and the lock takes the turn first, because a thread that raises
// an event has the turn.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mpi.h>
#include <mutex>
#include <set>
#include <vector>

#include "mpi/tool/event_types.hpp"
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

// The levels of callback safety, the least restricted one first.
inline constexpr std::array kSafetyLevels = {MPI_T_CB_REQUIRE_NONE, MPI_T_CB_REQUIRE_MPI_RESTRICTED,
                                             MPI_T_CB_REQUIRE_THREAD_SAFE,
                                             MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE};

struct EventCallback {
    MPI_T_event_cb_function* function = nullptr;  // null: none is registered
    void* user_data = nullptr;
};

// A registration handle. It is deleted when it is freed and none of its functions is running.
struct EventHandle {
    std::uint64_t number;  // handles are numbered in the order of their allocation
    const EventType* type;
    std::array<EventCallback, kSafetyLevels.size()> callbacks{};
    MPI_T_event_dropped_cb_function* dropped_handler = nullptr;
    MPI_Count dropped = 0;  // events, since the handler was set or called
    unsigned running = 0;   // calls of functions of the tool for this handle, in all threads
    bool freed = false;     // no valid handle any more
    MPI_T_event_free_cb_function* free_function = nullptr;
    void* free_data = nullptr;
};

struct Tools {
    std::mutex lock;
    int initialized = 0;
    std::set<std::unique_ptr<CvarHandle>> handles;
    std::set<std::unique_ptr<PvarSession>> sessions;
    std::vector<std::unique_ptr<EventHandle>> event_handles;  // in the order of their numbers
    std::uint64_t event_handles_made = 0;
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

// Exists while this thread, which has the turn, calls functions of a tool. Functions of the tools
// interface that these call then use this turn.
class CallbackTurn {
  public:
    CallbackTurn() noexcept;
    ~CallbackTurn();
    CallbackTurn(const CallbackTurn&) = delete;
    CallbackTurn& operator=(const CallbackTurn&) = delete;

    // True if one exists in this thread.
    static bool exists() noexcept;
};

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
