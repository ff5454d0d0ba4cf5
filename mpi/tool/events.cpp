// See events.hpp.
#include "mpi/tool/events.hpp"

#include <algorithm>
#include <chrono>
#include <unistd.h>
#include <utility>

#include "base/check.hpp"
#include "comm/progress/runtime_lock.hpp"
#include "tracer/probe/process_context.hpp"

namespace poe::mpi::tool {
namespace {

using Lock = std::unique_lock<std::mutex>;

constexpr std::size_t kNone = 0;
constexpr std::size_t kRestricted = 1;
constexpr std::size_t kThreadSafe = 2;

// The innermost event that this thread raises.
thread_local const EventInstance* current = nullptr;

MPI_T_event_registration registration_of(EventHandle& handle) noexcept {
    return reinterpret_cast<MPI_T_event_registration>(&handle);
}

bool is_progress_thread(comm::Runtime& runtime) noexcept {
    static thread_local const pid_t own = ::gettid();
    return runtime.turn().progress_thread() == own;
}

std::size_t required_safety() noexcept {
    const ProcessContext& process = process_context();
    const bool alone = current == nullptr &&
                       !process.many_threads.load(std::memory_order_relaxed) &&
                       (process.runtime == nullptr || !is_progress_thread(*process.runtime));
    return alone ? kRestricted : kThreadSafe;
}

// The function of the lowest level that may be called at this one.
EventCallback callback_for(const EventHandle& handle, std::size_t safety) noexcept {
    for (std::size_t i = safety; i < handle.callbacks.size(); ++i)
        if (handle.callbacks[i].function != nullptr) return handle.callbacks[i];
    return {};
}

bool has_callback(const EventHandle& handle) noexcept {
    return callback_for(handle, kNone).function != nullptr;
}

// Returns the handle that was allocated first after the one with this number and is valid; null if
// there is none.
EventHandle* next_handle(Tools& all, std::uint64_t number) noexcept {
    for (const auto& each : all.event_handles)
        if (each->number > number && !each->freed) return each.get();
    return nullptr;
}

// Deletes a handle that was freed.
void finish_freeing(Tools& all, EventHandle& handle, std::size_t safety, Lock& lock) noexcept {
    const auto at = std::find_if(all.event_handles.begin(), all.event_handles.end(),
                                 [&](const auto& each) { return each.get() == &handle; });
    const std::unique_ptr<EventHandle> deleted = std::move(*at);
    all.event_handles.erase(at);
    if (deleted->free_function == nullptr) return;
    lock.unlock();
    deleted->free_function(registration_of(*deleted), kSafetyLevels[safety], deleted->free_data);
    lock.lock();
}

// Calls a function of the tool without the lock. The handle may have been deleted afterwards.
template <typename Function>
void call_out(Tools& all, EventHandle& handle, std::size_t safety, Lock& lock,
              Function&& function) noexcept {
    ++handle.running;
    lock.unlock();
    function();
    lock.lock();
    if (--handle.running == 0 && handle.freed) finish_freeing(all, handle, safety, lock);
}

void report_dropped(Tools& all, EventHandle& handle, std::size_t safety, Lock& lock) noexcept {
    const EventCallback callback = callback_for(handle, safety);
    MPI_T_event_dropped_cb_function* const handler = handle.dropped_handler;
    if (handle.dropped == 0 || handler == nullptr || callback.function == nullptr) return;
    const MPI_Count count = std::exchange(handle.dropped, 0);
    call_out(all, handle, safety, lock, [&] {
        handler(count, registration_of(handle), kEventSource, kSafetyLevels[safety],
                callback.user_data);
    });
}

void pass_to(Tools& all, EventHandle& handle, const EventInstance& instance, Lock& lock) noexcept {
    const EventCallback callback = callback_for(handle, instance.safety);
    if (callback.function == nullptr) {
        if (has_callback(handle) && handle.dropped_handler != nullptr) ++handle.dropped;
        return;
    }
    call_out(all, handle, instance.safety, lock, [&] {
        callback.function(
            reinterpret_cast<MPI_T_event_instance>(const_cast<EventInstance*>(&instance)),
            registration_of(handle), kSafetyLevels[instance.safety], callback.user_data);
    });
}

// The listener of the engine.
void pass_on(EngineEvent event, std::span<const EventWord> elements) noexcept {
    const EventType& type = type_of(event);
    POE_CHECK(elements.size() == type.datatypes.size(), elements.size());
    const EventInstance instance{&type, elements, source_time(), required_safety(), current};
    const CallbackTurn turn;
    current = &instance;
    Tools& all = tools();
    Lock lock(all.lock);
    // Handles that functions of tools allocate meanwhile do not get this event.
    const std::uint64_t last = all.event_handles_made;
    // Events that were dropped before are reported first, for handles of all types.
    for (EventHandle* each = next_handle(all, 0); each != nullptr && each->number <= last;) {
        const std::uint64_t number = each->number;
        report_dropped(all, *each, instance.safety, lock);
        each = next_handle(all, number);
    }
    for (EventHandle* each = next_handle(all, 0); each != nullptr && each->number <= last;) {
        const std::uint64_t number = each->number;
        if (each->type == &type) pass_to(all, *each, instance, lock);
        each = next_handle(all, number);
    }
    current = instance.outer;
}

// The engine raises events of a type as long as a handle has a function.
void update_wanted(const Tools& all, const EventType& type) noexcept {
    const bool wanted =
        std::any_of(all.event_handles.begin(), all.event_handles.end(), [&](const auto& each) {
            return each->type == &type && !each->freed && has_callback(*each);
        });
    process_context().events.want(type.event, wanted, pass_on);
}

}  // namespace

MPI_Count source_time() noexcept {
    const std::chrono::nanoseconds now = std::chrono::steady_clock::now().time_since_epoch();
    return now.count();
}

const EventInstance* find_instance(MPI_T_event_instance handle) noexcept {
    const EventInstance* each = current;
    while (each != nullptr && static_cast<const void*>(each) != static_cast<const void*>(handle))
        each = each->outer;
    return each;
}

std::optional<std::size_t> place_of_level(int level) noexcept {
    const auto at = std::find(kSafetyLevels.begin(), kSafetyLevels.end(), level);
    if (at == kSafetyLevels.end()) return std::nullopt;
    return static_cast<std::size_t>(at - kSafetyLevels.begin());
}

EventHandle* find_event_handle(Tools& all, MPI_T_event_registration handle) noexcept {
    for (const auto& each : all.event_handles)
        if (registration_of(*each) == handle && !each->freed) return each.get();
    return nullptr;
}

EventHandle& make_event_handle(Tools& all, const EventType& type) {
    auto made = std::make_unique<EventHandle>();
    made->number = all.event_handles_made + 1;
    made->type = &type;
    all.event_handles.push_back(std::move(made));
    ++all.event_handles_made;
    return *all.event_handles.back();
}

void set_callback(Tools& all, EventHandle& handle, std::size_t place,
                  const EventCallback& callback) noexcept {
    handle.callbacks[place] = callback;
    update_wanted(all, *handle.type);
}

void free_event_handle(Tools& all, EventHandle& handle, MPI_T_event_free_cb_function* function,
                       void* user_data, Lock& lock) noexcept {
    const std::size_t safety = current != nullptr ? current->safety : kNone;
    handle.freed = true;
    handle.free_function = function;
    handle.free_data = user_data;
    update_wanted(all, *handle.type);
    // Keeps the handle if a function of another thread ends meanwhile.
    ++handle.running;
    report_dropped(all, handle, safety, lock);
    if (--handle.running == 0) finish_freeing(all, handle, safety, lock);
}

void free_event_handles(Tools& all) noexcept {
    for (const auto& each : all.event_handles) {
        each->freed = true;
        each->free_function = nullptr;
    }
    std::erase_if(all.event_handles, [](const auto& each) { return each->running == 0; });
    for (const EventType& type : event_types()) update_wanted(all, type);
}

void raise_error(const char* function, const char* error_class) noexcept {
    const ProcessContext& process = process_context();
    const RuntimeTurn turn;
    if (process.runtime != nullptr && turn.runtime() == nullptr) return;
    process.events.raise(EngineEvent::kErrorRaised, function, error_class);
}

}  // namespace poe::mpi::tool
