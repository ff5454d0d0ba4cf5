// Versions, names, clocks, memory, addresses, control of recording and grids (MPI 5.0, sections
// 5.1.5, 8.5.2, 9.1, 9.2, 9.6 and 15.2.4).
#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <ctime>
#include <mpi.h>
#include <mutex>
#include <span>
#include <string>

#include "base/hardware_resources.hpp"
#include "mpi/api/bodies.hpp"
#include "mpi/api/checks.hpp"
#include "mpi/object/dims.hpp"
#include "mpi/process/start_facts.hpp"
#include "tracer/probe/process_context.hpp"

namespace poe::mpi {
namespace {

// At least the size of a cache line, so that vectors of any processor can be loaded from the
// memory.
constexpr std::size_t kMemoryAlignment = 64;

double seconds(const timespec& time) {
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void store_text(const std::string& text, char* to, std::size_t limit, int* length) {
    copy_info_value(text, {to, limit});
    *length = static_cast<int>(std::min(text.size(), limit - 1));
}

// The alignment that the program asks for by the key mpi_minimum_memory_alignment (section 9.2).
std::size_t wanted_alignment(MPI_Info info) {
    Environment& mpi = environment();
    const Info* found = mpi.find_readable_info(info);
    if (found == nullptr) return kMemoryAlignment;
    const std::lock_guard guard(mpi.lock);
    const std::string* text = found->find("mpi_minimum_memory_alignment");
    std::size_t alignment = 0;
    if (text != nullptr) std::from_chars(text->data(), text->data() + text->size(), alignment);
    return std::has_single_bit(alignment) ? std::max(alignment, kMemoryAlignment)
                                          : kMemoryAlignment;
}

}  // namespace

int get_version(Call&, int* version, int* subversion) {
    *version = MPI_VERSION;
    *subversion = MPI_SUBVERSION;
    return MPI_SUCCESS;
}

int get_library_version(Call&, char* version, int* resultlen) {
    store_text("POE " POE_VERSION ", MPI " + std::to_string(MPI_VERSION) + "." +
                   std::to_string(MPI_SUBVERSION) + ", ABI " + std::to_string(MPI_ABI_VERSION) +
                   "." + std::to_string(MPI_ABI_SUBVERSION),
               version, MPI_MAX_LIBRARY_VERSION_STRING, resultlen);
    return MPI_SUCCESS;
}

int get_processor_name(Call&, char* name, int* resultlen) {
    store_text(host_name(), name, MPI_MAX_PROCESSOR_NAME, resultlen);
    return MPI_SUCCESS;
}

int get_hw_resource_info(Call&, MPI_Info* hw_info) {
    Info& made = environment().infos.make();
    for (const HardwareResource& each : resources_of_this_thread())
        if (each.described) made.set(each.type, each.instance ? "true" : "false");
    *hw_info = handle_of<MPI_Info>(made);
    return MPI_SUCCESS;
}

double wtime() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return seconds(now);
}

double wtick() {
    timespec step{};
    ::clock_getres(CLOCK_MONOTONIC, &step);
    return seconds(step);
}

int alloc_mem(Call& call, MPI_Aint size, MPI_Info info, void* baseptr) {
    if (size < 0) {
        return call.fail(MPI_ERR_ARG, "size", std::to_string(size) + " is negative");
    }
    if (info != MPI_INFO_NULL && !checks::check_info(call, info, "info")) return call.code();
    const std::size_t alignment = wanted_alignment(info);
    void* memory = nullptr;
    // A size of 0 also gets an address of its own.
    if (::posix_memalign(&memory, alignment,
                         static_cast<std::size_t>(std::max<MPI_Aint>(size, 1)))) {
        return call.fail(MPI_ERR_NO_MEM, "size",
                         "there are no " + std::to_string(size) + " bytes of memory");
    }
    *static_cast<void**>(baseptr) = memory;
    return MPI_SUCCESS;
}

int free_mem(Call&, void* base) {
    std::free(base);
    return MPI_SUCCESS;
}

int get_address(Call&, const void* location, MPI_Aint* address) {
    *address = reinterpret_cast<MPI_Aint>(location);
    return MPI_SUCCESS;
}

// Computed without a sign, so that addresses in the upper half of memory do not overflow.
MPI_Aint aint_add(MPI_Aint base, MPI_Aint disp) {
    return static_cast<MPI_Aint>(static_cast<std::uintptr_t>(base) +
                                 static_cast<std::uintptr_t>(disp));
}
MPI_Aint aint_diff(MPI_Aint addr1, MPI_Aint addr2) {
    return static_cast<MPI_Aint>(static_cast<std::uintptr_t>(addr1) -
                                 static_cast<std::uintptr_t>(addr2));
}

// Level 0 stops the recording of a traced task, every other level continues it (section 15.2.4).
// Further arguments have no meaning here. Without tracing the function does nothing.
int pcontrol(Call&, int level) {
    trace::Tracer& tracer = process_context().tracer;
    if (!tracer.on()) return MPI_SUCCESS;
    if (level == 0) {
        tracer.stop();
    } else {
        tracer.start(0);
    }
    return MPI_SUCCESS;
}

int dims_create(Call& call, int nnodes, int ndims, int* dims) {
    if (ndims < 0) {
        return call.fail(MPI_ERR_DIMS, "ndims", std::to_string(ndims) + " is negative");
    }
    if (ndims == 0) return MPI_SUCCESS;
    if (dims == nullptr) return call.fail(MPI_ERR_ARG, "dims", "it is a null pointer");
    return call.finish(create_dims(nnodes, {dims, static_cast<std::size_t>(ndims)}));
}

}  // namespace poe::mpi
