// Buffers of buffered sends (MPI 5.0, section 3.6).
//
// A program reserves MPI_BSEND_OVERHEAD bytes for each message. Other libraries need less than
// ours, which needs up to 512. Therefore our library gets MPI_BUFFER_AUTOMATIC and allocates what
// it needs, and the buffer of the program is only remembered. A program that attaches too small a
// buffer gets no error.
#include <map>
#include <mutex>

#include "mpi/foreign_abi/arguments.hpp"
#include "mpi/foreign_abi/by_hand.hpp"

namespace poe::mpi::foreign {
namespace {

struct Buffer {
    void* start = nullptr;
    MPI_Count size = 0;
};

struct Buffers {
    std::mutex lock;
    Buffer of_process;
    std::map<MPI_Comm, Buffer> of_comms;
};
Buffers& buffers() {
    static auto* all = new Buffers;
    return *all;
}

Buffer& buffer_of(MPI_Comm comm) {
    return comm == nullptr ? buffers().of_process : buffers().of_comms[comm];
}

// `comm` is null for the buffer of the process. `attach` is our function.
template <typename Attach>
int attach_buffer(MPI_Comm comm, void* start, MPI_Count size, Attach&& attach) {
    // Our function refuses the arguments that it would refuse without a buffer of its own.
    const bool wrong = size < 0 || (start == nullptr && size > 0);
    const int code = wrong ? attach(start, size) : attach(MPI_BUFFER_AUTOMATIC, MPI_Count{0});
    if (code != MPI_SUCCESS) return finish(code);
    const std::lock_guard guard(buffers().lock);
    buffer_of(comm) = {start, size};
    return MPI_SUCCESS;
}

template <typename Count, typename Detach>
int detach_buffer(MPI_Comm comm, void* start, Count* size, Detach&& detach) {
    void* ours = nullptr;
    MPI_Count our_size = 0;
    const int code = detach(start == nullptr ? nullptr : static_cast<void*>(&ours),
                            size == nullptr ? nullptr : &our_size);
    if (code != MPI_SUCCESS) return finish(code);
    const std::lock_guard guard(buffers().lock);
    const Buffer buffer = buffer_of(comm);
    if (comm == nullptr)
        buffers().of_process = {};
    else
        buffers().of_comms.erase(comm);
    *static_cast<void**>(start) = buffer.start;
    *size = static_cast<Count>(buffer.size);
    return MPI_SUCCESS;
}

}  // namespace

int buffer_attach_c(void* buffer, MPI_Count size) {
    return attach_buffer(nullptr, buffer, size, library.Buffer_attach_c);
}
int buffer_attach(void* buffer, int size) {
    return buffer_attach_c(buffer, size);
}
int buffer_detach_c(void* buffer_addr, MPI_Count* size) {
    return detach_buffer(nullptr, buffer_addr, size, library.Buffer_detach_c);
}
int buffer_detach(void* buffer_addr, int* size) {
    return detach_buffer(nullptr, buffer_addr, size, library.Buffer_detach_c);
}

int comm_attach_buffer_c(Theirs<MPI_Comm> comm, void* buffer, MPI_Count size) {
    const auto ours = handle_in<MPI_Comm>(comm);
    return attach_buffer(ours, buffer, size, [&](void* start, MPI_Count bytes) {
        return library.Comm_attach_buffer_c(ours, start, bytes);
    });
}
int comm_attach_buffer(Theirs<MPI_Comm> comm, void* buffer, int size) {
    return comm_attach_buffer_c(comm, buffer, size);
}
int comm_detach_buffer_c(Theirs<MPI_Comm> comm, void* buffer_addr, MPI_Count* size) {
    const auto ours = handle_in<MPI_Comm>(comm);
    return detach_buffer(ours, buffer_addr, size, [&](void* start, MPI_Count* bytes) {
        return library.Comm_detach_buffer_c(ours, start, bytes);
    });
}
int comm_detach_buffer(Theirs<MPI_Comm> comm, void* buffer_addr, int* size) {
    const auto ours = handle_in<MPI_Comm>(comm);
    return detach_buffer(ours, buffer_addr, size, [&](void* start, MPI_Count* bytes) {
        return library.Comm_detach_buffer_c(ours, start, bytes);
    });
}

}  // namespace poe::mpi::foreign
