// Shared file pointers; see shared_pointer.hpp.
#include "mpi/file/shared_pointer.hpp"

#include <vector>

#include "mpi/datatype/queries.hpp"
#include "mpi/window/epochs.hpp"
#include "mpi/window/origin.hpp"
#include "mpi/window/shared_memory.hpp"
#include "mpi/window/window_making.hpp"

namespace poe::mpi {
namespace {

constexpr std::int64_t kPointerBytes = sizeof(std::int64_t);

}  // namespace

Fault SharedPointer::make(comm::Runtime& runtime, Comm& comm,
                          std::shared_ptr<SharedPointer>& made) {
    auto pointer = std::make_shared<SharedPointer>();
    if (!runtime.all_by_tcp() && on_one_node(runtime, comm)) {
        std::vector<std::int64_t> sizes(static_cast<std::size_t>(comm.size()), 0);
        sizes[0] = kPointerBytes;
        if (Fault fault = SharedMemory::make(runtime, comm, sizes, kPointerBytes, pointer->memory_))
            return fault;
        pointer->value_ = reinterpret_cast<std::atomic<std::int64_t>*>(pointer->memory_->part(0));
    } else {
        const std::int64_t size = comm.rank == 0 ? kPointerBytes : 0;
        const MadeWindow window =
            make_window(runtime, comm, {MPI_WIN_FLAVOR_ALLOCATE, nullptr, size, 1});
        if (window.fault) return window.fault;
        pointer->window_ = window.window;
        if (Fault fault = lock_all(runtime, *pointer->window_, MPI_MODE_NOCHECK)) return fault;
    }
    made = std::move(pointer);
    return {};
}

Fault SharedPointer::close(comm::Runtime& runtime) {
    if (window_ == nullptr) return {};
    Fault fault = unlock_all(runtime, *window_);
    Fault freed = free_window(runtime, *window_);
    window_ = nullptr;
    return fault ? fault : freed;
}

Fault SharedPointer::operate(comm::Runtime& runtime, AccessKind kind, MPI_Op op, std::int64_t given,
                             std::int64_t& before) {
    AccessArguments arguments;
    arguments.kind = kind;
    arguments.type = find_datatype(MPI_INT64_T);
    arguments.count = 1;
    arguments.operation = static_cast<std::uint16_t>(value_of(op));
    arguments.given = {&given, 1, arguments.type};
    arguments.result = {&before, 1, arguments.type};
    std::shared_ptr<Pending> pending;
    if (Fault fault = start_access(runtime, *window_, arguments, pending)) return fault;
    return flush(runtime, *window_, 0, false);
}

Fault SharedPointer::add(comm::Runtime& runtime, std::int64_t etypes, std::int64_t& before) {
    if (value_ != nullptr) {
        before = value_->fetch_add(etypes, std::memory_order_acq_rel);
        return {};
    }
    return operate(runtime, AccessKind::kGetAccumulate, MPI_SUM, etypes, before);
}

Fault SharedPointer::store(comm::Runtime& runtime, std::int64_t etypes) {
    if (value_ != nullptr) {
        value_->store(etypes, std::memory_order_release);
        return {};
    }
    std::int64_t before = 0;
    return operate(runtime, AccessKind::kGetAccumulate, MPI_REPLACE, etypes, before);
}

}  // namespace poe::mpi
