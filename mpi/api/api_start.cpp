// The start and the end of MPI (MPI 5.0, sections 11.2 and 11.4).
#include <cstdio>
#include <mpi.h>
#include <thread>

#include "collectives/engine/process_collectives.hpp"
#include "comm/bootstrap/process_runtime.hpp"
#include "mpi/api/bodies.hpp"
#include "mpi/api/checked_call.hpp"
#include "mpi/api/shown.hpp"
#include "mpi/api/start_library.hpp"
#include "mpi/check/leaks.hpp"
#include "mpi/communicator/comm.hpp"
#include "mpi/communicator/spawning.hpp"
#include "mpi/process/environment.hpp"

namespace poe::mpi {
namespace {

// The level of thread support, and the thread that has called MPI_Init.
struct Threads {
    int level = MPI_THREAD_SINGLE;
    std::thread::id main;
};

Threads& threads() noexcept {
    static Threads* const the_threads = new Threads;
    return *the_threads;
}

int start(Call& call, int level) {
    Environment& mpi = environment();
    if (mpi.state.load() != State::kBeforeInit) {
        return call.fail(
            MPI_ERR_OTHER, "",
            mpi.state.load() == State::kActive ? "MPI is initialized already" : "MPI was finalized",
            "a process may initialize MPI once");
    }
    if (const Fault fault = start_library(level)) return call.fail(fault);
    publish_predefined_comms();
    const MadeComm parents = connect_to_parents(comm::the_runtime());
    if (parents.fault) return call.fail(parents.fault);
    if (parents.comm != nullptr) {
        set_name(*parents.comm, "MPI_COMM_PARENT");
        mpi.parent = handle_of(*parents.comm);
    }
    mpi.predefined.universe_size = static_cast<int>(comm::the_runtime().tasks());
    threads() = {level, std::this_thread::get_id()};
    mpi.users.fetch_add(1);
    mpi.state.store(State::kActive);
    return MPI_SUCCESS;
}

}  // namespace

int init(Call& call, int*, char***) {
    return start(call, MPI_THREAD_SINGLE);
}

int init_thread(Call& call, int*, char***, int required, int* provided) {
    if (required < MPI_THREAD_SINGLE || required > MPI_THREAD_MULTIPLE)
        return call.fail(MPI_ERR_ARG, "required", std::to_string(required) + " is no thread level",
                         "give MPI_THREAD_SINGLE to MPI_THREAD_MULTIPLE");
    *provided = required < MPI_THREAD_FUNNELED     ? MPI_THREAD_SINGLE
                : required < MPI_THREAD_SERIALIZED ? MPI_THREAD_FUNNELED
                : required < MPI_THREAD_MULTIPLE   ? MPI_THREAD_SERIALIZED
                                                   : MPI_THREAD_MULTIPLE;
    return start(call, *provided);
}

int initialized(int* flag) {
    *flag = environment().state.load() != State::kBeforeInit ? 1 : 0;
    return MPI_SUCCESS;
}

int finalized(int* flag) {
    *flag = environment().state.load() == State::kFinalized ? 1 : 0;
    return MPI_SUCCESS;
}

int query_thread(Call&, int* provided) {
    *provided = threads().level;
    return MPI_SUCCESS;
}

int is_thread_main(Call&, int* flag) {
    *flag = threads().main == std::this_thread::get_id() ? 1 : 0;
    return MPI_SUCCESS;
}

// The attributes of MPI_COMM_SELF are deleted first, in the reverse order of their setting, because
// libraries use them to learn of the end (section 11.2.4).
int finalize(Call& call) {
    Environment& mpi = environment();
    const Fault fault = call.outside([&] { return self().attributes.remove_all(MPI_COMM_SELF); });
    if (fault) return call.fail(fault);
    const Fault other = call.outside([&] { return world().attributes.remove_all(MPI_COMM_WORLD); });
    if (other) return call.fail(other);
    if (mpi.checking) {
        if (const int code = agree(call, world())) return code;
        const std::string leaks = check::report_leaks(call.runtime(), world());
        std::fwrite(leaks.data(), 1, leaks.size(), stderr);
        std::fflush(stderr);
    }
    // Every task may still be needed by the others until all are here.
    if (world().size() > 1) {
        const VisibleCollective visible(call, world());
        collectives::CollectiveCall sync;
        sync.name = "MPI_Finalize";
        sync.call = ::poe::Call::kSync;
        sync.shape.n = world().group->size();
        try {
            collectives::the_collectives(call.runtime()).run_blocking(*world().group, sync);
        } catch (const collectives::MemberLost&) {
            // A task that has ended needs nothing, and the others learn of its end, too.
        }
    }
    mpi.state.store(State::kFinalized);
    mpi.users.fetch_sub(1);
    return MPI_SUCCESS;
}

int abort(Call& call, MPI_Comm, int errorcode) {
    comm::Runtime& runtime = call.runtime();
    if (!runtime.stops_are_reported()) {
        std::fprintf(
            stderr, "ERROR: 0032-%d MPI_Abort in task %d: the program ends the job with code %d.\n",
            200 + MPI_ERR_OTHER, runtime.task(), errorcode);
    }
    std::fflush(nullptr);
    runtime.stop_all(errorcode, StopKind::kMpiAbort);
}

}  // namespace poe::mpi
