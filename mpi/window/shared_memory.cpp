// Memory that the members of a window share; see shared_memory.hpp.
#include "mpi/window/shared_memory.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sched.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

#include "base/unique_fd.hpp"
#include "mpi/collective/failures.hpp"
#include "mpi/communicator/exchange.hpp"
#include "mpi/process/environment.hpp"
#include "mpi/window/window.hpp"
#include "tracer/probe/process_context.hpp"

namespace poe::mpi {
namespace {

constexpr std::int64_t kPageBytes = 4096;
// Attempts to take the lock until the processor is given away, and until the holder is looked at.
constexpr unsigned kAttemptsPerYield = 100;
constexpr unsigned kAttemptsPerLook = 10000;

std::int64_t round_up(std::int64_t value, std::int64_t to) noexcept {
    return (value + to - 1) / to * to;
}

Fault memory_fault(const char* what) {
    return {errno == ENOMEM || errno == ENOSPC ? MPI_ERR_NO_MEM : MPI_ERR_RMA_SHARED, "",
            std::string(what) + ": " + std::strerror(errno),
            "use less memory, or start fewer tasks on this node"};
}

UniqueFd create_file(std::int64_t length) {
    UniqueFd made(::memfd_create("poe-mpi-window", MFD_CLOEXEC));
    if (!made || ::ftruncate(made.get(), length) == 0) return made;
    const int error = errno;
    made.reset();
    errno = error;
    return made;
}

// Exchanges the results of all members: the first fault, at every member.
Fault agree_on_fault(comm::Runtime& runtime, Comm& comm, const Fault& own) {
    Contributions codes;
    if (Fault fault = gather_words(runtime, comm, {own.code}, codes)) return fault;
    if (own) return own;
    const auto failed =
        std::find_if(codes.local.begin(), codes.local.end(), [](int code) { return code != 0; });
    if (failed == codes.local.end()) return {};
    return {*failed, "",
            "the member of rank " + std::to_string(failed - codes.local.begin()) +
                " could not map the shared memory",
            "see the message of that member"};
}

// If a member has ended, the fault is that one: a member that has noticed it has left the call and
// closed the file.
void note_ended_member(comm::Runtime& runtime, const Comm& comm, Fault& fault) {
    for (int rank = 0; rank < comm.size(); ++rank) {
        const TaskId task = comm.local->task(rank);
        if (!runtime.messages().has_ended(task)) continue;
        fault = {};
        return note_failure(comm::Outcome::kPeerBroken, task, fault);
    }
}

// Whether each member is on this node, by rank. Tasks of other jobs are not in the segment.
std::vector<bool> members_here(comm::Runtime& runtime, const Comm& comm) {
    std::vector<bool> here(static_cast<std::size_t>(comm.size()));
    here[static_cast<std::size_t>(comm.rank)] = true;
    if (runtime.segment() == nullptr) return here;
    const NodeSegment& segment = *runtime.segment();
    for (std::uint32_t i = 0; i < segment.local_tasks(); ++i) {
        const int rank = comm.local->rank_of(segment.task_at(i));
        if (rank != MPI_UNDEFINED) here[static_cast<std::size_t>(rank)] = true;
    }
    return here;
}

}  // namespace

bool on_one_node(comm::Runtime& runtime, const Comm& comm) {
    const std::vector<bool> here = members_here(runtime, comm);
    return std::find(here.begin(), here.end(), false) == here.end();
}

Fault SharedMemory::make(comm::Runtime& runtime, Comm& comm, std::span<const std::int64_t> sizes,
                         std::int64_t alignment, std::shared_ptr<SharedMemory>& made) {
    auto memory = std::unique_ptr<SharedMemory>(new SharedMemory);
    std::int64_t at =
        round_up(static_cast<std::int64_t>(sizes.size() * sizeof(MemberControl)), kPageBytes);
    const std::vector<bool> here = members_here(runtime, comm);
    memory->offsets_.resize(sizes.size());
    for (std::size_t rank = 0; rank < sizes.size(); ++rank) {
        memory->has_all_ = memory->has_all_ && here[rank];
        if (!here[rank]) continue;
        at = round_up(at, alignment);
        memory->offsets_[rank] = at;
        at += sizes[rank];
    }
    memory->length_ = static_cast<Bytes>(round_up(at, kPageBytes));

    const auto first = std::find(here.begin(), here.end(), true) - here.begin();
    const bool creates = comm.rank == first;
    const UniqueFd own =
        creates ? create_file(static_cast<std::int64_t>(memory->length_)) : UniqueFd();
    const bool failed = creates && own.get() < 0;
    Fault fault = failed ? memory_fault("the window's memory cannot be created") : Fault{};
    Contributions places;
    const Words words{static_cast<std::int32_t>(::getpid()), own.get(), fault.code};
    if (Fault lost = gather_words(runtime, comm, words, places)) return lost;
    const auto place = std::span(places.local)
                           .subspan(static_cast<std::size_t>(first) * words.size(), words.size());
    const std::string path =
        "/proc/" + std::to_string(place[0]) + "/fd/" + std::to_string(place[1]);
    const bool exists = place[2] == MPI_SUCCESS;
    const UniqueFd other(creates || !exists ? -1 : ::open(path.c_str(), O_RDWR | O_CLOEXEC));
    const int file = creates ? own.get() : other.get();
    if (exists && file < 0) {
        fault = memory_fault(("the window's memory in the task of rank " + std::to_string(first) +
                              " cannot be opened")
                                 .c_str());
        note_ended_member(runtime, comm, fault);
    } else if (exists) {
        void* mapped =
            ::mmap(nullptr, memory->length_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (mapped == MAP_FAILED) {
            fault = memory_fault("the window's memory cannot be mapped");
        } else {
            memory->start_ = static_cast<std::byte*>(mapped);
        }
    }
    if (Fault any = agree_on_fault(runtime, comm, fault)) return any;
    made = std::move(memory);
    return {};
}

SharedMemory::~SharedMemory() {
    if (start_ != nullptr) ::munmap(start_, length_);
}

SingleCopyInProgress::SingleCopyInProgress(const comm::Runtime& runtime, const Window& window,
                                           int rank) noexcept
    : copying_(window.memory->control(window.rank()).copying) {
    copying_.store(static_cast<std::uint32_t>(rank) + 1, std::memory_order_relaxed);
    runtime.fences().light();
    allowed_ = !has_left(window, rank);
}

bool has_left(const Window& window, int rank) noexcept {
    return window.memory->control(rank).left.load(std::memory_order_acquire) != 0;
}

void leave_early(comm::Runtime& runtime, Window& window) {
    if (window.memory == nullptr) return;
    const SharedMemory& memory = *window.memory;
    memory.control(window.rank()).left.store(1, std::memory_order_release);
    runtime.fences().heavy();
    const auto own = static_cast<std::uint32_t>(window.rank()) + 1;
    for (int rank = 0; rank < window.size(); ++rank) {
        if (!memory.has(rank) || rank == window.rank()) continue;
        while (memory.control(rank).copying.load(std::memory_order_acquire) == own &&
               !runtime.messages().has_ended(window.task(rank)))
            ::sched_yield();
    }
}

AccumulateLock::AccumulateLock(const Window& window, int rank, bool needed) {
    if (!needed || window.memory == nullptr || window.size() == 1) return;
    std::atomic<std::uint32_t>& word = window.memory->control(rank).accumulate;
    const auto own = static_cast<std::uint32_t>(environment().task) + 1;
    std::uint32_t holder = 0;
    for (unsigned attempts = 1; !word.compare_exchange_weak(holder, own, std::memory_order_acquire);
         ++attempts) {
        if (attempts % kAttemptsPerYield == 0) ::sched_yield();
        if (attempts % kAttemptsPerLook == 0 && holder != 0 &&
            process_context().runtime->messages().has_ended(static_cast<TaskId>(holder - 1)))
            continue;  // takes the lock over from `holder`
        holder = 0;
    }
    word_ = &word;
}

}  // namespace poe::mpi
