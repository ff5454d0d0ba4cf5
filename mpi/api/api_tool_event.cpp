// The tools interface: events and their sources (MPI 5.0, section 15.3.8). There are no kinds of
// events, so no handle of one can exist. The one source is the clock of the computer.
#include <chrono>
#include <limits>
#include <mpi.h>

#include "mpi/api/bodies.hpp"
#include "mpi/api/tool_call.hpp"

namespace poe::mpi {
namespace {

using namespace tool;

int no_such_event() {
    return in_tools([](Tools&) -> int { return MPI_T_ERR_INVALID_INDEX; });
}
int no_such_handle() {
    return in_tools([](Tools&) -> int { return MPI_T_ERR_INVALID_HANDLE; });
}

constexpr std::string_view kClock = "clock";
constexpr std::string_view kAboutClock = "nanoseconds of the computer's steady clock";

}  // namespace

int t_event_get_num(int* num) {
    return in_tools([&](Tools&) -> int { return store(num, 0); });
}

int t_event_get_index(const char*, int*) {
    return in_tools([](Tools&) -> int { return MPI_T_ERR_INVALID_NAME; });
}

int t_event_get_info(int, char*, int*, int*, MPI_Datatype[], MPI_Aint[], int*, MPI_T_enum*,
                     MPI_Info*, char*, int*, int*) {
    return no_such_event();
}

int t_event_handle_alloc(int, void*, MPI_Info, MPI_T_event_registration*) {
    return no_such_event();
}

int t_event_callback_get_info(MPI_T_event_registration, MPI_T_cb_safety, MPI_Info*) {
    return no_such_handle();
}

int t_event_callback_set_info(MPI_T_event_registration, MPI_T_cb_safety, MPI_Info) {
    return no_such_handle();
}

int t_event_copy(MPI_T_event_instance, void*) {
    return no_such_handle();
}

int t_event_get_source(MPI_T_event_instance, int*) {
    return no_such_handle();
}

int t_event_get_timestamp(MPI_T_event_instance, MPI_Count*) {
    return no_such_handle();
}

int t_event_handle_free(MPI_T_event_registration, void*, MPI_T_event_free_cb_function) {
    return no_such_handle();
}

int t_event_handle_get_info(MPI_T_event_registration, MPI_Info*) {
    return no_such_handle();
}

int t_event_handle_set_info(MPI_T_event_registration, MPI_Info) {
    return no_such_handle();
}

int t_event_read(MPI_T_event_instance, int, void*) {
    return no_such_handle();
}

int t_event_register_callback(MPI_T_event_registration, MPI_T_cb_safety, MPI_Info, void*,
                              MPI_T_event_cb_function) {
    return no_such_handle();
}

int t_event_set_dropped_handler(MPI_T_event_registration, MPI_T_event_dropped_cb_function) {
    return no_such_handle();
}

int t_source_get_num(int* num) {
    return in_tools([&](Tools&) -> int { return store(num, 1); });
}

int t_source_get_info(int source, char* name, int* name_len, char* description,
                      int* description_len, MPI_T_source_order* ordering,
                      MPI_Count* ticks_per_second, MPI_Count* max_ticks, MPI_Info* info) {
    return in_tools([&](Tools&) -> int {
        if (source != 0) return MPI_T_ERR_INVALID_INDEX;
        copy_text(kClock, name, name_len);
        copy_text(kAboutClock, description, description_len);
        store(ordering, MPI_T_SOURCE_ORDERED);
        store(ticks_per_second, 1'000'000'000);
        store(max_ticks, std::numeric_limits<MPI_Count>::max());
        return store(info, MPI_INFO_NULL);
    });
}

int t_source_get_timestamp(int source, MPI_Count* timestamp) {
    return in_tools([&](Tools&) -> int {
        if (source != 0) return MPI_T_ERR_INVALID_INDEX;
        const std::chrono::nanoseconds now = std::chrono::steady_clock::now().time_since_epoch();
        return store(timestamp, now.count());
    });
}

}  // namespace poe::mpi
