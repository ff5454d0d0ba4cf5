// The tools interface: events and their source (MPI 5.0, section 15.3.8). How events reach the
// functions of tools is in mpi/tool/events.hpp. No hints are known, so infos are ignored, and those
// that are returned are empty.
#include <cstring>
#include <limits>
#include <mpi.h>
#include <mutex>

#include "mpi/api/bodies.hpp"
#include "mpi/api/tool_call.hpp"
#include "mpi/process/environment.hpp"
#include "mpi/tool/events.hpp"

namespace poe::mpi {
namespace {

using namespace tool;

constexpr std::string_view kClock = "clock";
constexpr std::string_view kAboutClock = "nanoseconds of the computer's steady clock";

// The caller frees the info.
int store_no_hints(MPI_Info* info) {
    if (info != nullptr) *info = handle_of<MPI_Info>(environment().infos.make());
    return MPI_SUCCESS;
}

// Runs work(tools, handle) for a registration handle.
template <typename Work>
int with_event(MPI_T_event_registration registration, Work&& work) {
    return in_tools([&](Tools& all) -> int {
        EventHandle* const found = find_event_handle(all, registration);
        return found == nullptr ? MPI_T_ERR_INVALID_HANDLE : work(all, *found);
    });
}

// The same for a function of a level.
template <typename Work>
int with_callback(MPI_T_event_registration registration, MPI_T_cb_safety safety, Work&& work) {
    // A program may pass any number, also one that is no value of the type.
    int level = 0;
    std::memcpy(&level, &safety, sizeof level);
    return with_event(registration, [&](Tools& all, EventHandle& handle) -> int {
        const std::optional<std::size_t> place = place_of_level(level);
        return place ? work(all, handle, *place) : MPI_T_ERR_INVALID;
    });
}

// Runs work(instance) for the event that this thread raises. Takes no lock, so that a function of a
// tool never waits for another thread.
template <typename Work>
int with_instance(MPI_T_event_instance handle, Work&& work) {
    const EventInstance* const found = find_instance(handle);
    if (found != nullptr) return work(*found);
    return in_tools([](Tools&) -> int { return MPI_T_ERR_INVALID_HANDLE; });
}

}  // namespace

int t_event_get_num(int* num) {
    return in_tools([&](Tools&) -> int { return store(num, event_types().size()); });
}

int t_event_get_index(const char* name, int* index) {
    return in_tools([&](Tools&) -> int { return store_index(event_types(), name, index); });
}

int t_event_get_info(int number, char* name, int* name_len, int* verbosity,
                     MPI_Datatype datatypes[], MPI_Aint displacements[], int* num_elements,
                     MPI_T_enum* items, MPI_Info* info, char* description, int* description_len,
                     int* bind) {
    return in_tools([&](Tools&) -> int {
        const EventType* const found = at(event_types(), number);
        if (found == nullptr) return MPI_T_ERR_INVALID_INDEX;
        if (num_elements != nullptr) {
            if (*num_elements < 0) return MPI_T_ERR_INVALID;
            const std::size_t stored =
                std::min(static_cast<std::size_t>(*num_elements), found->datatypes.size());
            if (datatypes != nullptr) std::copy_n(found->datatypes.begin(), stored, datatypes);
            if (displacements != nullptr)
                std::copy_n(found->displacements.begin(), stored, displacements);
            store(num_elements, found->datatypes.size());
        }
        copy_text(found->name, name, name_len);
        copy_text(found->description, description, description_len);
        store(verbosity, found->verbosity);
        store(items, handle_of_items(&found->elements));
        store(bind, MPI_T_BIND_NO_OBJECT);
        return store_no_hints(info);
    });
}

int t_event_handle_alloc(int number, void*, MPI_Info, MPI_T_event_registration* registration) {
    return in_tools([&](Tools& all) -> int {
        const EventType* const found = at(event_types(), number);
        if (found == nullptr) return MPI_T_ERR_INVALID_INDEX;
        if (registration == nullptr) return MPI_T_ERR_INVALID;
        *registration = reinterpret_cast<MPI_T_event_registration>(&make_event_handle(all, *found));
        return MPI_SUCCESS;
    });
}

// Calls functions of the tool, so the lock is not that of in_tools().
int t_event_handle_free(MPI_T_event_registration registration, void* user_data,
                        MPI_T_event_free_cb_function function) {
    Tools& all = tools();
    std::unique_lock lock(all.lock);
    if (all.initialized == 0) return MPI_T_ERR_NOT_INITIALIZED;
    EventHandle* const found = find_event_handle(all, registration);
    if (found == nullptr) return MPI_T_ERR_INVALID_HANDLE;
    free_event_handle(all, *found, function, user_data, lock);
    return MPI_SUCCESS;
}

int t_event_handle_get_info(MPI_T_event_registration registration, MPI_Info* info) {
    return with_event(registration, [&](Tools&, EventHandle&) { return store_no_hints(info); });
}

int t_event_handle_set_info(MPI_T_event_registration registration, MPI_Info) {
    return with_event(registration, [](Tools&, EventHandle&) -> int { return MPI_SUCCESS; });
}

int t_event_register_callback(MPI_T_event_registration registration, MPI_T_cb_safety safety,
                              MPI_Info, void* user_data, MPI_T_event_cb_function function) {
    return with_callback(registration, safety,
                         [&](Tools& all, EventHandle& handle, std::size_t place) -> int {
                             set_callback(all, handle, place, {function, user_data});
                             return MPI_SUCCESS;
                         });
}

int t_event_callback_get_info(MPI_T_event_registration registration, MPI_T_cb_safety safety,
                              MPI_Info* info) {
    return with_callback(registration, safety, [&](Tools&, EventHandle&, std::size_t) -> int {
        return store_no_hints(info);
    });
}

int t_event_callback_set_info(MPI_T_event_registration registration, MPI_T_cb_safety safety,
                              MPI_Info) {
    return with_callback(registration, safety,
                         [](Tools&, EventHandle&, std::size_t) -> int { return MPI_SUCCESS; });
}

int t_event_set_dropped_handler(MPI_T_event_registration registration,
                                MPI_T_event_dropped_cb_function function) {
    return with_event(registration, [&](Tools&, EventHandle& handle) -> int {
        handle.dropped_handler = function;
        handle.dropped = 0;
        return MPI_SUCCESS;
    });
}

int t_event_read(MPI_T_event_instance event, int element, void* buffer) {
    return with_instance(event, [&](const EventInstance& instance) -> int {
        if (element < 0 || static_cast<std::size_t>(element) >= instance.elements.size())
            return MPI_T_ERR_INVALID_INDEX;
        if (buffer == nullptr) return MPI_T_ERR_INVALID;
        const auto place = static_cast<std::size_t>(element);
        store_element(instance.type->datatypes[place], instance.elements[place], buffer);
        return MPI_SUCCESS;
    });
}

int t_event_copy(MPI_T_event_instance event, void* buffer) {
    return with_instance(event, [&](const EventInstance& instance) -> int {
        if (buffer == nullptr) return MPI_T_ERR_INVALID;
        const EventType& type = *instance.type;
        for (std::size_t i = 0; i < instance.elements.size(); ++i)
            store_element(type.datatypes[i], instance.elements[i],
                          static_cast<char*>(buffer) + type.displacements[i]);
        return MPI_SUCCESS;
    });
}

int t_event_get_timestamp(MPI_T_event_instance event, MPI_Count* timestamp) {
    return with_instance(event, [&](const EventInstance& instance) -> int {
        return store(timestamp, instance.time);
    });
}

int t_event_get_source(MPI_T_event_instance event, int* source) {
    return with_instance(event,
                         [&](const EventInstance&) -> int { return store(source, kEventSource); });
}

int t_source_get_num(int* num) {
    return in_tools([&](Tools&) -> int { return store(num, 1); });
}

int t_source_get_info(int source, char* name, int* name_len, char* description,
                      int* description_len, MPI_T_source_order* ordering,
                      MPI_Count* ticks_per_second, MPI_Count* max_ticks, MPI_Info* info) {
    return in_tools([&](Tools&) -> int {
        if (source != kEventSource) return MPI_T_ERR_INVALID_INDEX;
        copy_text(kClock, name, name_len);
        copy_text(kAboutClock, description, description_len);
        store(ordering, MPI_T_SOURCE_ORDERED);
        store(ticks_per_second, 1'000'000'000);
        store(max_ticks, std::numeric_limits<MPI_Count>::max());
        return store_no_hints(info);
    });
}

int t_source_get_timestamp(int source, MPI_Count* timestamp) {
    return in_tools([&](Tools&) -> int {
        if (source != kEventSource) return MPI_T_ERR_INVALID_INDEX;
        return store(timestamp, source_time());
    });
}

}  // namespace poe::mpi
