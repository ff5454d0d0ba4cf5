// What the bodies of the functions about windows share.
#pragma once

#include <mpi.h>

#include "mpi/api/call.hpp"
#include "mpi/api/shown.hpp"
#include "mpi/window/window.hpp"

namespace poe::mpi {

// What a call is about that concerns one member of a window, or, without a rank, all.
inline CallAbout about_window(const Window& window) noexcept {
    return about_all_of(*window.comm);
}
inline CallAbout about_member(const Window& window, int rank) noexcept {
    return {window.task(rank), TaskActivity::kNoType, 0, window.comm->context, 0};
}

// True if the rank is a member of the window's group; otherwise the error was reported.
bool check_window_rank(Call& call, const Window& window, int rank, const char* name);

}  // namespace poe::mpi
