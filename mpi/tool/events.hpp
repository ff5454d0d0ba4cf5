// How an event that the engine raises reaches the functions of tools (MPI 5.0, section 15.3.8).
//
//   1. The engine calls the listener if a handle of the event's type has a function. The thread has
//      the turn, so events are raised one at a time, and their times do not decrease.
//   2. The listener goes through the handles of the type. Of the functions that a handle has, it
//      calls the one of the lowest level that is at least the level of this invocation. If there is
//      none, the event is dropped for this handle.
//   3. Functions are called without the lock of the tools, but with the turn. A function may
//      therefore call all functions of the tools interface, and may free its own handle.
//
// The level of an invocation:
//
//   the thread that raises the event                             level
//   a thread of a program without MPI_THREAD_MULTIPLE            MPI_T_CB_REQUIRE_MPI_RESTRICTED
//   a thread of a program with it; the progress thread; any
//   thread that raises an event from within a function of a tool MPI_T_CB_REQUIRE_THREAD_SAFE
//
// A handler of dropped events is called before the next event that is raised at a level for which
// its handle has a function, or else when the handle is freed outside of such functions; the level
// is then MPI_T_CB_REQUIRE_NONE.
#pragma once

#include <cstdint>
#include <mpi.h>
#include <mutex>
#include <optional>
#include <span>

#include "mpi/tool/event_types.hpp"
#include "mpi/tool/handles.hpp"

namespace poe::mpi::tool {

// The one source of events. All events come from it.
inline constexpr int kEventSource = 0;
// The time of its clock, in nanoseconds.
MPI_Count source_time() noexcept;

// An event that is being raised. It exists while the functions of tools are called.
struct EventInstance {
    const EventType* type;
    std::span<const EventWord> elements;
    MPI_Count time;
    std::size_t safety;          // place in kSafetyLevels
    const EventInstance* outer;  // of this thread
};
// Returns the instance with this handle that this thread raises; null if there is none.
const EventInstance* find_instance(MPI_T_event_instance handle) noexcept;

// The place of a level in kSafetyLevels; empty if it is no level.
std::optional<std::size_t> place_of_level(int level) noexcept;

// The following functions are for callers that have the lock.

// Returns null if it is no handle, or was freed.
EventHandle* find_event_handle(Tools& all, MPI_T_event_registration handle) noexcept;
EventHandle& make_event_handle(Tools& all, const EventType& type);
void set_callback(Tools& all, EventHandle& handle, std::size_t place,
                  const EventCallback& callback) noexcept;
// Releases the lock while it calls functions of the tool: the handler of dropped events, and
// `function` unless another function of the handle is running; the thread that runs that calls it
// afterwards.
void free_event_handle(Tools& all, EventHandle& handle, MPI_T_event_free_cb_function* function,
                       void* user_data, std::unique_lock<std::mutex>& lock) noexcept;
// Frees all handles and calls no functions.
void free_event_handles(Tools& all) noexcept;

// Raises the event of an error. The texts stay valid until the process ends. For a thread that is
// in a call, with or without the turn; if it has the turn, calls that it makes are nested. If
// another thread has the turn of a program without MPI_THREAD_MULTIPLE, nothing is raised.
void raise_error(const char* function, const char* error_class) noexcept;

}  // namespace poe::mpi::tool
