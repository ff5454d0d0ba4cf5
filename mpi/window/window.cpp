// Windows; see window.hpp.
#include "mpi/window/window.hpp"

#include "mpi/process/environment.hpp"

namespace poe::mpi {

void Window::reset() noexcept {
    environment().release(errhandler);
    errhandler = MPI_ERRORS_ARE_FATAL;
    if (auto* hints = find<Info>(info)) environment().infos.release(*hints);
    info = MPI_INFO_NULL;
    pending.clear();
    target.reset();
    memory.reset();
    own_memory.reset();
    name.clear();
    values = {};
    members.clear();
    attached.clear();
    fenced = used = locked_all = access_started = exposed = false;
    locks = 0;
    started.clear();
    posted.clear();
    own_posts = next_number = 0;
    fault = {};
    if (comm != nullptr) comm_pool().release(*comm);
    comm = nullptr;
}

Pool<Window>& window_pool() noexcept {
    static Pool<Window>* const pool = [] {
        auto* const made = new Pool<Window>(Kind::kWin);
        environment().pools[static_cast<std::size_t>(Kind::kWin)] = made;
        return made;
    }();
    return *pool;
}

}  // namespace poe::mpi
