// Windows: how they are made and freed, their names, hints and groups (MPI 5.0, section 12.2).
#include <cstring>
#include <mpi.h>
#include <mutex>
#include <string>

#include "mpi/api/bodies.hpp"
#include "mpi/api/checked_call.hpp"
#include "mpi/api/window_call.hpp"
#include "mpi/window/window_making.hpp"

namespace poe::mpi {

bool check_window_rank(Call& call, const Window& window, int rank, const char* name) {
    if (rank >= 0 && rank < window.size()) return true;
    call.fail(MPI_ERR_RANK, name,
              std::to_string(rank) + " is no rank of the window's group with " +
                  std::to_string(window.size()) + " members",
              "give a rank from 0 on");
    return false;
}

namespace {

int make(Call& call, WindowPart part, MPI_Info info, MPI_Comm comm, MPI_Win* win,
         void* baseptr = nullptr) {
    *win = MPI_WIN_NULL;
    Comm& members = *find_comm(comm);
    if (members.is_inter())
        return call.fail(MPI_ERR_COMM, "comm", "it is an intercommunicator",
                         "merge the groups with MPI_Intercomm_merge first");
    if (info != MPI_INFO_NULL) {
        part.info = environment().find_readable_info(info);
        if (part.info == nullptr) return call.fail(MPI_ERR_INFO, "info", "it is no info");
    }
    const VisibleCollective visible(call, members);
    if (const int code = agree(call, members)) return code;
    const MadeWindow made = make_window(call.runtime(), members, part);
    if (made.fault) return call.fail(made.fault);
    Window& window = *made.window;
    *win = handle_of(window);
    // `baseptr` is the address of a pointer of any type.
    if (baseptr != nullptr)
        std::memcpy(baseptr, &window.member(window.rank()).mapped, sizeof(void*));
    return MPI_SUCCESS;
}

}  // namespace

int win_create(Call& call, void* base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info,
               MPI_Comm comm, MPI_Win* win) {
    return make(call, {MPI_WIN_FLAVOR_CREATE, base, size, disp_unit}, info, comm, win);
}

int win_allocate(Call& call, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
                 void* baseptr, MPI_Win* win) {
    return make(call, {MPI_WIN_FLAVOR_ALLOCATE, nullptr, size, disp_unit}, info, comm, win,
                baseptr);
}

int win_allocate_shared(Call& call, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
                        void* baseptr, MPI_Win* win) {
    return make(call, {MPI_WIN_FLAVOR_SHARED, nullptr, size, disp_unit}, info, comm, win, baseptr);
}

int win_create_dynamic(Call& call, MPI_Info info, MPI_Comm comm, MPI_Win* win) {
    return make(call, {MPI_WIN_FLAVOR_DYNAMIC, nullptr, 0, 1}, info, comm, win);
}

int win_free(Call& call, MPI_Win* win) {
    Window* const window = find_window(*win);
    if (window == nullptr)
        return call.fail(
            MPI_ERR_WIN, "win",
            *win == MPI_WIN_NULL ? "it is MPI_WIN_NULL" : "it is no window, or was freed already");
    call.about(ErrorObject(*win));
    if (Fault fault = check_freeable(*window)) return call.fail(fault);
    if (Fault fault = call.outside([&] { return window->attributes.remove_all(*win); }))
        return call.fail(fault);
    const VisibleCollective visible(call, *window->comm);
    if (Fault fault = free_window(call.runtime(), *window)) return call.fail(fault);
    *win = MPI_WIN_NULL;
    return MPI_SUCCESS;
}

int win_attach(Call& call, MPI_Win win, void* base, MPI_Aint size) {
    return call.finish(attach(*find_window(win), base, size));
}

int win_detach(Call& call, MPI_Win win, const void* base) {
    return call.finish(detach(*find_window(win), base));
}

int win_shared_query(Call& call, MPI_Win win, int rank, MPI_Aint* size, CountOut disp_unit,
                     void* baseptr) {
    const Window& window = *find_window(win);
    if (rank != MPI_PROC_NULL && !check_window_rank(call, window, rank, "rank")) return call.code();
    if (window.values.flavor == MPI_WIN_FLAVOR_DYNAMIC)
        return call.fail(MPI_ERR_RMA_FLAVOR, "win", "a dynamic window has no shared memory",
                         "make the window with MPI_Win_allocate_shared");
    SharedPart part = shared_part(window, rank);
    // If this task has not mapped the memory of that member, the size is 0 (MPI 5.0, section
    // 12.2.3).
    if (part.base == nullptr) part.size = 0;
    // Programs look at the address, too, to find out that a member has no memory.
    if (part.size == 0) part.base = nullptr;
    *size = part.size;
    disp_unit.set(part.unit);
    std::memcpy(baseptr, &part.base, sizeof(void*));
    return MPI_SUCCESS;
}

int win_get_group(Call&, MPI_Win win, MPI_Group* group) {
    *group = environment().make_group(find_window(win)->comm->local);
    return MPI_SUCCESS;
}

int win_set_name(Call&, MPI_Win win, const char* win_name) {
    Window& window = *find_window(win);
    window.name.assign(win_name, ::strnlen(win_name, MPI_MAX_OBJECT_NAME - 1));
    // For watchers, which see the context of the communicator.
    set_name(*window.comm, "window " + (window.name.empty() ? "without a name" : window.name));
    return MPI_SUCCESS;
}

int win_get_name(Call&, MPI_Win win, char* win_name, int* resultlen) {
    const std::string& name = find_window(win)->name;
    copy_info_value(name, {win_name, MPI_MAX_OBJECT_NAME});
    *resultlen = static_cast<int>(name.size());
    return MPI_SUCCESS;
}

int win_set_info(Call& call, MPI_Win win, MPI_Info info) {
    const Info* given = environment().find_readable_info(info);
    if (given == nullptr && info != MPI_INFO_NULL)
        return call.fail(MPI_ERR_INFO, "info", "it is no info");
    const std::lock_guard guard(environment().lock);
    add_window_hints(*find_window(win), given);
    return MPI_SUCCESS;
}

int win_get_info(Call&, MPI_Win win, MPI_Info* info_used) {
    const std::lock_guard guard(environment().lock);
    Info& copy = environment().infos.make();
    if (const auto* hints = find<Info>(find_window(win)->info)) copy.copy_from(*hints);
    *info_used = handle_of<MPI_Info>(static_cast<Object&>(copy));
    return MPI_SUCCESS;
}

}  // namespace poe::mpi
